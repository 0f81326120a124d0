"""Sentences about a question as templates, which the page fills in with what a person typed.

`{0}` is the first operand as it is written, `{dtype 0}` its dtype, `{size 0}` its size
in brackets, `{value 0}` its number, `{float 0}` its number as a float; `{op}` and `{symbol}` are
the op's name and symbol.
"""

from __future__ import annotations

import re

from castwise.report.explorer.groups import OP_NAME, OP_SYMBOL
from castwise.report.explorer.kinds import SIZES
from castwise.vocab.operands import Operand, scalar_text

_MARKS = {OP_NAME: "{op}", OP_SYMBOL: "{symbol}"}
_MARKED = re.compile(f"[{''.join(_MARKS)}]")
_SIZED = re.compile(rf"\[([{''.join(SIZES)}])(?:,\1)*\]")
# How operands and dtypes are written: np.int8(3), int32*[n], int32, -1.5e+39j.
_WORD = re.compile(
    r"np\.\w+\([^()]*\)|(?:np\.)?[A-Za-z_]\w*\*?(\[[^\[\]]*\])?"
    r"|-?(?:\d+(?:\.\d+)?(?:e[+-]\d+)?|inf|nan)j?"
)
_LARGEST = 1.7e308


class Templates:
    """Makes templates of the sentences about some operands."""

    def __init__(self, operands: tuple[Operand, ...]) -> None:
        self._names: dict[str, str] = {}
        put = self._names.setdefault
        for place, operand in enumerate(operands):
            put(str(operand), f"{{{place}}}")
        for place, operand in enumerate(operands):
            value = operand.value
            if operand.dtype:
                put(operand.dtype.name, f"{{dtype {place}}}")
            if value is None or isinstance(value, bool):
                continue
            put(scalar_text(value), f"{{value {place}}}")
            if not isinstance(value, complex) and abs(value) <= _LARGEST:
                put(scalar_text(float(value)), f"{{float {place}}}")

    def of(self, sentence: str) -> str:
        """The template of a sentence."""
        filled = _WORD.sub(self._filled, sentence)
        sized = _SIZED.sub(lambda found: f"{{size {SIZES.index(found[1])}}}", filled)
        return _MARKED.sub(lambda found: _MARKS[found[0]], sized)

    def _filled(self, word: re.Match[str]) -> str:
        whole, brackets = word[0], word[1]
        if brackets and whole not in self._names:  # an array that an op made of an operand
            dtype = whole.removesuffix(brackets)
            return self._names.get(dtype, dtype) + brackets
        return self._names.get(whole, whole)
