"""The hooks for Numba and Triton, compilers of Python functions that have no arrays of their own.
The auditor leaves alone what they compile: Numba reads bytecode, Triton reads source."""

from castwise.auditing.hook import Compiling, Hook

HOOK = Hook(framework="numba", compiling=Compiling(compilers="numba.*"))
TRITON = Hook(framework="triton", compiling=Compiling(compilers="triton.jit"))
