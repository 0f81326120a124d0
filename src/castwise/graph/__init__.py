"""A program as a static graph in which every cast is explicit.

Each part imports only the parts listed above it:

    source_lines, program   nodes, and the program they make
    structure, node_names   the structure of returned values, and the names of nodes
    shapes/                 symbolic sizes, and the shapes that ops give
    recording/              a backend whose arrays are nodes
    passes/                 fewer casts, another dialect, expanded kernels
    running/  pictures/     runs on arrays; pictures as text, DOT and SVG
    saving/   onnx/         saved to a file, and exported as an ONNX model
    graph                   the public class, with all of these as methods
    tracing/                from a function to a graph, and compile
"""
