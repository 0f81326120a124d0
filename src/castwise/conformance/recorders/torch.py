"""Asks PyTorch, on the CPU or on a CUDA device."""

from __future__ import annotations

import functools
import importlib.util
import logging
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from castwise.conformance.onnx_models import model_session, require_packages, run_session
from castwise.conformance.programs import (
    AxisWords,
    Menu,
    RecordedSpeaker,
    Step,
    array_text,
    program_forms,
    statement,
)
from castwise.conformance.questions import (
    ALPHAS,
    LITERALS,
    NUMPY_DTYPES,
    OUT_OPS,
    REDUCTIONS,
    ROUNDING_MODES,
    SCANS,
    GridQuestion,
    Scope,
    Spec,
    named_forms,
    numpy_operands,
    product_equation,
    read_literal,
    read_operand,
    words,
)
from castwise.conformance.ranks import Ranks
from castwise.conformance.recorder import (
    FoundFunction,
    FrameworkRecorder,
    Header,
    LostDeviceError,
    NoKernelError,
    RefusalError,
    called_with_operands,
    dtype_function,
    existing_forms,
    found_functions,
    framework_versions,
    refusing,
)
from castwise.conformance.transformations import (
    Function,
    Spread,
    Transformation,
    UnsupportedError,
    call_text,
    has_no_arrays,
    is_spelled,
)
from castwise.conformance.values import Held
from castwise.errors import UsageError
from castwise.frameworks.torch import TORCH
from castwise.vocab.notation import OUT_OF_RANGE, REFUSED

# What an error of PyTorch means: only its text tells the kinds apart.

_NO_KERNEL = re.compile(r"\"[\w ]+\" not implemented for '")
_OUT_OF_RANGE = re.compile(
    "value cannot be converted|Integers to negative integer powers|outside the representable range"
)
# Shapes, and a division by a Python int that wrapped to zero.
_NOT_ABOUT_DTYPES = re.compile(
    "shape|at least 1D|1D tensors expected|Expected 1-D argument|same number of dimensions|"
    "equal size|cannot be concatenated|ZeroDivisionError|Padding length"
)
# Most TypeErrors are signatures; these are the operators', or NumPy's where it took over.
# (`array + tensor` ends in Python's attempt to concatenate sequences.)
_REFUSAL = re.compile(
    "unsupported operand type|not supported between|only implemented on|Concatenation operation|"
    "not supported for the input types|unsupported ScalarType|numpy boolean subtract|"
    "not implemented for (complex )?tensors|does not support complex|"  # since 2.15 a TypeError
    r"^where\(\) received an invalid combination of arguments - got \((?!Tensor)"
)


class UntoldError(Exception):
    """What PyTorch says of a mix of dtypes before it has looked at all of them."""


def is_missing_kernel(error: Exception) -> bool:
    """Whether PyTorch got as far as looking for a kernel, and found none for the dtype.

    `maximum not implemented for complex tensors` is not that: it is a check, on any device.
    """
    return _NO_KERNEL.search(str(error)) is not None


DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 "
    "float16 bfloat16 float32 float64 complex32 complex64 complex128"
)
RARE = words("float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu bcomplex32")
# What the default dtype can change, and enough of the rest to show that it does not.
MODE_OPS = words(
    "add sub mul div floor_divide remainder pow float_power lt bitwise_and maximum atan2 hypot "
    "logaddexp copysign xlogy where clamp result_type promote_types concat poisson_nll_loss "
    "mse_loss abs floor angle exp log sqrt rsqrt sin tanh sigmoid erf gelu reciprocal softmax "
    "sum prod mean cumsum std var norm logsumexp cos tan asin acos atan sinh cosh asinh acosh "
    "atanh log2 log10 log1p exp2 expm1 degrees radians logaddexp2 ldexp"
)
# What autocast casts for, and enough of the rest to show that it does not.
AUTOCAST_OPS = words(
    "add mul maximum lt where dot matmul outer inner vecdot cross kron result_type promote_types "
    "concat stack "
    "mse_loss l1_loss huber_loss poisson_nll_loss exp sin gelu softmax log_softmax relu sum prod "
    "mean cumsum cumprod std norm cos log2 silu einsum embedding conv1d conv2d layer_norm "
    "cross_entropy scaled_dot_product_attention "
    # What is cast on CUDA only.
    "pow atan2 acos asin cosh expm1 log log10 log1p reciprocal rsqrt sinh tan addcmul addcdiv"
)
# Enough to see that a 0-d array counts the same wherever it is.
_OF_0D = words("add mul div floor_divide pow lt maximum atan2 where result_type")
_TAKE_DTYPE = words("sum prod mean cumsum cumprod softmax log_softmax norm")
# The numbers that are passed by name, by op.
_NUMBERS = {
    "add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value", "huber_loss": "delta",
}  # fmt: skip
_SAME_DTYPE = words("einsum conv1d conv2d layer_norm scaled_dot_product_attention")
NEED_AXIS = (*SCANS, "logsumexp")


