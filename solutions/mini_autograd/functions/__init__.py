"""torch's functions and the methods of `Tensor`: they accept arguments in torch's forms and call `ops`."""
