"""Everything unrelated to autograd: dtypes, shapes, and printing."""
