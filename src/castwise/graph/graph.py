"""The graph: a program, and everything that can be done with it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from castwise.graph.passes import Redialect, Simplification, preserve, redialect, simplify
from castwise.graph.pictures import program_dot, program_svg, program_text
from castwise.graph.program import Program
from castwise.graph.run import arranged, run_program
from castwise.graph.saving import read_program, save_program
from castwise.rules.dialect import Dialect
from castwise.showing import first_few, notebook_html, quantity, repr_line


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph(Program):
    """A program in which every cast is explicit, to run, print, draw, change and save."""

    traced: Graph | None = None

    def text(self, *, shows_origins: bool = True) -> str:
        """The graph, one typed line per node, with each cast and where it came from."""
        return program_text(self, shows_origins=shows_origins)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        given = first_few(f"{node.name}: {node.type}" for node in self.inputs)
        returned = first_few(node.type for node in self.outputs)
        return repr_line(
            "Graph",
            f"{self.name}({given}) -> {returned or 'nothing'} under {self.dialect.name}",
            quantity(len(self.nodes), "node"),
            quantity(len(self.casts), "cast"),
        )

    def simplify(self) -> Simplification[Graph]:
        """The graph with fewer casts and the same values, and a report of the savings."""
        return simplify(self)

    def redialect(self, dialect: str | Dialect) -> Redialect[Graph]:
        """What would change dtype, need a cast or be refused under another dialect.

        A simplified graph gives the same answer as the original.
        """
        return redialect(self.traced or self, dialect)

    def preserve(self, dialect: str | Dialect) -> Graph:
        """The graph under another dialect, with explicit casts that keep its meaning.

        Raises PromotionError if an op has no equivalent there.
        """
        return preserve(self, dialect)

    def to_dot(self) -> str:
        """The graph for Graphviz, with its casts coloured by hazard."""
        return program_dot(self)

    def to_svg(self) -> str:
        """The graph as an SVG picture, with its casts coloured by hazard."""
        return program_svg(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        return notebook_html(self)

    def __call__(self, *arrays: Any, backend: str | None = None, **named: Any) -> Any:
        """Runs the graph on arrays of any backend, in order or by name; returns Tensors.

        Its state is read from its tensors, and written after everything is computed.

        Raises UsageError if an array or a state differs from what the function was traced with.
        """
        return run_program(self, arranged(self, arrays, named), backend)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the graph to a JSON file that `load_graph` reads, with its constants and the
        current values of its state.

        Raises UsageError if the graph contains something that cannot be saved.
        """
        save_program(self, path)

    def to_onnx(
        self,
        path: str | PathLike[str] | None = None,
        *,
        opset: int | None = None,
        runtime: str | None = None,
    ) -> Any:
        """The graph as an onnx.ModelProto in standard ops, also written to a file if a path is
        given.

        `opset` defaults to the newest that onnx knows and an installed onnxruntime supports. With
        `runtime="onnxruntime"` the model only uses kernels that this runtime has. What it lacks is
        computed in a wider dtype or by other ops, with the same values.

        Raises UsageError that lists each op and dtype that ONNX, or the runtime, cannot express,
        with its source line.
        """
        from castwise.graph.onnx.export import (
            program_to_onnx,  # imported late: many modules that few programs need
        )

        return program_to_onnx(self, path, opset=opset, runtime=runtime)


def load_graph(path: str | PathLike[str]) -> Graph:
    """The graph from a file that `Graph.save` wrote. It prints, runs and exports like the original.

    Its state is in new variables with the saved values: `g.state[0].tensor`. Custom ops are saved
    by name: declare them in the same way before loading.

    >>> import tempfile
    >>> import castwise as cw
    >>> graph = cw.trace(lambda x: x * 2, "int8[n]", dialect="torch")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph.save(f"{folder}/doubled.json")
    ...     load_graph(f"{folder}/doubled.json")
    Graph(lambda(x: int8[n]) -> int8[n] under torch, 3 nodes, 0 casts)

    Raises UsageError that names the file and what is wrong with it, or an op that is not declared.
    """
    return read_program(path, Graph)
