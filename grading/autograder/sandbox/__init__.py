"""A Jupyter kernel for code that nobody trusts: forked from a warm process into a sandbox that bubblewrap makes.

Separate from grading: jupyter_client starts `SandboxProvisioner` for every kernelspec that names it, and `kernels/`
holds one that does. `machine.require()` says whether this machine can do it, and what to do if it cannot.
"""

from pathlib import Path

KERNEL_NAME = "sandboxed"
KERNELS = Path(__file__).parent / "kernels"
