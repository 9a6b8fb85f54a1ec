"""JupyterLab's server, with a separate home and Jupyter folders, for as long as a test needs it."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

GRADLAB_LAB = (sys.executable, "-m", "gradlab", "lab")
NEWS = "@jupyterlab/apputils-extension:announcements"
HANG_S = 300  # only a hanging server takes longer


@dataclass(frozen=True)
class Server:
    """A running JupyterLab server: its address, its token, the folder that it shows, and the file of its log."""

    url: str
    token: str
    root: Path
    log: Path

    def address(self, path: str) -> str:
        """Return an address of the server that logs in who asks for it."""
        return f"{self.url}/{path}{'&' if '?' in path else '?'}token={self.token}"


@contextlib.contextmanager
def serve(folder: Path, home: Path, command: Sequence[str], env: dict | None = None) -> Iterator[Server]:
    """Run a JupyterLab server and stop it afterwards.

    `command` starts the server and takes JupyterLab's own options at its end, as `jupyter lab` and
    `python -m gradlab lab` do. It runs in `folder`, with `home` as an empty home folder.
    """
    log = home / "jupyter.log"
    settings = home / ".jupyter/labconfig/page_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"disabledExtensions": {NEWS: True}}))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON"))}
    runtime = home / "runtime"
    settled = {
        "HOME": str(home),
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "MPLCONFIGDIR": str(_matplotlib_cache()),
        "JUPYTER_PATH": os.environ.get("GRADLAB_TEST_KERNELS", ""),  # the test runner's faster kernels
    }
    options = ["--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root", "--expose-app-in-browser"]
    with log.open("w") as sink:
        process = subprocess.Popen(
            [*command, *options],
            cwd=folder,
            env={**inherited, **settled, **(env or {})},
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
        try:
            yield _answering(process, runtime, log)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _answering(process: subprocess.Popen, runtime: Path, log: Path) -> Server:
    """Wait until the server has written down its address and answers there."""
    deadline = time.monotonic() + HANG_S
    while time.monotonic() < deadline and process.poll() is None:
        for info_file in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(OSError, ValueError):  # partly written, or not listening yet
                info = json.loads(info_file.read_text())
                server = Server(info["url"].rstrip("/"), info["token"], Path(info["root_dir"]), log)
                urllib.request.urlopen(server.address("api/status"), timeout=5).close()
                return server
        time.sleep(0.05)
    ended = process.poll()
    what = f"did not start within {HANG_S} s" if ended is None else f"ended at once with exit code {ended}"
    raise RuntimeError(f"JupyterLab {what}. Its log:\n{log.read_text()}")


def _matplotlib_cache() -> Path:
    """Where every server of this test run finds matplotlib's list of fonts, which takes seconds to make."""
    folder = Path(tempfile.gettempdir()) / f"gradlab-tests-matplotlib-{os.getuid() if hasattr(os, 'getuid') else 0}"
    folder.mkdir(exist_ok=True)
    return folder
