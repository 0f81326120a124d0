"""Runs a program, watches its array operations, and reports which of them cast implicitly.

Each part builds on those before it and imports none after it. In the program:

    records         what an audit sees and reports
    hook, hooks     what the auditor knows about a framework beyond its dialect, one file for each
    rewriting       the user's source, with calls to observers inserted
    source          the text of the user's source, and edits of it
    compile         source with observers, compiled and kept on disk
    arrays, calls   which objects are arrays, what is called, and what is noted of both
    log             what was seen, summed by site and signature
    saved           the log as records, as JSON and on disk
    compiled_calls  calls of functions that a framework compiles
    observers       what rewritten source calls
    process         what acts in the program without showing in it
    scopes          who watches: the audit of the process, or a block
    patches         what castwise changes in libraries meanwhile; the original code, for compilers
    values, crash   which values were lost, and which operation raised, if asked for
    loading         gives the user's modules their observers as they are imported
    launch, join    a program under audit in its own process

And of what was seen:

    operations      questions to the rules
    detect          the casts they find
    fixes, plans    what to write instead, and which findings each change removes
    sections        the other parts of a report
    origins         findings grouped by origin, with their fixes
    suppressions    which findings count: comments and baselines accept the others
    rerun           the program, run again with its fixes
    port            what a program would compute in another dialect
    blocks          what a program itself uses: a block that audits, one that enforces
"""
