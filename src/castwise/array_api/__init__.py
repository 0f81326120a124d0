"""The Python Array API standard as a namespace of castwise tensors."""
