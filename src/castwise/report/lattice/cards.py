"""A lattice in a notebook."""

from __future__ import annotations

from castwise.compare.lattice import LatticeData
from castwise.report.lattice.svg import lattice_svg
from castwise.report.look.card import card, picture


def lattice_card(lattice: LatticeData) -> str:
    """The picture of a lattice, which has its title inside."""
    return card("", picture(lattice_svg(lattice)))
