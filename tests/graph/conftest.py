"""Puts this folder on the path: the folders in it share onnx_judges.py and random_programs.py.

The tests of castwise.graph.onnx are in onnx_models: a folder onnx here would pass for the package.
"""
