"""A lattice in a notebook and as a page."""

from __future__ import annotations

from castwise.compare.lattice import LatticeData
from castwise.report.lattice.svg import lattice_svg
from castwise.report.look.card import card, faint, picture
from castwise.report.look.page import page


def lattice_card(lattice: LatticeData) -> str:
    """The picture of a lattice, which has its title inside."""
    return card("", picture(lattice_svg(lattice)))


def lattice_html(lattice: LatticeData) -> str:
    """The picture as a page, below what the dialect is."""
    return page(lattice.dialect.name, faint(lattice.dialect.about), picture(lattice_svg(lattice)))
