"""The hook for Triton, which compiles source: the auditor leaves its kernels alone."""

from castwise.auditing.hook import Hook

HOOK = Hook(framework="triton", compilers="triton.jit")
