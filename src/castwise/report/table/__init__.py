"""An op's result for every pair of dtypes, in every format."""
