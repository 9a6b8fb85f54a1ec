"""Grade submissions with nbgrader: sandboxed, in parallel, with points from values compared outside the kernel."""
