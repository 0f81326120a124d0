"""The heat map, in a notebook and as a page."""

from __future__ import annotations

from castwise.compare.distances import DistancesData
from castwise.report.distances.svg import distances_svg
from castwise.report.look.card import card, picture
from castwise.report.look.page import page


def distances_card(found: DistancesData) -> str:
    """The picture of the distances, which has its title inside."""
    return card("", picture(distances_svg(found)))


def distances_html(found: DistancesData) -> str:
    """The picture as a page, with the exact numbers as tooltips."""
    return page("All dialects side by side", picture(distances_svg(found)))
