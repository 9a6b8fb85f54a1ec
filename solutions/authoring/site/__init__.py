"""The site: the lessons to read and guess in, without a kernel, and the pages around them. `make site` builds it."""
