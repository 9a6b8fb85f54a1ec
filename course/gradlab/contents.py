"""JupyterLab's server with two additions: reading the start page brings it up to date, and records are not listed."""

import contextlib
from pathlib import Path

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from traitlets import default

from .checks.record import SUFFIX
from .setup.lab import START_PAGE, renew_page


class Contents(AsyncLargeFileManager):
    """The server's file manager, which replaces the default class; `gradlab lab` names it on the command line."""

    @default("hide_globs")
    def _hidden(self) -> list[str]:
        return [*(AsyncLargeFileManager.class_traits()["hide_globs"].default() or ()), f"*{SUFFIX}"]

    async def get(self, path, *arguments, **options):
        """Return the model of a file or folder; for the start page, bring it up to date first."""
        if path.strip("/") == START_PAGE:
            with contextlib.suppress(OSError):  # a folder that cannot be written to can still be read
                renew_page(Path(self.root_dir))
        return await super().get(path, *arguments, **options)
