"""How cells write forms and answers."""

from __future__ import annotations

# Answers that are not a dtype. The last may name the dtype promotion chose: "no-kernel:uint16".
REFUSED = "!"
OUT_OF_RANGE = "!range"
NO_KERNEL = "no-kernel"


def given_by_name(form: str) -> dict[str, str]:
    """What a form gives by name.

    >>> given_by_name("casting=unsafe,dtype=float32"), given_by_name("operator")
    ({'casting': 'unsafe', 'dtype': 'float32'}, {})
    """
    pairs = [part.partition("=") for part in form.split(",")]
    return {name: value for name, equals, value in pairs if equals}