class TorchRecorder(FrameworkRecorder):
    """The PyTorch installed here, under a default dtype."""

    name = "torch"
    dialects: tuple[str, ...] = (
        "torch",
        "torch:default_float=float64",
        "torch:default_float=float16",
        "torch:default_float=bfloat16",
        "torch:autocast=bfloat16",
        "torch:autocast=float16",
        "torch:cuda",
        "torch:cuda,autocast=bfloat16",
        "torch:cuda,autocast=float16",
    )

    def __init__(self, mode: str = "") -> None:
        import torch

        self.dialect = f"torch:{mode}" if mode else "torch"
        if self.dialect not in (*self.dialects, "torch:cuda,cpu-0-d"):  # 0-d arrays on the CPU
            raise ValueError(f"torch is recorded as {', '.join(self.dialects)}; not {mode!r}.")
        self._torch: Any = torch
        options = dict(word.partition("=")[::2] for word in mode.split(","))
        self._default_float = options.get("default_float", "float32")
        self._autocast = options.get("autocast", "")
        self._device = "cuda" if "cuda" in options else "cpu"
        self._device_of_0d = "cpu" if "cpu-0-d" in options else self._device
        if self._device == "cuda" and not torch.cuda.is_available():
            raise ValueError("PyTorch finds no CUDA device here.")
        self.found = _found()
        self._functions = _functions(self.found)
        self.scope = self._full_scope() if mode in ("", "cuda") else self._mode_scope(mode)

    def versions(self) -> Header:
        return framework_versions(str(self._torch.__version__).partition("+")[0], "numpy")

    @contextmanager
    def session(self) -> Iterator[None]:
        torch = self._torch
        threads, default = torch.get_num_threads(), torch.get_default_dtype()
        torch.set_num_threads(1)  # three elements are not worth a second thread
        torch.set_default_dtype(getattr(torch, self._default_float))
        try:
            with super().session(), self._casting():
                yield
        finally:
            torch.set_num_threads(threads)
            torch.set_default_dtype(default)

    def _casting(self) -> Any:
        """torch.autocast, where that is the mode."""
        target = getattr(self._torch, self._autocast or "bfloat16")
        return self._torch.autocast(self._device, dtype=target, enabled=bool(self._autocast))

    def _own(self, dtype: str, spec: Spec) -> Any:
        # Filled, then converted: not every dtype can be filled directly.
        device = self._device if spec.shape else self._device_of_0d
        array = self._torch.full(spec.shape, spec.value)
        return array.to(getattr(self._torch, dtype)).to(device)

    def call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        try:
            result = self.bare_call(op, form, operands)
            if self._device == "cuda":
                self._torch.cuda.synchronize()  # or a later question would get the error
            return result
        except RuntimeError as error:
            if not is_missing_kernel(error):
                raise
            if op in _SAME_DTYPE and len({x.dtype for x in operands}) > 1:
                # These look for a kernel before they compare dtypes, so that it is no answer.
                raise UntoldError from error
            raise NoKernelError(self._dtype_on_meta(op, form, operands)) from error

    def dtype_of(self, result: Any) -> str | None:
        dtype = result.dtype if isinstance(result, self._torch.Tensor) else result
        is_own = isinstance(dtype, self._torch.dtype)
        return str(dtype).removeprefix("torch.") if is_own else None

    def classify(self, error: Exception) -> str | None:
        text = str(error)
        if text.startswith("CUDA error"):  # an assertion in a kernel, after which every call fails
            raise LostDeviceError from error
        if isinstance(error, NoKernelError):
            return error.answer
        if isinstance(error, OverflowError) or _OUT_OF_RANGE.search(text):
            return OUT_OF_RANGE
        if isinstance(error, TypeError):
            return REFUSED if isinstance(error, RefusalError) or _REFUSAL.search(text) else None
        if isinstance(error, RuntimeError) and not _NOT_ABOUT_DTYPES.search(text):
            return REFUSED
        return None

    def lacks_kernel(self, error: Exception) -> bool:
        """Whether an error of a bare call is a missing kernel."""
        return is_missing_kernel(error)

    def bare_call(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        kind, _, value = form.partition("=")
        if kind == "inplace":
            axis = {"dim": -1} if op in NEED_AXIS else {}
            return getattr(operands[0].clone(), self._method(op))(*operands[1:], **axis)
        if kind == "out":
            axis = {"dim": -1} if op in REDUCTIONS else {}  # only then do they have an out=
            dtype, device = getattr(self._torch, value), operands[0].device
            out = self._torch.empty(0, dtype=dtype, device=device)  # takes the result's shape
            return self._functions[op](*operands, out=out, **axis)
        return super().call(op, form, operands)

    def _copied(self, array: Any) -> Any:
        return self._torch.clone(array)

    def _named(self, op: str, name: str, text: str) -> Any:
        if name == "rounding_mode":
            return text
        return getattr(self._torch, text) if name == "dtype" else read_literal(text)

    def _dtype_on_meta(self, op: str, form: str, operands: Sequence[Any]) -> str | None:
        """The dtype of the result where nothing is computed.

        The meta device allows what the CPU refuses, so it is asked only once the CPU has got
        as far as looking for a kernel; of huber_loss it gives another dtype than a CPU does.
        """
        if op == "huber_loss" or any(type(x).__module__ == "numpy" for x in operands):
            return None
        meta = [x.to("meta") if isinstance(x, self._torch.Tensor) else x for x in operands]
        try:
            return self.dtype_of(self.bare_call(op, form, meta))
        except Exception:  # its reference implementations raise many kinds of errors
            return None

    def _full_scope(self) -> Scope:
        more = {op: named_forms("out", DTYPES) for op in OUT_OPS}
        named = {op: named_forms(name, ALPHAS) for op, name in _NUMBERS.items()}
        named |= {op: named_forms("dtype", DTYPES) for op in _TAKE_DTYPE}
        named["div"] = named_forms("rounding_mode", ROUNDING_MODES)
        forms = {
            op: (*self._forms(op), *more.get(op, ()), *named.get(op, ())) for op in self._functions
        }
        is_first_with_float8 = str(self._torch.__version__).startswith("2.1.")
        return Scope(
            dtypes=DTYPES,
            rare=RARE,
            forms=forms,
            foreign=numpy_operands(NUMPY_DTYPES),
            is_left_out=is_endless if is_first_with_float8 else None,
        )

    def _mode_scope(self, mode: str) -> Scope:
        is_autocast = bool(self._autocast)
        asked = AUTOCAST_OPS if is_autocast else _OF_0D if "cpu-0-d" in mode else MODE_OPS
        forms = {op: self._forms(op) for op in asked}
        for op in _TAKE_DTYPE if is_autocast else ():
            forms[op] += named_forms("dtype", DTYPES)
        numpys = numpy_operands(NUMPY_DTYPES, "(1)")
        return Scope(dtypes=DTYPES, rare=RARE, forms=forms, foreign=numpys)

    def _forms(self, op: str) -> tuple[str, ...]:
        return existing_forms(op, inplace=hasattr(self._torch.Tensor, self._method(op)))

    def _method(self, op: str) -> str:
        return f"{self.found[op].name}_"


recorder = TorchRecorder


def is_endless(question: GridQuestion) -> bool:
    """Whether PyTorch 2.1 ends the process, or fills the memory: it joins float8 with another dtype
    without one that both promote to."""
    dtypes = {spec.dtype for spec in map(read_operand, question.operands) if spec.dtype}
    is_mixed = len(dtypes) > 1 and any(dtype.startswith("float8") for dtype in dtypes)
    return is_mixed and question.op in ("concat", "stack")


def _found() -> dict[str, FoundFunction]:
    import torch
    from torch.nn import functional

    rooms = {"torch": torch, "torch.nn.functional": functional, "torch.linalg": torch.linalg}
    functional_ops = words(
        "poisson_nll_loss threshold pad one_hot embedding conv1d conv2d layer_norm cross_entropy "
        "scaled_dot_product_attention"
    )
    instead = {op: f"torch.nn.functional.{op}" for op in functional_ops}
    instead |= {"cross": "torch.linalg.cross", "einsum": "torch.einsum", "topk": "torch.topk"}
    return found_functions(rooms, TORCH.naming.aliases, instead)


def _functions(found: dict[str, FoundFunction]) -> dict[str, Callable[..., Any]]:
    import torch

    functions = called_with_operands(found)
    functions |= {op: partial(functions[op], dim=-1) for op in NEED_AXIS if op in functions}
    functions["threshold"] = partial(functions["threshold"], threshold=1, value=1)
    functions |= _layers(functions)
    functions["linalg.matrix_power"] = partial(functions["linalg.matrix_power"], n=2)
    functions["tensordot"] = partial(functions["tensordot"], dims=1)
    functions["promote_types"] = dtype_function(torch.promote_types)
    functions["can_cast"] = refusing(dtype_function(torch.can_cast), yes=torch.bool)
    functions["allclose"] = refusing(torch.allclose, yes=torch.bool)
    return functions


def _layers(functions: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The layers, given what is no operand."""
    einsum, topk, norm = (functions[op] for op in ("einsum", "topk", "layer_norm"))
    return {
        "einsum": lambda *arrays: einsum(product_equation(arrays), *arrays),
        "pad": partial(functions["pad"], pad=(1, 1)),
        "one_hot": partial(functions["one_hot"], num_classes=3),
        "topk": lambda x: topk(x, 1).values,
        "layer_norm": lambda x, *parameters: norm(x, x.shape, *parameters),
    }


# Asks PyTorch what it computes, on the CPU or on a CUDA device.


class TorchValues(TorchRecorder):
    """The values of the PyTorch installed here."""

    dtypes = words(
        "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
        "complex64 complex128"
    )

    def hold(self, held: Held) -> Any:
        if held.dtype is None:
            return held.values[0]
        dtype = getattr(self._torch, held.dtype)
        array = self._torch.tensor(held.values, dtype=dtype).reshape(held.shape)
        return array.to(self._device)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.to(getattr(self._torch, dtype))

    def compute(self, op: str, form: str, operands: Sequence[Any]) -> Any:
        return self.bare_call(op, form, operands)  # not call, which looks further for a dtype

    def held_by(self, result: Any) -> Held | None:
        dtype = self.dtype_of(result)
        if dtype is None or not isinstance(result, self._torch.Tensor):
            return None
        values = result.detach().resolve_conj().reshape(-1).tolist()
        return Held(dtype, tuple(result.shape), tuple(values))

    def is_division_by_zero(self, error: Exception) -> bool:
        return "ZeroDivisionError" in str(error)


values_recorder = TorchValues

# Programs in PyTorch, on the CPU.


class TorchSpeaker(RecordedSpeaker):
    """The PyTorch installed here."""

    prelude = "import torch\nfrom math import inf, nan"
    axis_words = AxisWords("dim", "keepdim")
    more_arguments: Mapping[str, tuple[str, ...]] = {"threshold": ("1", "1")}

    def __init__(self, mode: str = "") -> None:
        self._values = TorchValues(mode)
        super().__init__(self._values)
        self.menu = Menu(
            dtypes=self._values.dtypes,
            forms=program_forms(self._values.scope.forms, "inplace"),
            literals=LITERALS,
            along_axes=words("sum prod mean any all argmax argmin std var logsumexp"),
            need_axes=NEED_AXIS,
            has_axis_of_0d=True,
        )

    def array(self, held: Held) -> str:
        return array_text(held, "torch.zeros", "torch.tensor", f"dtype=torch.{held.dtype}")

    def cast(self, array: str, dtype: str) -> str:
        return f"{array}.to(torch.{dtype}, copy=True)"

    def read(self, array: Any) -> Held | None:
        return self._values.held_by(array)

    def is_no_answer(self, error: Exception) -> bool:
        is_missing = isinstance(error, RuntimeError) and is_missing_kernel(error)
        return is_missing or super().is_no_answer(error)


speaker = TorchSpeaker


# PyTorch's compilers, exporters, tracers and batchers.

_MANY_OPS = 200  # a graph of so many calls compiles in seconds
_SILENT = logging.CRITICAL + 1  # Inductor logs code that it cannot write as critical


def _compile(backend: str) -> Transformation:
    import torch

    logging.getLogger("torch").setLevel(_SILENT)  # it logs the stack of every refusal

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        torch._dynamo.reset()
        return torch.compile(function, backend=backend)(*arrays)

    name = "torch.compile" if backend == "inductor" else f"torch.compile:{backend}"
    said = "" if backend == "inductor" else f", backend={backend!r}"
    written = f"torch.compile({{f}}{said})({{arrays}})"
    return Transformation(name, run, written, "", _MANY_OPS, _declines)


def _export() -> Transformation:
    import torch

    logging.getLogger("torch").setLevel(_SILENT)

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        torch._dynamo.reset()
        program = torch.export.export(_module(function), tuple(arrays))
        return program.module()(*arrays)

    module = 'type("M", (torch.nn.Module,), {{"forward": lambda self, *a: ({f})(*a)}})()'
    written = f"torch.export.export({module}, ({{arrays}},)).module()({{arrays}})"
    return Transformation("torch.export", run, written, "", _MANY_OPS, _declines)


def _make_fx() -> Transformation:
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    table = core_aten_decompositions()

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return make_fx(function, decomposition_table=table)(*arrays)(*arrays)

    imports = (
        "from torch._decomp import core_aten_decompositions\n"
        "from torch.fx.experimental.proxy_tensor import make_fx"
    )
    traced = "make_fx({f}, decomposition_table=core_aten_decompositions())({arrays})"
    return Transformation("make_fx", run, f"{traced}({{arrays}})", imports, 1)


def _trace() -> Transformation:
    import torch

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            traced = torch.jit.trace(lambda *x: function(*x), tuple(arrays), check_trace=False)
            return traced(*arrays)

    written = "torch.jit.trace({f}, ({arrays},), check_trace=False)({arrays})"
    return Transformation("torch.jit.trace", run, written, "", 1)


def _meta() -> Transformation:
    def run(function: Function, arrays: Sequence[Any]) -> Any:
        return function(*[array.to("meta") for array in arrays])

    written = '({f})(*[a.to("meta") for a in ({arrays},)])'
    return Transformation("meta", run, written, "", 1, computes=False)


def _vmap() -> Transformation:
    import torch

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        batched = torch.vmap(function)(*[torch.stack([array, array]) for array in arrays])
        return [result[0] for result in batched]

    written = "torch.vmap({f})(*[torch.stack([a, a]) for a in ({arrays},)])"
    return Transformation("vmap", run, written, "", 1, leaves_out=has_no_arrays)


def _declines(function: Function, arrays: Sequence[Any]) -> Exception | None:
    """What fake tensors raise: what is compiled or exported is first called with them."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        try:
            function(*[mode.from_tensor(array) for array in arrays])
        except Exception as error:
            return error
    return None


def _module(function: Function) -> Any:
    import torch

    body = {"forward": lambda self, *arrays: function(*arrays)}
    return type("Called", (torch.nn.Module,), body)()


# TorchScript, which compiles source text: each question is written as a line of a function.


def _script() -> Transformation:
    """Scripts a function that is written to a file, because a closure has no source to compile."""
    speaker = TorchSpeaker()

    def run(function: Function, arrays: Sequence[Any]) -> Any:
        asked: Any = function
        called = _compiled_script(_script_source(speaker, asked.questions, asked.places))
        try:
            return called(*arrays)
        except RuntimeError as error:  # whose last line is the reason, after where it happened
            raise RuntimeError(str(error).strip().rpartition("\n")[2]) from error

    def leaves_out(question: GridQuestion) -> bool:
        is_copied = question.form != "augmented" or question.operands[0].endswith("]")
        return not is_copied or not is_spelled(speaker, question)

    return Transformation("torch.jit.script", run, "", "", 1, leaves_out=leaves_out)


def _script_source(
    speaker: TorchSpeaker, questions: Sequence[GridQuestion], places: dict[str, int]
) -> str:
    """A module with a function that makes the calls, of arrays x0, x1 and so on."""
    given = ", ".join(f"x{at}" for at in places.values())
    lines = [speaker.prelude, "", f"def asked({given}):"]
    for number, question in enumerate(questions):
        words = [f"x{places[o]}" if o in places else o for o in question.operands]
        lines += [f"    {line}" for line in _call_lines(speaker, question, words, f"r{number}")]
    results = "".join(f"r{number}, " for number in range(len(questions)))
    return "\n".join([*lines, f"    return ({results})", ""])


def _call_lines(
    speaker: TorchSpeaker, question: GridQuestion, words: list[str], name: str
) -> list[str]:
    """The lines that bind a name to the result; what is written into is a copy."""
    if question.form == "augmented":
        step = Step(name, question.op, "augmented", (name, words[1]))
        return [f"{name} = {words[0]}.clone()", statement(speaker, step)]
    if question.form == "inplace":
        words = [f"{words[0]}.clone()", *words[1:]]
    return [f"{name} = {call_text(speaker, question, words)}"]


def _compiled_script(text: str) -> Function:
    import torch

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TorchScript is deprecated
        file = Path(folder, "asked_in_torch_script.py")
        file.write_text(text, "utf-8")
        spec: Any = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        scripted: Function = torch.jit.script(module.asked)
    return scripted


# PyTorch's ONNX exporter, and what onnxruntime makes of its models.

_NOT_IN_ONNX = ("complex32", "bcomplex32")
_PACKAGES = ("onnx", "onnxscript", "onnxruntime")


def _onnx() -> Transformation:
    """Exports a function by torch.export to ONNX, and runs the model in onnxruntime.

    Raises ImportError where a package is missing.
    """
    require_packages(*_PACKAGES)

    def declines_or_lacks(function: Function, arrays: Sequence[Any]) -> Exception | None:
        return _lacking_in_onnx(arrays) or _declines(function, arrays)

    for name in ("torch", "onnxscript"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    module = 'type("M", (torch.nn.Module,), {{"forward": lambda self, *a: ({f})(*a)}})()'
    exported = f"torch.onnx.export({module}, ({{arrays}},), dynamo=True)({{arrays}})[0]"
    return Transformation(
        "onnx:onnxruntime", _run_onnx, exported, declines=declines_or_lacks, packages=_PACKAGES
    )


def _lacking_in_onnx(arrays: Sequence[Any]) -> Exception | None:
    """That ONNX has no such dtype, which the exporter would find out at the end."""
    for array in arrays:
        name = str(array.dtype).removeprefix("torch.")
        if name in _NOT_IN_ONNX:
            return _ExporterError(f"ONNX has no {name}")
    return None


def _run_onnx(function: Function, arrays: Sequence[Any]) -> list[Any]:
    """The result of each call; an error in its place where onnxruntime gives none.

    The calls are exported together, which is slow, and run one by one, because a model in which
    one node has no kernel does not run at all.
    """
    import onnx

    model, are_complex = _onnx_model(function, arrays)
    given = [_to_numpy(array) for array in arrays]
    parts = onnx.utils.Extractor(model)
    names = [value.name for value in model.graph.input]
    outputs = [value.name for value in model.graph.output]
    return [
        _onnx_result(parts.extract_model(names, [output]), given, is_complex)
        for output, is_complex in zip(outputs, are_complex, strict=True)
    ]


def _onnx_model(function: Function, arrays: Sequence[Any]) -> tuple[Any, list[bool]]:
    """The model, and which of its outputs are pairs of real numbers that stand for complex ones."""
    import torch
    from torch.onnx import OnnxExporterError

    torch._dynamo.reset()
    failed: Exception | None = None
    try:
        with warnings.catch_warnings(), _one_registry():
            warnings.simplefilter("ignore")
            program: Any = torch.onnx.export(
                _module(function), tuple(arrays), dynamo=True, verbose=False
            )
    except OnnxExporterError as error:
        failed = _exporter_cause(error)
    if failed is not None:
        raise failed  # here, where no other error is its context
    results = program.exported_program.graph.output_node().args[0]
    return program.model_proto, [result.meta["val"].is_complex() for result in results]


class _ExporterError(Exception):
    """What PyTorch's exporter has no ONNX for. PyTorch's refusals are RuntimeErrors, as the
    exporter's own errors are, too: this tells them apart."""


def _exporter_cause(error: BaseException) -> Exception:
    """What an error of the exporter, which says only at which step it failed, was caused by."""
    from torch.onnx import OnnxExporterError

    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, Exception) and not isinstance(error, OnnxExporterError):
        return error
    return _ExporterError(str(error))


@contextmanager
def _one_registry() -> Iterator[None]:
    """The exporter reads its table of functions anew for each model, which takes two thirds of the
    time; here it reads it once."""
    try:
        from torch.onnx._internal.exporter._registration import ONNXRegistry
    except ImportError:  # a version with another inside
        yield
        return
    once = _kept(ONNXRegistry.from_torchlib)
    with mock.patch.object(ONNXRegistry, "from_torchlib", staticmethod(once)):
        yield


_kept = functools.cache(functools.cache)  # of one function always the same cache


def _onnx_result(model: Any, given: Sequence[Any], is_complex: bool) -> Any:
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoImplementation

    try:
        found = run_session(model_session(model), given)[0]
    except NoImplementation as error:
        lacking = NoKernelError(None)
        lacking.__cause__ = error
        return lacking
    except Exception as error:  # its errors have no other class in common
        return error
    return _to_tensor(found, is_complex)


def _to_numpy(tensor: Any) -> Any:
    """A tensor as the exporter's models take it: complex numbers are pairs of real ones."""
    import ml_dtypes  # noqa: F401  (registers bfloat16 and the small floats)
    import numpy as np
    import torch

    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    name = str(tensor.dtype).removeprefix("torch.")
    if not tensor.dtype.is_floating_point or tensor.dtype.itemsize > 2:
        return tensor.numpy()
    bits = getattr(torch, f"int{8 * tensor.dtype.itemsize}")  # NumPy has no other way to them
    return tensor.view(bits).numpy().view(np.dtype(name))


def _to_tensor(array: Any, is_complex: bool) -> Any:
    import torch

    dtype = getattr(torch, array.dtype.name)
    is_small = array.dtype.itemsize <= 2 and dtype.is_floating_point
    bits = array.view(f"int{8 * array.dtype.itemsize}") if is_small else array
    tensor = torch.from_numpy(bits)
    tensor = tensor.view(dtype) if is_small else tensor
    return torch.view_as_complex(tensor) if is_complex else tensor


# Tensors that are distributed over a few processes.

_RANKS = 3  # as many as an array has elements, so that no part is larger than another
_TO_MEET = timedelta(seconds=150)  # on a busy machine one may start long after another
# What a distributed tensor lacks whatever the dtypes are.
_UNSUPPORTED = re.compile("not have a sharding strategy|mixed torch.Tensor and DTensor")
_NOT_SENT = "Invalid scalar type"  # a dtype that gloo does not send


def _dtensor() -> Transformation:
    import torch.distributed.tensor  # noqa: F401  (where it is missing, it is missed here)

    ranks = Ranks(_join, _RANKS)

    def run(function: Function, arrays: Sequence[Any]) -> list[Spread]:
        if any(array.device.type != "cpu" for array in arrays):
            raise UsageError("--through dtensor distributes arrays on the CPU, and no others.")
        task = function, [_packed(array) for array in arrays]
        return [_spread(told) for told in zip(*ranks.ask(task), strict=True)]

    # One process is enough to see a dtype: to this group the others seem to be there.
    imports = f"""\
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh
from torch.testing._internal.distributed.fake_pg import FakeStore
torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size={_RANKS})
mesh = init_device_mesh("cpu", ({_RANKS},))
spread = lambda a: distribute_tensor(
    a, mesh, [Shard(0) if a.ndim else Replicate()], src_data_rank=None
)"""
    return Transformation(
        "dtensor",
        run,
        "({f})(*map(spread, ({arrays},)))",
        imports,
        together=1,
        session=ranks.session,
        is_apart=True,
        computes=False,  # its parts have values, and only their dtypes are looked at
        dtypes_written="[(r.dtype, r.to_local().dtype) for r in [{r}]]",
    )


def _join(rank: int, count: int, folder: str) -> Callable[[Any], list[dict[str, Any]]]:
    """What each process does: the calls, with its part of the arrays."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    place = f"file://{folder}/store"
    dist.init_process_group("gloo", place, _TO_MEET, rank=rank, world_size=count)
    mesh = init_device_mesh("cpu", (count,))

    def answer(task: tuple[Function, Sequence[Any]]) -> list[dict[str, Any]]:
        function, packed = task
        try:
            arrays = [_distributed(_unpacked(*array), mesh) for array in packed]
            return [_result_dtypes(result) for result in function(*arrays)]
        except Exception as error:
            raise _sharding_cause(error) from None

    return answer


def _sharding_cause(error: Exception) -> Exception:
    """The error behind one that the choice of a sharding ended in."""
    from torch._subclasses.fake_tensor import DataDependentOutputException

    cause = error.__cause__
    if isinstance(cause, DataDependentOutputException):
        return UnsupportedError(f"The result of {cause.func} depends on values.")
    if _UNSUPPORTED.search(str(error)):
        return UnsupportedError(str(error))
    return cause if isinstance(cause, Exception) else error


def _packed(array: Any) -> tuple[bytes, Any, tuple[int, ...]]:
    """An array as bytes, its dtype and its shape: not every dtype can be pickled."""
    import torch

    return bytes(array.reshape(-1).view(torch.uint8).tolist()), array.dtype, tuple(array.shape)


def _unpacked(held: bytes, dtype: Any, shape: tuple[int, ...]) -> Any:
    import torch

    return torch.tensor(list(held), dtype=torch.uint8).view(dtype).reshape(shape)


def _distributed(array: Any, mesh: Any) -> Any:
    """An array in parts, or whole in each process where it has no axis."""
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    placement = Shard(0) if array.ndim else Replicate()
    # Each process has the array and takes its part: gloo does not send all dtypes.
    return distribute_tensor(array, mesh, [placement], src_data_rank=None)


def _result_dtypes(result: Any) -> dict[str, Any]:
    """The dtypes of a result in one process."""
    from torch.distributed.tensor import DTensor

    if not isinstance(result, DTensor):
        return {"declared": result.dtype}
    dtypes = {"declared": result.dtype, "local": result.to_local().dtype}
    try:
        return {**dtypes, "whole": result.full_tensor().dtype}
    except RuntimeError as error:
        if _NOT_SENT in str(error):
            return dtypes
        raise


def _spread(told: Sequence[dict[str, Any]]) -> Spread:
    """The dtypes of a result, which each process has told."""
    names = {"declared": "declared by rank", "local": "rank", "whole": "gathered by rank"}
    parts = {
        f"{names[what]} {rank}": dtype
        for rank, dtypes in enumerate(told)
        for what, dtype in dtypes.items()
    }
    return Spread(parts.pop("declared by rank 0"), parts)


TRANSFORMATIONS: dict[str, Callable[[], Transformation]] = {
    "torch.compile": partial(_compile, "inductor"),
    "torch.compile:aot_eager": partial(_compile, "aot_eager"),
    "torch.compile:eager": partial(_compile, "eager"),
    "torch.export": _export,
    "onnx:onnxruntime": _onnx,
    "torch.jit.script": _script,
    "torch.jit.trace": _trace,
    "make_fx": _make_fx,
    "meta": _meta,
    "vmap": _vmap,
    "dtensor": _dtensor,
}
