"""The promotion modes that TensorFlow's RFC 431 proposes, by the RFC's own names."""

from __future__ import annotations

from enum import Enum


class ImplicitPromotion(str, Enum):
    """The modes of RFC 431: each is the name of a dialect, for `use` and `dialect=`.

    >>> import castwise as cw
    >>> with cw.use(cw.ImplicitPromotion.SAFE):
    ...     cw.promote_types("int8", "int16")
    int16
    """

    ALL = "tensorflow:all"
    SAFE = "tensorflow:safe"
    NONE = "tensorflow:none"
