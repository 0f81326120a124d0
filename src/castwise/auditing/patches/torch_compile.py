"""Lets torch.compile compile the original code, without observers.

Where the audit compares compiled functions, it also runs each graph without the compiler.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

from castwise.auditing.calls import rewritten_files
from castwise.auditing.log import LOG, users_frame
from castwise.auditing.observers import OBSERVERS
from castwise.auditing.patches.originals import compiled_code
from castwise.auditing.records import ComparedCompilation, CompiledDifference
from castwise.auditing.rewriting import full_path
from castwise.auditing.saved import dtype_name

_COMPILER = "torch.compile"


def compile_originals(convert_frame: Any) -> None:
    """Gives the compiler a frame's original code, and leaves the observers uncompiled."""
    plain = convert_frame._compile
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def compile_original(code: CodeType, *arguments: Any, **options: Any) -> Any:
        original = compiled_code(code, _COMPILER)
        if not LOG.compares:
            return plain(original, *arguments, **options)
        given = signature.bind(original, *arguments, **options)
        given.arguments["compiler_fn"] = _compared(given.arguments["compiler_fn"], original)
        try:
            return plain(*given.args, **given.kwargs)
        except Exception as error:
            _note_refusal_by_tracing(error, original)
            raise

    convert_frame._compile = compile_original
    observers = [getattr(o, "__code__", None) for o in OBSERVERS.values()]
    leave_to_python(code for code in observers if code is not None)


def inline_originals(functions: Any) -> None:
    """Gives the compiler the original code of an inlined function."""
    function_variable = functions.UserFunctionVariable
    plain = function_variable.get_code

    @functools.wraps(plain)
    def get_code(variable: Any) -> CodeType:
        return compiled_code(plain(variable), _COMPILER)

    function_variable.get_code = get_code


def leave_to_python(codes: Iterable[CodeType]) -> None:
    """Makes torch's compiler skip functions and everything they call."""
    frames = sys.modules["torch"]._C._dynamo.eval_frame
    if not hasattr(frames, "set_code_exec_strategy"):
        return  # this torch has no such function
    skip = frames._FrameAction.SKIP
    for code in codes:
        frames.set_code_exec_strategy(code, frames._FrameExecStrategy(skip, skip))


# Runs the graphs that torch.compile makes without the compiler too, on the same inputs.

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


class _Plain(NamedTuple):
    """What a graph gives by itself: the dtypes of its results, "" for one that is no tensor; or
    the node that raised, and its error."""

    dtypes: list[str]
    raised_at: Any = None
    error: str = ""


def _compared(backend: Callable[..., Any], code: CodeType) -> Callable[..., Any]:
    """A backend that also runs each graph as it is, and notes where the two differ."""

    @functools.wraps(backend)
    def compile_graph(graph: Any, inputs: Sequence[Any], *more: Any, **options: Any) -> Any:
        plain = _run(graph, inputs)
        try:
            compiled = backend(graph, inputs, *more, **options)
        except Exception as error:
            if plain is not None:
                _note(code, _refused(graph, plain, error))
            raise
        return compiled if plain is None else _checked(compiled, code, graph, plain)

    return compile_graph


def _note_refusal_by_tracing(error: Exception, code: CodeType) -> None:
    """Notes a call that raised an error only because it was traced. The call itself is tried with
    tensors of the same dtypes and shapes."""
    try:
        found = _traced_call(error)
        if found is None:
            return
        node, call = found
        try:
            with _without_warnings():
                result = call()
        except Exception:
            _note(code, [])  # the call itself raises, too
            return
        first: BaseException = error
        while first.__cause__ or first.__context__:
            first = first.__cause__ or first.__context__  # type: ignore[assignment]
        place = _place(node)
        called, why = _called_name(node), _error_line(first)
        _note(code, [CompiledDifference(called, _dtype(result), "", *place, why)])
    except Exception as own:
        LOG.failed(own)


def _run(graph: Any, inputs: Sequence[Any]) -> _Plain | None:
    """Runs a graph on copies of its inputs, with the same random numbers; None if castwise
    cannot."""
    torch = sys.modules["torch"]
    utils = sys.modules["torch._dynamo.utils"]
    try:  # a graph may draw random numbers, write to its inputs and switch gradients
        restore = utils.checkpoint_params(graph)
        copies = utils.clone_inputs(inputs)
    except Exception as error:
        LOG.failed(error)
        return None
    current: list[Any] = [None]

    class Interpreter(torch.fx.Interpreter):  # type: ignore[misc, name-defined]
        def run_node(self, node: Any) -> Any:
            current[0] = node
            return super().run_node(node)

    interpreter = Interpreter(graph)
    interpreter.extra_traceback = False  # it would change the error's text
    try:
        with torch.set_grad_enabled(torch.is_grad_enabled()), _without_warnings():
            return _Plain([_dtype(result) for result in interpreter.run(*copies)])
    except Exception as error:
        return _Plain([], current[0], _error_line(error))
    finally:
        restore()


