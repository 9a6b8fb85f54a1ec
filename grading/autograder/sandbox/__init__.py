"""Run untrusted code in a Jupyter kernel, forked from a preloaded process into a bubblewrap sandbox.

Independent of grading: jupyter_client starts `SandboxProvisioner` for every kernelspec that names it, such as the one
in `kernels/`. That one copies every message: sending without a copy starts a thread, which a check of an answer by hand
forbids, and half of the message would be lost. `machine.require()` checks whether this machine supports sandboxes, and
says what to do if not.
"""

from pathlib import Path

KERNEL_NAME = "sandboxed"
KERNELS = Path(__file__).parent / "kernels"
