"""A program as an ONNX model."""
