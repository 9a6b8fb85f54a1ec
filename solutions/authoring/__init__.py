"""Tools that turn a solved chapter into a student edition, records and tests."""
