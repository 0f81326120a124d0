"""Functions that ONNX lacks or leaves partly undefined, written with the ops it has."""
