"""A server extension for `autograder formgrader`: its lists show no score for a submission that has none."""

from pathlib import Path

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from nbgrader.server_extensions.formgrader.handlers import static_path

_SCRIPT = "js/utils.js"  # all pages of Formgrader load it before their own
_FILES = [Path(static_path, _SCRIPT), Path(__file__).parent / "templates" / "formgrader" / "no_score.js"]


class _Script(JupyterHandler):
    @allow_unauthenticated  # it holds no data, like the other scripts
    def get(self) -> None:
        self.set_header("Content-Type", "text/javascript")
        self.finish("\n".join(path.read_text(encoding="utf-8") for path in _FILES))


def _load_jupyter_server_extension(server: ServerApp) -> None:
    """Serve nbgrader's script with ours below it. Extensions load by name, so this comes before nbgrader's own."""
    url = url_path_join(server.base_url, "formgrader", "static", _SCRIPT)
    server.web_app.add_handlers(".*$", [(url, _Script)])
