"""The positions of dtypes in a lattice's picture: layers by kind and width, few crossings.

This is Sugiyama's method. Boxes get layers, and an arrow gets a lane in each layer that it passes.
The layers are ordered so that few arrows cross, then shifted so that arrows run straight. A lane
takes up room like a box, so no arrow runs across a label.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from castwise.compare.lattice import LatticeData
from castwise.vocab.dtypes import DType

_SWEEPS = 24
_STRAIGHT = 8  # the weight of straight arrows within a family or a lane; others have weight 1


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A place in a layer: a box of dtypes, or a lane where arrows to a box pass by."""

    layer: int
    dtypes: tuple[DType, ...] = ()  # empty in a lane


class Segment(NamedTuple):
    """A piece of an arrow, from one layer to the next above it."""

    lower: Spot
    upper: Spot
    goes_on: bool


Layers = list[list[Spot]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The spots of each layer from the left, the lowest layer first, and what connects them."""

    layers: Layers
    segments: tuple[Segment, ...]
    middles: dict[Spot, float]  # the x of each spot's middle


def layout_of(lattice: LatticeData, widths: dict[tuple[DType, ...], float], lane: float) -> Layout:
    """The layout of a lattice, given the width of each group of twins and of a lane."""
    levels = _levels(lattice)
    boxes = [Spot(levels[group], group) for group in lattice.twins]
    segments = _segments(lattice, boxes)
    spots = list(dict.fromkeys([*boxes, *(end for s in segments for end in (s.lower, s.upper))]))
    layers: Layers = [[] for _ in set(levels.values())]
    for spot in sorted(spots, key=_side):
        layers[spot.layer].append(spot)
    ordered = _untangled(layers, segments)
    rooms = {spot: widths.get(spot.dtypes, lane) for spot in spots}
    return Layout(ordered, segments, _middles(ordered, segments, rooms))


def _levels(lattice: LatticeData) -> dict[tuple[DType, ...], int]:
    """The layer of each group of twins: by kind, then by width, and above all that reaches it.

    Weak nodes come first in their kind. Complex dtypes are next to the floats of their width.
    """
    classes: dict[tuple[int, int], list[DType]] = {}
    for node in lattice.nodes:
        classes.setdefault((min(node.rank, 2), 0 if node.is_weak else node.bits), []).append(node)
    levels: dict[DType, int] = {}
    floor = 0
    for _, members in sorted(classes.items()):
        _lift(lattice, members, levels, floor)
        floor = 1 + max([levels[n] for n in levels if n.kind != "complex"], default=-1)
    _lift(lattice, lattice.nodes, levels, 0)  # also above wider ones that reach it
    for node in [n for n in lattice.nodes if n.is_weak]:
        if not any(e.target is node for e in lattice.edges):  # nothing keeps it down there
            levels[node] = min(levels[e.target] for e in lattice.edges if e.source is node) - 1
    of_twins = {group: max(levels[node] for node in group) for group in lattice.twins}
    places = {level: place for place, level in enumerate(sorted(set(of_twins.values())))}
    return {group: places[level] for group, level in of_twins.items()}


def _lift(
    lattice: LatticeData, nodes: Iterable[DType], levels: dict[DType, int], floor: int
) -> None:
    """Puts nodes at a floor at least, and above all that reaches them."""
    for node in nodes:  # in the dialect's order, where sources come before targets
        below = [levels.get(e.source, -1) for e in lattice.edges if e.target is node]
        levels[node] = max(levels.get(node, floor), *(level + 1 for level in [-1, *below]))


def _segments(lattice: LatticeData, boxes: list[Spot]) -> tuple[Segment, ...]:
    """The pieces of all arrows; arrows to one box share their lanes."""
    box_of = {node: box for box in boxes for node in box.dtypes}
    lanes: dict[tuple[Spot, bool, int], Spot] = {}
    segments: dict[Segment, None] = {}
    for source, target, goes_on in lattice.edges:
        below, end = box_of[source], box_of[target]
        for layer in range(below.layer + 1, end.layer):
            lane = lanes.setdefault((end, goes_on, layer), Spot(layer))
            segments[Segment(below, lane, goes_on)] = None
            below = lane
        segments[Segment(below, end, goes_on)] = None
    return tuple(segments)


def _side(spot: Spot) -> tuple[int, bool]:
    """The side a spot starts on before untangling: unsigned left of signed, lanes right."""
    return (spot.dtypes[0].rank, spot.dtypes[0].is_signed) if spot.dtypes else (4, False)


def _untangled(layers: Layers, segments: tuple[Segment, ...]) -> Layers:
    """The layers in the order with the fewest crossings that sweeps up and down find."""
    best, fewest = layers, _crossings(layers, segments)
    for sweep in range(_SWEEPS):
        goes_up = sweep % 2 == 0
        layers = [list(layer) for layer in layers]
        for layer in layers if goes_up else reversed(layers):
            places = {spot: place for row in layers for place, spot in enumerate(row)}
            ends = {s: _ends(s, segments, goes_up) for s in layer}
            layer.sort(key=lambda s: _mean([places[e] for e in ends[s]], places[s]))
        crossings = _crossings(layers, segments)
        if crossings < fewest:
            best, fewest = layers, crossings
    return best


def _ends(spot: Spot, segments: tuple[Segment, ...], below: bool) -> list[Spot]:
    """What the segments of a spot lead to below it, or above it."""
    if below:
        return [s.lower for s in segments if s.upper is spot]
    return [s.upper for s in segments if s.lower is spot]


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(layers: Layers, segments: tuple[Segment, ...]) -> int:
    places = {spot: place for row in layers for place, spot in enumerate(row)}
    by_layer: dict[int, list[tuple[int, int]]] = {}
    for lower, upper, _ in segments:
        by_layer.setdefault(lower.layer, []).append((places[lower], places[upper]))
    return sum(
        (a[0] - b[0]) * (a[1] - b[1]) < 0
        for ends in by_layer.values()
        for a, b in combinations(ends, 2)
    )


def _middles(
    layers: Layers, segments: tuple[Segment, ...], rooms: dict[Spot, float]
) -> dict[Spot, float]:
    """The x of each spot: near what it is connected to, without overlaps in its layer."""
    middles = dict.fromkeys(rooms, 0.0)
    near = {s: [*_ends(s, segments, True), *_ends(s, segments, False)] for s in rooms}
    pulls = {s: [_STRAIGHT if _family(s) == _family(e) else 1 for e in near[s]] for s in rooms}
    for sweep in range(4 * _SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = [
                sum(pull * middles[end] for pull, end in zip(pulls[s], near[s], strict=True))
                / (sum(pulls[s]) or 1)
                for s in layer
            ]
            weights = [sum(pulls[spot]) or 1 for spot in layer]
            placed = _apart(wanted, weights, [rooms[spot] for spot in layer])
            middles.update(zip(layer, placed, strict=True))
    return middles


def _family(spot: Spot) -> tuple[str, bool] | None:
    """The family that shares a column if possible: the signed integers, or the spots of a lane."""
    return (spot.dtypes[0].kind, spot.dtypes[0].is_signed) if spot.dtypes else None


def _apart(wanted: list[float], weights: list[int], rooms: list[float]) -> list[float]:
    """The positions nearest to the wanted ones that keep the order and do not overlap.

    With the widths taken out, this is isotonic regression: neighbours that would overlap are
    pooled, and placed side by side around the mean of their wanted positions.
    """
    offsets = [sum(rooms[:place]) + rooms[place] / 2 for place in range(len(rooms))]
    pools: list[tuple[float, int, int]] = []  # mean, weight, members
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, members = want - offset, 1
        while pools and pools[-1][0] > mean:
            left, heavy, count = pools.pop()
            mean = (left * heavy + mean * weight) / (heavy + weight)
            weight, members = heavy + weight, count + members
        pools.append((mean, weight, members))
    means = [mean for mean, _, members in pools for _ in range(members)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
