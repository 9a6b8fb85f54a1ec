"""Fixtures that the tests of all rooms share."""

# The browser kit is a plugin, so that the rooms share its browser and its server.
pytest_plugins = ["browser"]


def pytest_collection_modifyitems(items):
    """Let nbval compare the student edition: its cells have outputs but no execution counts, which nbval requires."""
    for cell in (item.cell for item in items if hasattr(item, "cell")):
        if cell.outputs and cell.execution_count is None:
            cell.execution_count = 0
