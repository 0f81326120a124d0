"""Puts this folder on the path: its tests share onnx_judges.py and random_programs.py."""
