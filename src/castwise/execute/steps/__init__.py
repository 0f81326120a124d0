"""An op as plain data: the dtype each operand enters in, what computes, the dtype of the result."""
