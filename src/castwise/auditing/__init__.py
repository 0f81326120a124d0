"""Runs a program, watches its array operations, and reports which of them cast implicitly.

Each part builds on those before it and imports none after it:

    records    what an audit sees and reports; converted to JSON only at the edge, in as_json
    hook       what the auditor knows about a framework beyond its dialect
    rewriting  the user's source, with calls to observers inserted
    observing  the observers, and what they record
    hooks      one file per framework, found by its name
    checking   the values of arrays, if asked for: which of them were lost
    running    a program under audit in its own process, and the event log on disk
    fixing     what to write instead
    finding    questions to the rules, and the casts they find
    proving    which fixes remove which findings, recomputed over the whole log
    judging    findings grouped by origin, with their fixes
    accepting  which findings count: comments and baselines accept the others
    trying     the program, run again with its fixes
    porting    what a program would compute in another dialect
    enforcing  a program held to a dialect, as a block or a decorator
    joining    how a process joins an audit before its program runs
"""
