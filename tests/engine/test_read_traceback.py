"""What is read from messages and lines of code, and what is not guessed."""

from __future__ import annotations

import re
import time

import pytest

from castwise.catalog import dialects, framework_messages
from castwise.engine.tracebacks import MOST, read_traceback, regular_expression, traceback_data
from castwise.rules.dialect import PLACEHOLDERS, Message
from castwise.vocab.dtypes import CANONICAL
from castwise.vocab.ops import OPS
from loops import each

MESSAGES = [(own.framework, m) for own in framework_messages() for m in own.messages]
SAME_DTYPE = "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half"
SCALAR_TYPE = "RuntimeError: expected scalar type Half but found Float"
CAST = "RuntimeError: result type Float can't be cast to the desired output type Long"


def traceback_of(code: str, marks: str = "", message: str = SCALAR_TYPE) -> str:
    below = f"    {marks}\n" if marks else ""
    return (
        "Traceback (most recent call last):\n"
        f'  File "/home/user/train.py", line 7, in <module>\n    {code}\n{below}{message}\n'
    )


@each(("framework", "message"), [(f, m) for f, m in MESSAGES if m.example])
def test_an_example_is_matched_by_its_own_pattern_first(framework: str, message: Message) -> None:
    first = next(
        p for p in traceback_data()["patterns"] if re.search(p["pattern"], message.example)
    )
    assert first["pattern"] == regular_expression(message.template)[0]
    assert first["framework"] == framework
    assert read_traceback(message.example).sentence


@each(("framework", "message"), MESSAGES)
def test_templates_name_what_there_is(framework: str, message: Message) -> None:
    _, groups = regular_expression(message.template)
    assert set(groups) <= set(PLACEHOLDERS)
    assert len(groups) == len(set(groups))
    assert set(message.op.split()) <= set(OPS)
    assert not ("op" in groups and message.op)
    assert not message.mode or f"{framework}:{message.mode}" in dialects()


def test_tables_name_dtypes_and_ops_that_exist() -> None:
    data = traceback_data()
    numbers = set(data["kinds"].values())
    for own in data["frameworks"].values():
        assert set(own["dtypes"].values()) <= CANONICAL | numbers
        assert {op for ops in own["ops"].values() for op in ops.split()} <= set(OPS)
        assert {op.removesuffix("_") for op in own["calls"].values()} <= set(OPS)
    assert {dialect for dialect in data["signs"].values()} <= set(dialects())


@pytest.mark.parametrize(
    ("word", "dtype"),
    [
        ("Half", "float16"),
        ("c10::BFloat16", "bfloat16"),
        ("struct c10::Half", "float16"),
        ("torch.cuda.DoubleTensor", "float64"),
        ("c10::complex<float>", "complex64"),
        ("unsigned char", "uint8"),
        ("long long", "int64"),
        ("torch.float8_e4m3fn", "float8_e4m3fn"),
    ],
)
def test_dtypes_are_read_as_they_are_spelled(word: str, dtype: str) -> None:
    text = f"expected mat1 and mat2 to have the same dtype, but got: {word} != float"
    assert read_traceback(text).operands == (dtype, "float32")


@pytest.mark.parametrize(
    ("code", "marks", "question"),
    [
        ("y = x + (a @ b)", "         ~~^~~", "float16 @ float32"),
        (
            "y = torch.bmm(a, b.float()) + z",
            "    ^^^^^^^^^^^^^^^^^^^^^^^",
            "matmul(float16, float32)",
        ),
        ("y = torch.bmm(a, b)", "    ~~~~~~~~~^^^^^^", "matmul(float16, float32)"),  # Python 3.13
        ("y = torch.bmm(a, b)", "", "matmul(float16, float32)"),
        ("x = a @ b", "", "float16 @ float32"),
        ("x @= b", "", "float16 @= float32"),
        ("y = a.matmul(b)", "", "matmul(float16, float32)"),
        ("y = F.linear(x, w) + b", "", None),  # the sum or the product
        ("y = self.layer(x)", "", None),
        ("y = sum(x)", "", None),  # Python's
        ("y = f(*arguments)", "", None),
        ("y = torch.exp(x)", "", None),  # the message is about two operands
    ],
)
def test_the_op_is_that_of_the_line_of_code(code: str, marks: str, question: str | None) -> None:
    assert read_traceback(traceback_of(code, marks)).question == question


