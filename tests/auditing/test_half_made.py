"""An object whose own __init__ is observed may have no array yet."""

from __future__ import annotations

from castwise.auditing.hooks.xarray import HOOK


def test_an_object_without_its_array_yet_has_no_dtype() -> None:
    assert HOOK.arrays.read(object()) == (None, (), False, None)
