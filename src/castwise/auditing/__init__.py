"""Runs a program, sees its operations on arrays, and tells which of them cast without being asked.

Each part stands on those before it and imports none after it:

    records    what an audit sees and says; JSON is made of it only at the edge, in as_json
    hook       what is known of a framework beyond its dialect, found by module name
    rewriting  the user's source, with calls of observers in it
    observing  the observers, and what they keep of what they see
    hooks      one file per framework, which hook finds by its name
    running    a program under audit in its own process, and the event log on disk
    fixing     what to write instead
    judging    what was seen, judged by the rules: findings by origin, with their fixes
    porting    what a program would give in another dialect
    enforcing  a program held to a dialect, as a block or a decorator
    joining    how a process becomes part of an audit before its program runs
"""
