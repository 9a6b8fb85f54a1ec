"""The client's side of a sandboxed kernel: it believes nothing and takes only so much."""

import zmq
import zmq.asyncio
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from traitlets import Type, default

from . import KERNEL_NAME, KERNELS

MAX_MESSAGE_BYTES = 8_000_000
SEND_MS = 5_000  # a kernel that was cut off takes no message any more, and sending would wait for ever
NEVER_MS = 3_600_000  # forbidding it altogether makes the end of a client last a second


def bounded_context() -> zmq.asyncio.Context:
    """Sockets that refuse huge messages and, once cut off, do not come back to what then answers."""
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
    context.setsockopt(zmq.RECONNECT_IVL, NEVER_MS)
    context.setsockopt(zmq.SNDTIMEO, SEND_MS)
    return context


class BoundedClient(AsyncKernelClient):
    """A client that talks to the kernel over bounded sockets."""

    @default("context")
    def _bounded_context(self) -> zmq.asyncio.Context:
        self._created_context = True
        return bounded_context()

    def start_channels(self, shell=True, iopub=True, stdin=True, hb=False, control=True) -> None:
        """Called by nbclient; without the heartbeat, which costs a second at the end: the process itself is watched."""
        super().start_channels(shell, iopub, stdin, hb, control)


class SandboxManager(AsyncKernelManager):
    """A kernel manager that knows the sandboxed kernel without its being installed among Jupyter's."""

    client_factory = Type(BoundedClient)

    @default("context")
    def _bounded_context(self) -> zmq.asyncio.Context:
        self._created_context = True
        return bounded_context()

    @default("kernel_name")
    def _kernel_name_default(self) -> str:
        return KERNEL_NAME

    @default("kernel_spec_manager")
    def _own_kernel_specs(self) -> KernelSpecManager:
        return KernelSpecManager(kernel_dirs=[str(KERNELS)])
