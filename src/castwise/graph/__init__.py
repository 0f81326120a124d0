"""A program as a static graph in which every cast is explicit.

Each module imports only those listed above it:

    program          nodes, and the program that they make
    sizes, shapes    symbolic sizes, and the shapes that ops give
    recording        a backend whose arrays are nodes
    nodes            what nodes compute, alone or in regions
    run              plans, made before there are arrays, and runs on arrays
    passes           fewer casts, another dialect, expanded kernels
    pictures         as text, DOT and SVG
    saving, onnx/    saved to a file, and exported as an ONNX model
    graph            the public class, with all of these as methods, and `trace`
    compile          a function that runs as its graph
"""
