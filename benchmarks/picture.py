"""Draws what cpu_pairs.py and gpu.py measured: the share of a copy's bandwidth by pair and system.

    python benchmarks/picture.py [--cpu FILE] [--gpu FILE] [--to FOLDER]

It reads their JSON and writes kernels-light.svg and kernels-dark.svg. A file that does not exist
leaves out its part. A full dot or bar has the bits of castwise without kernels; an empty one has
others. Dots above 200% stand at the top; their titles have the number.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
from pathlib import Path
from typing import Any, NamedTuple

from castwise.drawing import svg_box, svg_document, svg_text

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
WIDTH, LEFT, RIGHT = 800, 52, 132
HEIGHT_OF_PLOT = 190
DIALECT = "torch"
ORDER = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
         "float64")  # fmt: skip
MOST = 2.0  # shares above it are drawn there
BITS = {True: "same bits", False: "other bits", None: "bits not compared"}
BELOW = (
    "Each dot is a + b of two dtypes, by the dtype of the result. 100%: bytes moved as fast as by a"
    " copy.",
    "At the right the medians. A full dot has the same bits as the ops without kernels.",
)
Row = dict[str, Any]


class Look(NamedTuple):
    """The colours of a scheme."""

    background: str
    ink: str
    faint: str
    line: str
    castwise: str
    torch: str
    numpy: str


LOOKS = {
    "light": Look("#ffffff", "#18181b", "#71717a", "#e4e4e7", "#2563eb", "#ea580c", "#a1a1aa"),
    "dark": Look("#0d1117", "#f0f6fc", "#9198a1", "#30363d", "#60a5fa", "#fb923c", "#6e7681"),
}


class Canvas:
    """The picture while it is drawn, from top to bottom."""

    def __init__(self, look: Look) -> None:
        self.look, self.parts, self.y = look, [], 0.0

    def text(self, x: float, y: float, text: str, *, faint: bool = False, style: str = "") -> None:
        fill = self.look.faint if faint else self.look.ink
        self.parts.append(svg_text(x, y, text, f'fill="{fill}" {style}'.strip()))

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str = "") -> None:
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
            f' stroke="{self.look.line}" {style}/>'
        )

    def dot(self, x: float, y: float, colour: str, title: str, *, full: bool) -> None:
        fill = colour if full else self.look.background
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{fill}" stroke="{colour}">'
            f"<title>{title}</title></circle>"
        )

    def heading(self, title: str, *below: str) -> None:
        """A part's title, and what it says in small."""
        self.y += 30
        self.text(16, self.y, title, style='font-size="14" font-weight="bold"')
        for line in below:
            self.y += 16
            self.text(16, self.y, line, faint=True, style='font-size="11"')
        self.y += 14

    def finished(self) -> str:
        height = self.y + 16
        background = svg_box(-4, -4, WIDTH + 8, height + 8, self.look.background)
        return svg_document(WIDTH, height, [background, *self.parts])

    def colour(self, system: str) -> str:
        """That of a system, by the library that it belongs to."""
        for name in ("castwise", "torch"):
            if system.startswith(name):
                return str(getattr(self.look, name))
        return self.look.numpy


def draw_pairs(canvas: Canvas, rows: list[Row], systems: dict[str, tuple[str, ...]]) -> None:
    """A dot for each pair and system; the pairs stand by the dtype of their result."""
    rows = sorted(rows, key=lambda row: [ORDER.index(row[key]) for key in ("result", "a", "b")])
    shares = {
        name: [_best(row, kinds) for row in rows] for name, kinds in systems.items()
    }  # fmt: skip
    most = min(max(1.0, *[share for found in shares.values() for share, _ in found]), MOST)
    top, bottom = canvas.y, canvas.y + HEIGHT_OF_PLOT
    step = (WIDTH - LEFT - RIGHT) / len(rows)

    def share_y(share: float) -> float:
        return bottom - min(share, most) / most * HEIGHT_OF_PLOT

    for percent in range(0, round(100 * most) + 1, 25 if most < 1.3 else 50):
        y = share_y(percent / 100)
        canvas.line(LEFT, y, WIDTH - RIGHT, y, 'stroke-width="2"' if percent == 100 else "")
        canvas.text(LEFT - 8, y + 4, f"{percent}%", faint=True, style='text-anchor="end"')
    _draw_groups(canvas, rows, step, top, bottom)
    for name, found in reversed(shares.items()):  # castwise on top
        for at, ((share, full), row) in enumerate(zip(found, rows, strict=True)):
            title = f"{name}: {row['a']} + {row['b']} = {row['result']}: {share:.0%}"
            x = LEFT + (at + 0.5) * step
            canvas.dot(x, share_y(share), canvas.colour(name), title, full=full)
    _draw_medians(canvas, shares, share_y)
    canvas.y = bottom + 20


