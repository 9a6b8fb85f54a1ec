"""Try the hub of jupyterhub_config.py on your own machine, without accounts: one password works for every name."""

import os
import secrets
from pathlib import Path

load_subconfig(str(Path(__file__).with_name("jupyterhub_config.py")))  # noqa: F821  JupyterHub provides it

PASSWORD = os.environ.get("GRADLAB_TRIAL_PASSWORD") or secrets.token_hex(4)

c = get_config()  # noqa: F821

c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = PASSWORD
c.JupyterHub.spawner_class = "simple"  # all servers run as you, with one home folder per user
c.SimpleLocalProcessSpawner.home_dir_template = str(Path.cwd() / "homes/{username}")

print(f"The password for every name: {PASSWORD}", flush=True)
