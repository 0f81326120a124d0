"""The same program written down: a static graph in which every cast is explicit.

From the ground up, each importing only what stands above it here:

    source_lines, program   nodes, and the program they make
    structure, node_names   what the function returned, and what nodes are called
    shapes/                 symbolic sizes, and the shapes that ops give
    recording/              a backend whose arrays are nodes
    passes/                 fewer casts, another dialect, kernels written out
    running/  pictures/     on arrays; as text, for Graphviz, as SVG
    saving/   onnx/         in a file, and as an ONNX model
    graph                   the public class, which has all of these as methods
    tracing/                from a function to a graph, and compile
"""
