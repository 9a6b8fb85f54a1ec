"""A run: which submissions are graded, where their cells run, and how an interrupted run goes on."""
