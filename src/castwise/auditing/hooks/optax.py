"""The hook for Optax, whose states are trees of JAX arrays."""

from __future__ import annotations

from castwise.auditing.hook import Hook, Inside

HOOK = Hook(framework="optax", inside=Inside(states="init_fn init"))
