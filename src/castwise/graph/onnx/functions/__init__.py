"""Functions that ONNX lacks, or leaves undefined in places, written with the ops it has."""
