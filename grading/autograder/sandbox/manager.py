"""Manage a sandboxed kernel from the client's side, with limits on the messages it may send."""

import asyncio
import contextlib
from queue import Empty

import zmq
import zmq.asyncio
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from traitlets import Type, default

from . import KERNEL_NAME, KERNELS

MAX_MESSAGE_BYTES = 8_000_000
SEND_MS = 5_000  # a disconnected kernel accepts no messages, and sending would block forever
NEVER_MS = 3_600_000  # disabling reconnection altogether would delay closing a client by a second


def bounded_context() -> zmq.asyncio.Context:
    """Return a context whose sockets refuse messages over MAX_MESSAGE_BYTES and do not reconnect."""
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
    context.setsockopt(zmq.RECONNECT_IVL, NEVER_MS)
    context.setsockopt(zmq.SNDTIMEO, SEND_MS)
    return context


class BoundedClient(AsyncKernelClient):
    """A kernel client that uses sockets from `bounded_context`."""

    @default("context")
    def _bounded_context(self) -> zmq.asyncio.Context:
        self._created_context = True
        return bounded_context()

    def start_channels(self, shell=True, iopub=True, stdin=True, hb=False, control=True) -> None:
        """Start all channels but the heartbeat, which would delay a kernel's end by a second; called by nbclient."""
        super().start_channels(shell, iopub, stdin, hb, control)

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Return when the kernel has answered on shell and iopub; raise RuntimeError if it ends. Called by nbclient.

        jupyter_client's version then waits until no message arrives for 0.2 s, but nbclient ignores those messages.
        """
        async with asyncio.timeout(timeout):
            while await self.parent.is_alive():
                self.kernel_info()
                with contextlib.suppress(Empty):
                    await self.get_shell_msg(timeout=1)
                    await self.get_iopub_msg(timeout=0.2)
                    return
        raise RuntimeError("The kernel ended before it answered.")


class SandboxManager(AsyncKernelManager):
    """A kernel manager that finds the sandboxed kernel without installing its kernelspec in Jupyter."""

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
