"""Run a term: the roster, due dates, releases, and exchange with learning platforms."""
