"""The hooks for NumPy, for its masked arrays, and for CuPy, which has its functions on the GPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from castwise.auditing.hook import Arrays, Callables, Calls, Hook, Inside, Read, Spelling

# The ufuncs whose method at, as in np.add.at(sums, indices, values), writes to its first array.
_UNBUFFERED = "add subtract multiply divide true_divide maximum minimum fmax fmin logaddexp"


def _read(array: Any) -> Read:
    shape = array.shape
    if shape:
        return array.dtype, shape, False, None
    dtype = array.dtype
    return dtype, shape, False, array.item() if dtype.kind in "biufc" else None


def _values(array: Any) -> list[float]:
    """The values of an array; the real parts, then the imaginary parts, if complex."""
    flat = array.ravel()
    if flat.dtype.kind == "c":
        return [*flat.real.tolist(), *flat.imag.tolist()]
    return flat.astype("float64").tolist() if flat.dtype.kind in "biuf" else []


def _held_values(array: Any) -> Any:
    """The array itself; a matrix has operators of its own."""
    return None if type(array).__name__ == "matrix" else array


HOOK = Hook(
    framework="numpy",
    rules="numpy",
    modules="ml_dtypes",
    is_guest=True,
    arrays=Arrays(
        types="ndarray memmap matrix", scalars="generic", owner="base",
        read=_read, values=_values, held_values=_held_values,
    ),
    callables=Callables(
        types="ufunc _ArrayFunctionDispatcher",
        random="numpy.random",
        operands={"x1": 0, "x2": 1, "a": 0, "b": 1, "x": 0, "y": 1, "a_min": 1, "a_max": 2,
                  "min": 1, "max": 2, "arrays": 0, "condition": 0},
    ),
    calls=Calls(
        value_casts="astype array asarray asanyarray ascontiguousarray",
        casts="astype view asarray_chkfinite frombuffer fromstring",
        makes="array asarray asanyarray ascontiguousarray zeros ones empty full zeros_like "
        "ones_like empty_like full_like arange linspace logspace geomspace eye identity tri "
        "fromfunction fromiter loadtxt genfromtxt load fromfile random rand randn standard_normal "
        "normal uniform random_sample integers randint choice permutation hanning hamming blackman "
        "bartlett kaiser fftfreq rfftfreq tril triu diag meshgrid mgrid indices",
        keeps="reshape transpose ravel flatten copy squeeze swapaxes moveaxis expand_dims "
        "broadcast_to take compress repeat tile roll flip fliplr flipud rot90 sort argsort "
        "partition argpartition searchsorted nonzero flatnonzero unique split array_split hsplit "
        "vsplit dsplit atleast_1d atleast_2d atleast_3d diagonal trace item tolist tobytes fill "
        "put resize pad shape ndim size isclose array_equal save savez savez_compressed savetxt "
        "may_share_memory shares_memory ascontiguousarray delete extract shuffle isin argwhere",
        like={
            "sin": "cos tan sinh cosh arcsin arccos arctan arcsinh arccosh arctanh acos acosh asin "
            "asinh atan atanh log10 log2 log1p exp2 expm1 radians degrees deg2rad rad2deg",
            "concat": "vstack hstack dstack column_stack row_stack append block",
            "dot": "vdot tensordot",
            "floor_divide": "divmod",
            "mean": "nanmean average",
            "std": "nanstd nanvar",
            "sum": "nansum nanprod nancumsum nancumprod",
            "max": "nanmax nanmin ptp",
            "median": "nanmedian percentile quantile nanpercentile nanquantile",
        },
        becomes_array="concat",
        indices="argsort argpartition searchsorted nonzero flatnonzero argwhere argmax argmin "
        "nanargmax nanargmin bincount digitize count_nonzero lexsort",
        mixes="broadcast_arrays ix_ digitize lexsort put_along_axis array2string array_str "
        "array_repr nditer",
        writes={"full_like": (0, 1, "fill_value"), "copyto": (0, 1, "src"), "fill": (0, 1, "value"),
                "put": (0, 2, "v"), "place": (0, 2, "vals"), "putmask": (0, 2, "values"),
                "fill_diagonal": (0, 1, "val"),
                **{f"{ufunc}.at": (0, 2, "b") for ufunc in _UNBUFFERED.split()}},
        writes_all="copyto fill full_like",
        files="load fromfile genfromtxt loadtxt",
    ),
    spelling=Spelling(
        names="numpy",
        alias="np",
        # A random number of another dtype is another number.
        makes_without_dtype="load random standard_normal integers randint rand randn normal "
        "uniform random_sample choice permutation hanning hamming blackman bartlett kaiser fftfreq "
        "rfftfreq tril triu diag meshgrid indices",
        dtypes="float16 float32 float64 complex64 complex128",
        dtype_places={"array": 1, "asarray": 1, "asanyarray": 1, "ascontiguousarray": 1, "zeros": 1,
                      "ones": 1, "empty": 1, "full": 2, "zeros_like": 1, "ones_like": 1,
                      "empty_like": 1, "full_like": 2, "arange": 3, "linspace": 5, "logspace": 5,
                      "geomspace": 4, "eye": 3, "identity": 1, "tri": 3, "fromiter": 1,
                      "loadtxt": 1, "genfromtxt": 1, "fromfile": 1},
        takes_dtype_first="astype",
        takes_dtype="mean std var sum prod cumsum cumprod nanmean nanstd nanvar add subtract "
        "multiply divide true_divide power sqrt exp log sin tanh square reciprocal hypot arctan2 "
        "maximum minimum clip concatenate stack",
        functions={"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "**": "power",
                   "//": "floor_divide", "%": "remainder"},
    ),
    inside=Inside(
        dtype_errors=(
            r"Cannot cast ufunc", r"not supported for the input types", r"out of bounds for u?int",
            r"Cannot cast array data", r"numpy boolean", r"arrays used as indices must be",
        ),
        # Only a float16 sum over the last axis is computed in float32.
        rounds_sums="cumsum cumprod sum prod trace",
    ),
)  # fmt: skip

# Most operations of masked arrays make an array of a Python number, so the number does not adapt to
# the array.
MASKED = replace(
    HOOK,
    framework="numpy.ma",
    modules="",
    related="numpy",
    is_guest=False,
    arrays=replace(HOOK.arrays, types="MaskedArray MaskedConstant", scalars=""),
    callables=replace(
        HOOK.callables,
        random="",
        types="_MaskedBinaryOperation _MaskedUnaryOperation _DomainedOperation _MaskedUFunc "
        "_extrema_operation _frommethod",
    ),
    calls=replace(
        HOOK.calls,
        makes=f"{HOOK.calls.makes} MaskedArray masked_array masked_all masked_all_like",
        keeps=f"{HOOK.calls.keeps} filled compressed masked_where masked_invalid masked_equal "
        "masked_not_equal masked_greater masked_less masked_inside masked_outside masked_values "
        "masked_object fix_invalid getmask getmaskarray getdata is_masked is_mask make_mask count "
        "harden_mask soften_mask set_fill_value default_fill_value mask_or mask_rows mask_cols "
        "compress_rows compress_cols",
        becomes_array="add sub mul div floor_divide pow eq ne lt le gt ge maximum minimum where "
        "atan2 hypot",
        unlike="mean std var average median anom",
    ),
    spelling=replace(HOOK.spelling, takes_dtype="", functions={}),
)

CUPY = Hook(
    framework="cupy",
    rules=HOOK.rules,
    related="numpy",
    arrays=Arrays(types="ndarray", owner="base"),
    callables=Callables(types="ufunc", operands=HOOK.callables.operands),
    calls=Calls(
        casts=HOOK.calls.casts,
        makes=HOOK.calls.makes,
        keeps=f"{HOOK.calls.keeps} get set asnumpy toDlpack",
        like=HOOK.calls.like,
    ),
    spelling=replace(HOOK.spelling, names="cupy", alias="cp"),
)
