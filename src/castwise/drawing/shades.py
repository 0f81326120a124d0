"""The colours of pages and pictures: one hue per kind of dtype, darker for wider dtypes."""

from __future__ import annotations

import colorsys
import math

from castwise.vocab.dtypes import DType

_HUES = {"bool": 285, "int": 210, "float": 140, "complex": 30}
REFUSED = "#f4f4f5"
INK = "#18181b"
FAINT = "#6b6b74"  # of pages, too


def shade(dtype: DType) -> str:
    """The background of a dtype, light enough for dark text.

    >>> from castwise.vocab.dtypes import dtype
    >>> shade(dtype("int8")), shade(dtype("int64"))
    ('#bbd4ec', '#8cbbea')
    """
    bits = 8 if dtype.is_weak else dtype.part.bits  # complex64 is as dark as float32
    depth = math.log2(min(max(8, bits), 64))  # darker than int64 is hard to read in dark mode
    lightness, saturation = 0.93 - 0.033 * depth, 0.45 + 0.04 * depth
    rgb = colorsys.hls_to_rgb(_HUES[dtype.kind] / 360, lightness, saturation)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in rgb)
