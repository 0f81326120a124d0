"""The hook for Triton, which compiles source: the auditor leaves its kernels alone."""

from castwise.auditing.hook import Compiling, Hook

HOOK = Hook(framework="triton", compiling=Compiling(compilers="triton.jit"))
