"""The browser kit, as a plugin: only so do the rooms share its browser and its server."""

pytest_plugins = ["browser"]
