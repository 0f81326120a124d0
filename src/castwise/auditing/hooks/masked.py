"""The hook for NumPy's masked arrays. Most of their operations make an array of a Python number, so
the number does not adapt to the array."""

from __future__ import annotations

from dataclasses import replace

from castwise.auditing.hooks.numpy import HOOK as NUMPY

HOOK = replace(
    NUMPY,
    framework="numpy.ma",
    modules="",
    related="numpy",
    is_guest=False,
    arrays=replace(NUMPY.arrays, types="MaskedArray MaskedConstant", scalars=""),
    callables=replace(
        NUMPY.callables,
        random="",
        types="_MaskedBinaryOperation _MaskedUnaryOperation _DomainedOperation _MaskedUFunc "
        "_extrema_operation _frommethod",
    ),
    calls=replace(
        NUMPY.calls,
        makes=f"{NUMPY.calls.makes} MaskedArray masked_array masked_all masked_all_like",
        keeps=f"{NUMPY.calls.keeps} filled compressed masked_where masked_invalid masked_equal "
        "masked_not_equal masked_greater masked_less masked_inside masked_outside masked_values "
        "masked_object fix_invalid getmask getmaskarray getdata is_masked is_mask make_mask count "
        "harden_mask soften_mask set_fill_value default_fill_value mask_or mask_rows mask_cols "
        "compress_rows compress_cols",
        becomes_array="add sub mul div floor_divide pow eq ne lt le gt ge maximum minimum where "
        "atan2 hypot",
        unlike="mean std var average median anom",
    ),
    spelling=replace(NUMPY.spelling, takes_dtype="", functions={}),
)
