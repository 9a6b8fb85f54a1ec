"""Grade submissions with nbgrader, sandboxed and in parallel; points come from values compared outside the kernel."""
