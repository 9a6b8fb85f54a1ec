"""A term of a class: who is in it, when what is due, and the ways from and to learning platforms."""
