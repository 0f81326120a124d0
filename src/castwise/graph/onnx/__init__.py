"""A program as an ONNX model.

Each module imports only those listed above it:

    onnxruntime      data: what that runtime lacks
    runtimes         what ONNX and its runtimes have
    writer           values and nodes of a model
    arrays           functions of the Array API standard
    functions        functions and missing kernels, composed of ONNX's ops
    complex          complex numbers, by their parts
    indexing         functions that move elements
    export           each op, and a whole program
"""