def _checked(compiled: Any, code: CodeType, graph: Any, plain: _Plain) -> Callable[..., Any]:
    """A compiled graph that compares its results the first time."""
    is_new = True

    @functools.wraps(compiled)
    def run(*inputs: Any, **options: Any) -> Any:
        nonlocal is_new
        results = compiled(*inputs, **options)
        if is_new:
            is_new = False
            try:
                _note(code, list(_differences(graph, plain, results)))
            except Exception as error:
                LOG.failed(error)
        return results

    return run


def _differences(graph: Any, plain: _Plain, results: Sequence[Any]) -> Iterator[CompiledDifference]:
    if plain.raised_at is not None:
        dtypes = _listed(map(_dtype, results))
        node = plain.raised_at
        yield CompiledDifference(_called_name(node), "", dtypes, *_place(node), plain.error)
        return
    for node, dtype, result in zip(_result_nodes(graph), plain.dtypes, results, strict=False):
        if dtype != _dtype(result):
            yield CompiledDifference(_called_name(node), dtype, _dtype(result), *_place(node))


def _refused(graph: Any, plain: _Plain, error: Exception) -> list[CompiledDifference]:
    """What a backend refuses and the graph itself does not."""
    if plain.raised_at is not None:
        return []
    nodes = _result_nodes(graph)
    where = _place(nodes[0]) if nodes else ("", 0)
    return [CompiledDifference("the graph", _listed(plain.dtypes), "", *where, _error_line(error))]


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _result_nodes(graph: Any) -> list[Any]:
    """The nodes whose values a graph returns."""
    (output,) = [node for node in graph.graph.nodes if node.op == "output"]
    return list(output.args[0])


def _traced_call(error: Exception) -> tuple[Any, Callable[[], Any]] | None:
    """The node that could not be traced, and its call with real tensors; None if an error is about
    something else."""
    cause: BaseException | None = error
    while cause is not None:
        for frame, _ in traceback.walk_tb(cause.__traceback__):
            if frame.f_code.co_name == "run_node" and "torch/_dynamo" in frame.f_code.co_filename:
                held = frame.f_locals
                node = held["node"]
                return node, functools.partial(_call, node, held["args"], held["kwargs"])
        cause = cause.__cause__ or cause.__context__
    return None


def _call(node: Any, args: Any, kwargs: Any) -> Any:
    """Makes the call of a node, with tensors of ones in place of those that have no values."""
    torch = sys.modules["torch"]

    def real(thing: Any) -> Any:
        if not isinstance(thing, torch.Tensor):
            return thing
        return torch.ones(tuple(map(int, thing.shape)), dtype=thing.dtype, device=thing.device)

    args, kwargs = sys.modules["torch.utils._pytree"].tree_map(real, (args, kwargs))
    if node.op == "call_method":
        return getattr(args[0], node.target)(*args[1:], **kwargs)
    return node.target(*args, **kwargs)


def _note(code: CodeType, differences: Sequence[CompiledDifference]) -> None:
    if code.co_filename in rewritten_files:
        where = code.co_name, full_path(code.co_filename), code.co_firstlineno
    else:  # a module's own code is torch's: the line of the program that calls it
        frame = users_frame(sys._getframe())
        called = (full_path(frame.f_code.co_filename), frame.f_lineno or 0) if frame else ("", 0)
        where = "", *called
    LOG.compared.append(ComparedCompilation(_COMPILER, *where, tuple(differences)))


def _called_name(node: Any) -> str:
    """What a node calls, as a program writes it."""
    return node.target if isinstance(node.target, str) else node.target.__name__


def _place(node: Any) -> tuple[str, int]:
    """The innermost line of an audited file that a node comes from; "" and 0 where all of it is a
    library's."""
    frames = _FRAME.findall(node.stack_trace or "")
    ours = [frame for frame in frames if frame[0] in rewritten_files]
    return (full_path(ours[-1][0]), int(ours[-1][1])) if ours else ("", 0)


def _dtype(thing: Any) -> str:
    dtype = getattr(thing, "dtype", None)
    return "" if dtype is None else dtype_name(dtype) or str(dtype)


def _listed(dtypes: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, dtypes)))


def _error_line(error: BaseException) -> str:
    """The first line of an error; of its cause, where a compiler wraps it."""
    cause = error.__cause__ or error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return f"{type(cause).__name__}: {lines[0]}"[:300] if lines else type(cause).__name__
