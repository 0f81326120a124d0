"""What an emitter writes where libraries or processors differ."""

from __future__ import annotations

import pytest

from castwise.kernels.emitter import Traits, emitters_with
from castwise.kernels.program import NotLoweredError, Writer
from castwise.vocab.dtypes import dtype

FLOAT16, FLOAT32, FLOAT8 = dtype("float16"), dtype("float32"), dtype("float8_e4m3fn")


HALF = frozenset({FLOAT16})


@pytest.mark.parametrize("small", ["float32", "float16", "bfloat16"])
def test_an_integer_that_became_a_float_is_not_flushed(small: str) -> None:
    _, hopeful, careful = emitters_with(Traits(converts=frozenset({dtype(small)}), flushes=True))
    whole = careful.cast(Writer().operand(dtype("int8")), dtype(small))
    assert careful.flushed(whole) is whole
    hopeful.finder_below(dtype(small), 2.0**-14)(whole)
    assert whole.writer
    assert not whole.writer.finished([whole], notices_float_errors=False).has_alarm
    other = Writer().operand(dtype(small))
    assert careful.flushed(other) is not other


def test_casts_that_are_a_library_s_own_are_left_to_it() -> None:
    emitter = emitters_with(Traits(own_casts=frozenset({FLOAT8})))[-1]
    value = Writer().operand(FLOAT32)
    with pytest.raises(NotLoweredError):
        emitter.cast(value, FLOAT8)
    assert emitter.cast(value, dtype("float8_e5m2")).dtype == "float8_e5m2"


def test_a_program_is_readable() -> None:
    emitter, writer = emitters_with(Traits(converts=HALF))[-1], Writer()
    x, y = writer.operand(dtype("int8")), writer.operand(FLOAT16)
    add = emitter.function("add", FLOAT32)
    assert add
    total = add(emitter.cast(x, FLOAT32), emitter.cast(y, FLOAT32))
    program = writer.finished([emitter.cast(total, FLOAT16)], notices_float_errors=False)
    assert (
        str(program)
        == """\
(int8, float16)
  %0 = load int8(0)
  %1 = load uint16(1)
  %2 = convert float32(%0)
  %3 = widen float32(%1, 'float16')
  %4 = add float32(%2, %3)
  %5 = narrow uint16(%4, 'float16')
  store %5 as float16"""
    )
