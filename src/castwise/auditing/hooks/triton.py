"""Triton, whose kernels the auditor leaves alone: it compiles their source."""

from castwise.auditing.hook import Hook

HOOK = Hook(framework="triton", compilers="triton.jit")
