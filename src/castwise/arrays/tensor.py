"""Tensor: an array of any backend that computes under a dialect's rules; and Variable, a tensor
that is assigned to and never changes its dtype."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from castwise.arrays import fast_path
from castwise.arrays.apply import (
    Prepared,
    apply_in_any_form,
    apply_op,
    apply_operator,
    computed,
    computed_several,
    fills,
    would_change,
)
from castwise.arrays.at import At
from castwise.arrays.backend import TakesConstants
from castwise.arrays.backends import backend_named
from castwise.arrays.calls import NoOperandError, common_backend, common_dialect, described, raw
from castwise.arrays.casting import cast_under
from castwise.arrays.data import array_and_kind
from castwise.arrays.elements import assign, raw_key, read_at
from castwise.arrays.fast_path import KnownResult, TracedState, context, remember_number
from castwise.arrays.kinds import (
    Kind,
    TensorData,
    as_constant_with,
    fitted,
    interned,
    refusal,
    truncated_dtype,
)
from castwise.arrays.methods import Methods, OpsAreNoMethods
from castwise.arrays.operators import ArrayObject, Gradients, InPlace
from castwise.catalog import DEFAULT, to_dialect
from castwise.engine.ask import answer
from castwise.engine.decision import Question
from castwise.engine.writes import check_assignment, check_casting
from castwise.errors import ArgumentError, ShapeError, UsageError, is_raw
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import value_class
from castwise.vocab.ops import op

Unary: TypeAlias = "Callable[[Any], Tensor]"
Binary: TypeAlias = "Callable[[Any, Any], Tensor]"

# The operators, fast for operands of kinds that were computed with before.

_NUMBERS = frozenset({bool, int, float, complex})
_new = object.__new__


def binary(op: str) -> Binary:
    """The operator of an op, such as `x + y`; fast if both are tensors of known kinds."""

    def operator(first: Any, second: Any) -> Any:
        if type(second) is Tensor:  # inlined, because one more call would be slower
            found = fast_path.known.get((op, context(), first._kind, second._kind))
            if found is not None:
                result = _new(Tensor)
                try:
                    result._array = found.run(first._array, second._array)
                except Exception as error:
                    if not is_raw(error):
                        raise
                    given = (first, second)
                    raise refusal(error, op, given, first.backend) from error
                result._kind = found.kind
                return result
        return _fast_operator(op, first, second)

    return operator


def reflected(op: str) -> Binary:
    """The operator of an op whose second operand is the tensor."""
    return lambda self, other: _fast_operator(op, other, self)


def unary(op: str) -> Unary:
    """The operator of an op with one operand."""
    return lambda self: apply_op(op, self, form="operator")


def _power(operator: Binary) -> Callable[..., Tensor]:
    """The operator `x ** y`, which Python also calls for pow(x, y, z)."""

    def power(self: Any, other: Any, modulo: Any = None) -> Tensor:
        if modulo is not None:
            raise TypeError("pow(x, y, z) is for Python's ints: write x**y % z.")
        return operator(self, other)

    return power


def _fast_operator(name: str, first: Any, second: Any) -> Any:
    """The result of a binary operator, fast for a tensor and a Python number."""
    key: tuple[object, ...]
    if type(first) is Tensor:
        if type(second) in _NUMBERS:
            # The text tells zeros apart, because 0.0 and -0.0 are equal.
            key = (name, context(), first._kind, type(second), second or str(second))
            known = fast_path.numbers.get(key)
            if known is not None:
                return _result_on_one_tensor(known, first)
            found = fast_path.known.get((name, context(), first._kind, value_class(second)))
            if found is not None:
                return _with_new_number(key, cast("Prepared", found), first, second, 1)
    elif type(second) is Tensor and type(first) in _NUMBERS:
        key = (name, context(), type(first), first or str(first), second._kind)
        known = fast_path.numbers.get(key)
        if known is not None:
            return _result_on_one_tensor(known, second)
        found = fast_path.known.get((name, context(), value_class(first), second._kind))
        if found is not None:
            return _with_new_number(key, cast("Prepared", found), second, first, 0)
    return apply_operator(name, first, second)


def _result_on_one_tensor(known: KnownResult, operand: Tensor) -> Tensor:
    """The result of a known computation on one tensor. No trace is notified: while one runs, there
    are no known computations."""
    result = _new(Tensor)
    result._array = known.run(operand._array)
    result._kind = known.kind
    return result


def _with_new_number(
    key: tuple[object, ...], prepared: Prepared, operand: Tensor, number: Any, place: int
) -> Tensor:
    """The result with a number of a known class, for which everything is decided. If it comes for
    the second time, it is cached in the form that the backend takes."""
    if key in fast_path.numbers:
        with_number = prepared.with_number(place, number)
        if with_number is not None:
            remember_number(key, with_number)
            return _result_on_one_tensor(with_number, operand)
    elif number == number and type(number) is not complex:
        remember_number(key, None)
    array = operand._array
    found = prepared.run(array, number) if place else prepared.run(number, array)
    return Tensor._of(found, prepared.kind)


class Operators(TensorData):
    """The operators of a tensor that give a new one, each in its operator form."""

    __slots__ = ()

    __add__ = binary("add")
    __sub__ = binary("sub")
    __mul__ = binary("mul")
    __truediv__ = binary("div")
    __floordiv__ = binary("floor_divide")
    __mod__ = binary("remainder")
    __pow__ = _power(binary("pow"))
    __matmul__ = binary("matmul")
    __and__ = binary("bitwise_and")
    __or__ = binary("bitwise_or")
    __xor__ = binary("bitwise_xor")
    __lshift__ = binary("bitwise_left_shift")
    __rshift__ = binary("bitwise_right_shift")

    __radd__ = reflected("add")
    __rsub__ = reflected("sub")
    __rmul__ = reflected("mul")
    __rtruediv__ = reflected("div")
    __rfloordiv__ = reflected("floor_divide")
    __rmod__ = reflected("remainder")
    __rpow__ = reflected("pow")
    __rmatmul__ = reflected("matmul")
    __rand__ = reflected("bitwise_and")
    __ror__ = reflected("bitwise_or")
    __rxor__ = reflected("bitwise_xor")
    __rlshift__ = reflected("bitwise_left_shift")
    __rrshift__ = reflected("bitwise_right_shift")

    __eq__ = binary("eq")  # type: ignore[assignment]
    __ne__ = binary("ne")  # type: ignore[assignment]
    __lt__ = binary("lt")
    __le__ = binary("le")
    __gt__ = binary("gt")
    __ge__ = binary("ge")
    __hash__ = None  # type: ignore[assignment]

    __neg__ = unary("neg")
    __pos__ = unary("positive")
    __abs__ = unary("abs")
    __invert__ = unary("bitwise_not")


class Tensor(Operators, InPlace, ArrayObject, Methods, Gradients, OpsAreNoMethods):
    """An array that computes under a dialect's rules.

    >>> t = asarray([1, 2, 3], dtype="int32", dialect="torch")
    >>> t + 5.5
    Tensor([6.5, 7.5, 8.5], dtype=float32, dialect=torch, backend=numpy)
    """

    __slots__ = ()

    def __init__(self, *arguments: object, **keywords: object) -> None:
        raise UsageError("make a tensor with cw.asarray(data, dtype=...).")

    @classmethod
    def _of(cls, array: Any, kind: Kind) -> Tensor:
        tensor = object.__new__(Tensor)
        tensor._array, tensor._kind = array, kind
        if fast_path.running:
            fast_path.made(tensor)
        return tensor

    def __repr__(self) -> str:
        kind, name = self._kind, type(self).__name__
        if kind.dtype is None:  # a library's placeholder for an array in a tree
            return f"{name}({self._array!r})"
        is_shown = kind.backend.is_concrete(self._array)
        values = _shown(self.numpy(), len(name)) if is_shown else f"shape={self.shape}"
        weak = ", weak" if kind.is_weak else ""
        return (
            f"{name}({values}, dtype={kind.dtype}{weak}, dialect={kind.current_dialect.name}, "
            f"backend={kind.backend.name})"
        )

    def under(self, dialect: str | Dialect | None) -> Tensor:
        """The same array under another dialect; None: that of the context."""
        chosen = None if dialect is None else to_dialect(dialect)
        is_weak = self._kind.is_weak and (chosen is None or chosen.has_weak_arrays)
        return Tensor._of(self._array, self._kind.with_(dialect=chosen, is_weak=is_weak))

    def astype(self, dtype: object, *, casting: str = "unsafe", copy: bool = True) -> Tensor:
        """The values in another dtype, by an explicit cast; `casting` is "no", "equiv", "safe",
        "same_kind" or "unsafe", as in NumPy.

        Raises UsageError if the backend has no such dtype, PromotionError if `casting` does not
        allow the cast.
        """
        kind = self._kind
        target = truncated_dtype(to_dtype(dtype), kind.current_dialect)
        check_casting(kind.dtype, target, casting, kind.current_dialect)
        if target is kind.dtype and not copy:
            return self
        rules = kind.current_dialect.values
        array = cast_under(rules, kind.backend, self._array, target, is_asked=True)
        return self._of(array, kind.with_(dtype=target, is_weak=False))

    cast = astype

    def __getitem__(self, key: Any) -> Tensor:
        found = as_constant_with(self, key if isinstance(key, tuple) else (key,))
        array = read_at(found._array, raw_key(key), found._kind)
        array, kind = fitted(array, found._kind)
        parts = key if isinstance(key, tuple) else (key,)
        is_view = bool(array.shape) or any([part is ... for part in parts])
        return Tensor._of(array, kind if is_view else kind.of_result(()))

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._keeps_dtype and self._changes_by_at():
            raise ArgumentError(
                f"arrays never change in {self._kind.current_dialect.name}, so x[i] = value is"
                " refused there: write x = x.at[i].set(value)."
            )
        if not self._keeps_dtype and self._kind.is_scalar and self._kind.has_scalars:
            raise ArgumentError(
                f"a result without dimensions is a scalar in {self._kind.current_dialect.name}, "
                "and x[i] = value is refused for it: write into an array, x = cw.asarray(x, "
                "copy=True)."
            )
        assign(self, key, value)

    @property
    def at(self) -> At:
        """`x.at[i].set(value)`: a new tensor with a value at an index; also `add`, `multiply` and
        others. Only in dialects whose framework has it."""
        if not self._changes_by_at():
            raise AttributeError(
                f"a Tensor has no attribute 'at' in {self._kind.current_dialect.name}: write "
                "x[i] = value."
            )
        return At(self)

    def _changes_by_at(self) -> bool:
        return self._kind.current_dialect.values.memory.assigned == "by at"

    def fill_(self, value: Any) -> Tensor:
        """The tensor itself, with every element set to a number or to the value of a 0-d tensor.

        Raises ScalarRangeError if the number is out of range for its dtype.
        """
        if getattr(value, "shape", ()):
            raise ShapeError("fill_ takes a number or a 0-d tensor: use x[...] = array for arrays.")
        assign(self, ..., value, is_filling=True)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        kind = self._kind
        return _restored, (type(self), kind.backend.name, self._array, kind.dtype, kind.is_weak,
                           kind.dialect, kind.home)  # fmt: skip


def _shown(values: Any, indent: int) -> str:
    """The values as NumPy prints them, with the shape if they do not show it."""
    inner = repr(values).partition("(")[2].rpartition(")")[0]
    text = re.split(r",\s+(?:shape|dtype)=", inner)[0] or str(values)
    is_cut = "..." in text or (values.size == 0 and values.ndim != 1)
    shape = f", shape={values.shape}" if is_cut else ""
    return text.replace("\n" + " " * 6, "\n" + " " * (indent + 1)) + shape


def _restored(
    cls: type[Tensor], backend: str, array: Any, dtype: DType, is_weak: bool,
    dialect: Dialect | None, home: str,
) -> Tensor:  # fmt: skip
    """The unpickled tensor."""
    tensor = object.__new__(cls)
    tensor._array = array
    kind = Kind(backend_named(backend), dtype, not array.shape, is_weak, dialect, home)
    tensor._kind = interned(kind)
    return tensor


# Tensors of data, and ops on operands of any kind.


def asarray(
    data: Any, *, dtype: object = None, dialect: str | Dialect | None = None,
    backend: str | None = None, copy: bool | None = None, device: Any = None, home: str = DEFAULT,
) -> Tensor:  # fmt: skip
    """A tensor of numbers, nested lists, an array of any backend or another tensor.

    `backend` defaults to that of the data, or NumPy. With `dialect` the tensor always computes
    under that dialect. Without it, the tensor follows `cw.use` and, outside of that, `home`, which
    is the dialect of the data's framework if the data is an array.

    >>> asarray([1, 2, 3], dtype="int8").dtype
    int8
    >>> asarray([1.5], dialect="torch").dtype
    float32

    Raises UsageError if the backend has no such dtype.
    """
    array, kind = array_and_kind(
        data, dtype=dtype, dialect=dialect, backend=backend, copy=copy, device=device, home=home
    )
    return Tensor._of(array, kind)


def apply(
    name: Any, *operands: Any, form: str | None = None, inplace: bool = False, out: Any = None,
    home: str = DEFAULT, **options: Any,
) -> Tensor:  # fmt: skip
    """The result of an op under the operands' dialect.

    The op is a name, a symbol such as "+", or a framework's own function such as `np.add`, which
    may be written: "np.add". They and `form` mean what they mean in `resolve`. With
    `inplace` the result is written into the first operand, with `out` into that tensor or array,
    both as the dialect's framework does it. The form "augmented" is `x += y`, which writes into the
    first operand or gives a new tensor. `alpha` is a factor for the second operand of add
    and sub. dtype, casting, rounding_mode and similar options work as in `resolve`. Other `options`
    are passed to the backend (axis, ...). `home` names the dialect to use if neither the operands
    nor `cw.use` do.

    >>> apply("fmax", asarray([1, 2]), 1.5)
    Tensor([1.5, 2. ], dtype=float64, dialect=numpy, backend=numpy)
    >>> total = asarray([0, 0], dtype="float32")
    >>> apply("add", asarray([1, 2], dtype="int8"), 1, out=total) is total
    True

    Raises PromotionError if the dialect refuses, UsageError if the operands cannot be
    combined.
    """
    return apply_in_any_form(  # type: ignore[no-any-return]
        Tensor._of, name, operands, form=form, inplace=inplace, out=out, home=home, **options
    )


def compute(name: str, *operands: Any, home: str = DEFAULT, **options: Any) -> Tensor:
    """The result of an op on any operands, of which none need be a tensor."""
    array, kind = computed(name, operands, "function", home, options)
    if type(kind) is tuple:
        return cast(Tensor, tuple(map(Tensor._of, array, kind)))  # of the one op that gives two
    return Tensor._of(array, kind)


def compute_several(
    name: str, *operands: Any, home: str = DEFAULT, **options: Any
) -> tuple[Tensor, ...]:
    """The results of `computed_several` on any operands."""
    return tuple([Tensor._of(*found) for found in computed_several(name, operands, home, options)])


def wrapped(array: Any, kind: Kind) -> Tensor:
    """What a backend returned, an array or a scalar, as a tensor of a kind."""
    return Tensor._of(*fitted(array, kind))


# Variables.

_RESULT_TYPE = op("result_type")
_ARRAY, _KIND = TensorData.__dict__["_array"], TensorData.__dict__["_kind"]


class Stateful(Tensor):
    """A tensor that is state of every graph it is traced in. Reads and writes there belong to the
    graph, and other threads and tasks see it unchanged."""

    __slots__ = ()

    @property
    def _array(self) -> Any:
        held = fast_path.held(self)
        return _ARRAY.__get__(self) if held is None else held.array

    @_array.setter
    def _array(self, array: Any) -> None:
        held = fast_path.held(self)
        if held is None:
            _ARRAY.__set__(self, array)
        else:
            held.array = array

    @property
    def _kind(self) -> Kind:
        held = fast_path.held(self)
        return _KIND.__get__(self) if held is None else held.kind

    @_kind.setter
    def _kind(self, kind: Kind) -> None:
        held = fast_path.held(self)
        if held is None:
            _KIND.__set__(self, kind)
        else:
            held.kind = kind


def outside(tensor: TensorData) -> TracedState:
    """The array and kind of a tensor outside of any trace."""
    return TracedState(_ARRAY.__get__(tensor), _KIND.__get__(tensor))


class Variable(Stateful):
    """A tensor whose values can be assigned; its dtype and shape stay fixed (RFC 431's constraint).

    >>> v = Variable([1.0, 2.0], dtype="float32", dialect="tensorflow:all")
    >>> v.assign_add(asarray([1, 2], dtype="int8"))
    Variable([2., 4.], dtype=float32, dialect=tensorflow:all, backend=numpy)
    """

    __slots__ = ()
    _keeps_dtype = True

    def __init__(
        self, data: Any, *, dtype: object = None, dialect: str | Dialect | None = None,
        backend: str | None = None,
    ) -> None:  # fmt: skip
        made = asarray(data, dtype=dtype, dialect=dialect, backend=backend, copy=True)
        _ARRAY.__set__(self, made._array)
        _KIND.__set__(self, made._kind)
        fast_path.made(self)

    def assign(self, value: Any) -> Variable:
        """Assigns new values, which must promote to the variable's dtype.

        Raises PromotionError if they do not, and UsageError if the shape does not fit.
        """
        if value is None or type(value) in (list, tuple):
            raise NoOperandError(value)
        fast_path.writing(self, value)
        dialect = common_dialect([t._kind for t in (self, value) if isinstance(t, Tensor)])
        seen = tuple([described(t, dialect, sees_values=False) for t in (self, value)])
        joined = answer(Question(_RESULT_TYPE, seen, dialect)).result
        if joined is not self.dtype:
            raise would_change(f"assigning {seen[1]}", self, joined)
        check_assignment(seen[1], self.dtype, dialect)
        backend = common_backend((self, value), seen)
        if seen[1].is_scalar:
            array = backend.number(value, self.dtype)
        else:
            array = raw(value, backend, seen[1])
            _check_shape(tuple(array.shape), self.shape)
            if not isinstance(backend, TakesConstants):  # a graph records that cast itself
                array = backend.cast(array, self.dtype)
        self._array = backend.write(self._array, ..., array)
        return self

    def assign_add(self, value: Any) -> Variable:
        """Adds in place.

        Raises PromotionError if the dialect refuses or the sum has another dtype.
        """
        self.add_(value)
        return self

    def assign_sub(self, value: Any) -> Variable:
        """Subtracts in place.

        Raises PromotionError if the dialect refuses or the difference has another dtype.
        """
        self.sub_(value)
        return self


def stand_in(array: Any, kind: Kind) -> Variable:
    """A variable for the given array itself."""
    variable = object.__new__(Variable)
    _ARRAY.__set__(variable, array)
    _KIND.__set__(variable, kind)
    return variable


def _check_shape(given: tuple[int, ...], held: tuple[int, ...]) -> None:
    """Raises UsageError if values of a shape do not fit a variable of another shape."""
    if not fills(given, held):
        raise UsageError(
            f"values of shape {given} do not fit a variable of shape {held}, which keeps its "
            "shape: reshape them, or make another variable."
        )
