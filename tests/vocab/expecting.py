"""What the tests of live objects expect."""

from __future__ import annotations

from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import Operand


def expect(operand: Operand, text: str) -> None:
    """The operand equals that of a piece of notation, except its value if the text shows none."""
    wanted = parse_operand(text)
    facts = [(o.dtype, o.role, o.shape, o.is_weak) for o in (operand, wanted)]
    assert facts[0] == facts[1]
    if wanted.value is not None:
        assert (type(operand.value), operand.value) == (type(wanted.value), wanted.value)
