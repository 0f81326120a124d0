"""The hook for Optax, whose states are trees of JAX arrays."""

from __future__ import annotations

from castwise.auditing.hook import Hook

HOOK = Hook(framework="optax", states="init_fn init")