def _best(row: Row, kinds: tuple[str, ...]) -> tuple[float, bool]:
    """The share of the fastest of some systems, and whether its bits are right."""
    kind = max((kind for kind in kinds if kind in row["share"]), key=row["share"].__getitem__)
    return row["share"][kind], row["equal"][kind] is True


def _draw_groups(canvas: Canvas, rows: list[Row], step: float, top: float, bottom: float) -> None:
    """The dtypes of results below the pairs, and lines between them."""
    start = 0
    for name, members in itertools.groupby(rows, _group):
        end = start + len(list(members))
        if start:
            x = LEFT + start * step
            canvas.line(x, top, x, bottom, 'stroke-dasharray="2 3"')
        style = 'text-anchor="middle" font-size="10"'
        canvas.text(LEFT + (start + end) / 2 * step, bottom + 14, name, faint=True, style=style)
        start = end


def _group(row: Row) -> str:
    """The dtype of the result; few are of one byte, so those stand together."""
    return "1 byte" if row["result"] in ("bool", "int8", "uint8") else str(row["result"])


def _draw_medians(canvas: Canvas, shares: dict[str, Any], share_y: Any) -> None:
    """The systems' names at the right, at the height of their medians, but not on each other."""
    medians = {
        name: statistics.median(share for share, _ in found) for name, found in shares.items()
    }  # fmt: skip
    last = -100.0
    for name, share in sorted(medians.items(), key=lambda item: -item[1]):
        y = max(share_y(share) + 4, last + 15)
        style = f'fill="{canvas.colour(name)}" font-weight="bold"'
        x = WIDTH - RIGHT + 10
        canvas.parts.append(svg_text(x, y, f"{name} {share:.0%}", style))
        last = y


def draw_chain(canvas: Canvas, rows: list[Row]) -> None:
    """A bar for each way to compute the chain."""
    left, room = 150, WIDTH - 150 - 180
    most = max(1.0, *[row["share"] for row in rows])
    for row in rows:
        width, colour = row["share"] / most * room, canvas.colour(row["system"])
        fill = colour if row["equal"] else canvas.look.background
        canvas.text(left - 8, canvas.y + 13, row["system"], style='text-anchor="end"')
        outline = f'stroke="{colour}" stroke-width="1.5"'
        canvas.parts.append(svg_box(left, canvas.y + 2, width, 14, fill, outline))
        label = f"{row['share']:.0%}, {BITS[row['equal']]}"
        canvas.text(left + width + 8, canvas.y + 13, label)
        canvas.y += 22


def picture(look: Look, cpu: dict[str, Any] | None, gpu: dict[str, Any] | None) -> str:
    """The whole picture."""
    canvas = Canvas(look)
    if cpu:
        cpu_name = f"{cpu['machine']['cpu']}, {cpu['threads']} threads"
        canvas.heading(f"CPU: {cpu_name}", *BELOW)
        systems = {
            "castwise": ("castwise on torch",), "torch": ("torch",),
            "NumPy": ("NumPy", "NumPy, cast"),
        }  # fmt: skip
        draw_pairs(canvas, _of_dialect(cpu["pairs"]), systems)
    if gpu:
        canvas.heading(f"GPU: {gpu['gpu']}", *BELOW)
        draw_pairs(
            canvas, _of_dialect(gpu["pairs"]),
            {"castwise": ("castwise on torch",), "torch": ("torch",)},
        )  # fmt: skip
    chain = [row for row in (gpu or {}).get("chain", []) if row["share"]]
    if chain:
        below = "100%: bytes moved as fast as by a copy. Same bits: those of the ops one by one."
        canvas.heading(f"GPU: {chain[0]['chain']}", below)
        draw_chain(canvas, chain)
    return canvas.finished()


def _of_dialect(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["dialect"] == DIALECT and all(row["share"].values())]


def main() -> None:
    """Draws the picture in both schemes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cpu", type=Path, default=RESULTS / "cpu_pairs.json")
    parser.add_argument("--gpu", type=Path, default=RESULTS / "gpu.json")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "pictures")
    chosen = parser.parse_args()
    found = [
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        for path in (chosen.cpu, chosen.gpu)
    ]
    if not any(found):
        raise SystemExit("nothing is measured: run cpu_pairs.py or gpu.py with --json first.")
    for name, look in LOOKS.items():
        path = chosen.to / f"kernels-{name}.svg"
        path.write_text(picture(look, *found) + "\n", encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
