"""NumPy's errors about dtypes."""

from __future__ import annotations

from castwise.rules.messages import Message, Messages
from castwise.vocab.spellings import SPELLINGS

_CLASSES = {
    name: name.removesuffix("DType").lower()
    for name in (
        "BoolDType", "Int8DType", "Int16DType", "Int32DType", "Int64DType", "UInt8DType",
        "UInt16DType", "UInt32DType", "UInt64DType", "Float16DType", "Float32DType",
        "Float64DType", "Complex64DType", "Complex128DType",
    )
}  # fmt: skip

MESSAGES = Messages(
    "numpy",
    (
        Message("Cannot cast ufunc '{op}' output from dtype('{result}') to dtype('{target}')"),
        Message(  # up to NumPy 1.16
            "Cannot cast ufunc {op} output from dtype('{result}') to dtype('{target}')",
            "TypeError: Cannot cast ufunc add output from dtype('float64') to dtype('int64') with"
            " casting rule 'same_kind'",
        ),
        Message("Cannot cast ufunc '{op}' input 0 from dtype('{left}') to dtype('{dtype}')"),
        Message("Cannot cast ufunc '{op}' input 1 from dtype('{right}') to dtype('{dtype}')"),
        Message("ufunc '{op}' cannot use operands with types dtype('{left}') and"),
        Message(
            "ufunc '{op}' did not contain a loop with signature matching types ({operands}) ->"
        ),
        Message("ufunc '{op}' not supported for the input types"),
        Message(
            "numpy boolean subtract, the `-` operator, is not supported",
            op="sub",
            operands="bool bool",
        ),
        Message(
            "The numpy boolean negative, the `-` operator, is not supported",
            op="neg",
            operands="bool",
        ),
        Message("Python integer {number} out of bounds for {left}", is_in_order=False),
        Message("ValueError: Integers to negative integer powers are not allowed", op="pow"),
        Message("Cannot cast array data from dtype('{result}') to dtype('{target}') according to"),
        Message("The DType {left} could not be promoted by {right}", op="result_type"),
        Message("The DTypes {left} and {right} do not have a common DType", op="result_type"),
    ),
    dtypes={**SPELLINGS["np"], **_CLASSES},
    packages="numpy",
    signs={
        "numpy.core._exceptions": "numpy@1",
        "site-packages/numpy/core/": "numpy@1",
        "UFuncTypeError": "numpy",
        "numpy.exceptions.": "numpy",
    },
)
