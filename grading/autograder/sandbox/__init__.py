"""Run untrusted code in a Jupyter kernel, forked from a preloaded process into a bubblewrap sandbox.

This package is independent of grading: jupyter_client starts `SandboxProvisioner` for every kernelspec that names it,
such as the one in `kernels/`. That kernelspec makes the kernel copy every message: sending without a copy starts a
thread. `machine.require()` checks whether this machine supports sandboxes, and says what to do if not.
"""

from pathlib import Path

KERNEL_NAME = "sandboxed"
KERNELS = Path(__file__).parent / "kernels"
