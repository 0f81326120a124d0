"""All methods of a tensor except operators and in-place methods."""

from __future__ import annotations

from castwise.execute.methods.casts import Casts
from castwise.execute.methods.computing import Computing
from castwise.execute.methods.conversions import Conversions
from castwise.execute.methods.layout import Layout
from castwise.execute.methods.pairs import Pairs
from castwise.execute.methods.reductions import Reductions
from castwise.execute.methods.selecting import Selecting
from castwise.execute.methods.unary import Unary


class Methods(Unary, Pairs, Reductions, Computing, Layout, Selecting, Conversions, Casts):
    """The methods of a tensor, with the names that they have in several frameworks."""

    __slots__ = ()
