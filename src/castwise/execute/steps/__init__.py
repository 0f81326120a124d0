"""An op as plain data: the dtypes its operands are cast to, its function, its result dtype."""
