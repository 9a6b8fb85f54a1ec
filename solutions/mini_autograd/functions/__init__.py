"""torch's functions and the methods of `Tensor`: arguments in torch's forms, handed on to `ops`."""
