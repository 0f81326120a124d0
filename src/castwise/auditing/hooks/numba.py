"""The hook for Numba, which compiles bytecode: the auditor leaves its functions alone."""

from castwise.auditing.hook import Compiling, Hook, Watching


def _read_originals() -> None:
    from castwise.auditing.hooks.numba_code import read_originals

    read_originals()


def _dispatch_originals() -> None:
    from castwise.auditing.hooks.numba_code import dispatch_originals

    dispatch_originals()


HOOK = Hook(
    framework="numba",
    compiling=Compiling(compilers="numba.*"),
    watching=Watching(
        when_imported={"numba.core.bytecode": _read_originals,
                       "numba.core.dispatcher": _dispatch_originals},
    ),
)  # fmt: skip
