"""Everything unrelated to autograd: dtypes and printing."""