@pytest.mark.parametrize(
    ("code", "question", "nearest"),
    [
        ("x += y", "int64 += ?", "int64 += float32"),
        ("x += 1.5", "int64 += 1.5", "int64 += 1.5"),
        ("x.mul_(-0.5)", "mul_(int64, -0.5)", "mul_(int64, -0.5)"),
        ("torch.add(a, b, out=x)", "add(?, ?, out=int64)", "add(float32, float32, out=int64)"),
        ("x.sqrt_()", "sqrt_(int64)", "sqrt_(int64)"),
        ("update(x)", None, None),
    ],
)
def test_what_is_written_to(code: str, question: str | None, nearest: str | None) -> None:
    read = read_traceback(traceback_of(code, message=CAST))
    assert (read.question, read.nearest, read.computed) == (question, nearest, "float32")


def test_a_layer_is_read_by_the_line_of_the_framework() -> None:
    text = traceback_of("y = net(x)").replace(
        SCALAR_TYPE,
        '  File "/opt/lib/python3.11/site-packages/torch/nn/modules/conv.py", line 5, in forward\n'
        f"    return F.conv2d(input, weight, bias)\n{SCALAR_TYPE}",
    )
    assert read_traceback(text).question == "conv2d(float16, float32)"


IPYTHON = f"""\
----> 1 torch.mm(mat1, mat2)

{SCALAR_TYPE}"""
CELL = f"""\
RuntimeError                              Traceback (most recent call last)
Cell In[2], line 6
      4 mat1 = a
----> 6 torch.mm(mat1, mat2)

File /opt/lib/python3.11/site-packages/torch/overrides.py:5, in wrapper(a, b)
----> 5     return call(a, b)

{SCALAR_TYPE}"""
RICH = f"""\
│ /home/user/train.py:165 in forward                      │
│                                                         │
│   164 │   │   else:                                     │
│ ❱ 165 │   │   │   output = torch.mm(mat1, mat2)         │
╰─────────────────────────────────────────────────────────╯
{SCALAR_TYPE}"""
PYTEST = f"""\
    def test_it():
>       y = x + torch.mm(mat1, mat2)
                ^^^^^^^^^^^^^^^^^^^^
E       {SCALAR_TYPE}

test_it.py:7: RuntimeError"""
SHORT = f"""\
test_it.py:7: in test_it
    y = x + layer(z)
            ^^^^^^^^
../lib/python3.12/site-packages/torch/nn/modules/linear.py:134: in forward
    return F.linear(input, self.weight, self.bias)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
E   {SCALAR_TYPE}"""
RANKS = "\n".join(f"[rank2]: {line}" for line in traceback_of("torch.mm(a, b)").split("\n"))
COLOURED = traceback_of("torch.mm(a, b)").replace("RuntimeError", "\x1b[31mRuntimeError\x1b[0m")
WINDOWS = traceback_of("torch.mm(a, b)").replace("\n", "\r\n")


@pytest.mark.parametrize("text", [IPYTHON, CELL, RICH, PYTEST, SHORT, RANKS, COLOURED, WINDOWS])
def test_tracebacks_of_other_programs_are_read(text: str) -> None:
    assert read_traceback(text).question == "matmul(float16, float32)"


def test_of_two_errors_the_last_counts() -> None:
    text = f"{traceback_of('a @ b', message=SAME_DTYPE)}\n{SAME_DTYPE.replace('Float', 'Double')}"
    assert read_traceback(text).operands == ("float64", "float16")


@pytest.mark.parametrize("text", ["", "hello", "Traceback (most recent call last):", "a + b"])
def test_a_text_about_something_else_tells_nothing(text: str) -> None:
    read = read_traceback(text)
    assert (read.sentence, read.dialect, read.op, read.operands) == (None, None, None, ())
    assert (read.question, read.nearest) == (None, None)


def test_words_that_are_no_dtypes_are_no_message() -> None:
    assert read_traceback("ValueError: shape did not match target").sentence is None


def test_a_log_is_read_fast_and_its_end_counts() -> None:
    log = "step 17: loss 0.25, dtype float32, device cpu\n" * (2 * MOST // 40)
    start = time.perf_counter()
    assert read_traceback(log + SAME_DTYPE).question == "float32 @ float16"
    assert time.perf_counter() - start < 5
