"""The hook for pandas: a Series or DataFrame counts as its array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from castwise.auditing.hook import Arrays, Callables, Calls, Hook, OwnRules, Read, Spelling
from castwise.auditing.hooks.numpy import HOOK as NUMPY


class _Columns(tuple[Any, ...]):
    """The dtypes of columns that have several."""


def _read(frame: Any) -> Read:
    """Its dtype, or those of its columns, and its shape."""
    if frame.ndim == 1:
        return frame.dtype, frame.shape, False, None
    held = list(dict.fromkeys([block.dtype for block in frame._mgr.blocks]))
    return (held[0] if len(held) == 1 else _Columns(held)), frame.shape, False, None


def _own_names(dtype: Any) -> tuple[str, ...]:
    """pandas' names: of dtypes that NumPy does not have, and of columns that have several."""
    if type(dtype) is _Columns:
        return tuple(sorted(map(str, dtype)))
    return () if type(dtype).__module__.startswith("numpy") else (str(dtype),)


def _held(frame: Any) -> Iterator[Any]:
    """The arrays that own the memory of its columns."""
    for block in frame._mgr.blocks:
        owner = getattr(block.values, "base", None)
        yield block.values if owner is None else owner


HOOK = Hook(
    framework="pandas",
    rules=NUMPY.rules,
    related="numpy",
    arrays=Arrays(
        types="Series DataFrame", read=_read, held=_held, own_names=_own_names, rebinds=True
    ),
    callables=Callables(operands={"other": 1}),
    calls=Calls(
        casts="astype to_numeric convert_dtypes infer_objects to_datetime to_timedelta",
        makes="Series DataFrame read_csv read_parquet read_json read_excel read_sql read_pickle "
        "read_table concat merge get_dummies date_range",
        keeps=f"{NUMPY.calls.keeps} to_numpy to_list tolist head tail sample copy reset_index "
        "set_index reindex drop drop_duplicates dropna sort_values sort_index rename groupby loc "
        "iloc filter nlargest nsmallest rolling expanding resample pipe to_csv to_parquet to_dict "
        "iterrows items itertuples value_counts nunique duplicated isna notna isnull notnull keys "
        "pop insert assign query join pivot pivot_table melt stack unstack explode shift",
        mixes="describe rank align combine_first merge_asof",
    ),
    own_rules=OwnRules(
        dtype_words={"boolean": "bool", "double": "float64", "float": "float32",
                     "halffloat": "float16"},
        observes="reindex reindex_like align where mask concat merge join combine_first fillna "
        "ffill bfill shift to_numpy unstack pivot pivot_table map apply replace update interpolate "
        "diff",
    ),
    spelling=Spelling(
        names="numpy",
        alias="np",
        makes_without_dtype="DataFrame read_csv read_parquet read_json read_excel read_sql "
        "read_pickle read_table concat merge get_dummies date_range",
        dtypes=NUMPY.spelling.dtypes,
        takes_dtype_first="astype",
    ),
)  # fmt: skip
