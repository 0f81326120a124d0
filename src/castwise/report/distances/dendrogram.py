"""The tree of a clustering, beside the rows of a heat map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from castwise.compare.clustering import Cluster, Merge
from castwise.report.amounts import percent

TREE_WIDTH = 120
_ROOT = 100  # from the leaves to the last merge
_LEAST = 3  # so that dialects that do not differ are joined, too
_LINE = "#8e8e98"


def dendrogram(tree: Cluster, left: float, middles: Mapping[str, float]) -> Iterator[str]:
    """The lines of a tree that grows to the right, from leaves at the given heights."""
    if not isinstance(tree, Merge):
        return
    yield f'<g fill="none" stroke="{_LINE}" stroke-width="1.3">'
    yield from _Lines(left, _ROOT / (tree.height or 1), middles).of(tree)
    yield "</g>"


class _Lines:
    def __init__(self, left: float, scale: float, middles: Mapping[str, float]) -> None:
        self._left = left
        self._scale = scale
        self._middles = middles

    def of(self, merge: Merge) -> Iterator[str]:
        """Two branches and the line that joins them, after the lines inside the branches."""
        for side in (merge.first, merge.second):
            if isinstance(side, Merge):
                yield from self.of(side)
        x = self._x(merge)
        (start, top), (end, bottom) = map(self._end, (merge.first, merge.second))
        yield (
            f'<path d="M{start:.1f} {top:.1f}H{x:.1f}V{bottom:.1f}H{end:.1f}">'
            f"<title>{percent(merge.height)} % apart on average</title></path>"
        )

    def _x(self, cluster: Cluster) -> float:
        if not isinstance(cluster, Merge):
            return self._left
        inside = max(self._x(cluster.first), self._x(cluster.second))
        return max(self._left + self._scale * cluster.height, inside + _LEAST)

    def _end(self, cluster: Cluster) -> tuple[float, float]:
        """Where a cluster's line to the right starts."""
        if not isinstance(cluster, Merge):
            return self._left, self._middles[cluster]
        above, below = self._end(cluster.first)[1], self._end(cluster.second)[1]
        return self._x(cluster), (above + below) / 2
