"""Numba, whose functions the auditor leaves alone: it compiles their bytecode."""

from castwise.auditing.hook import Hook

HOOK = Hook(framework="numba", compilers="numba.*")
