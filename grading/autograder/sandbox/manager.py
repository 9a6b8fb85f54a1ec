"""Manage a kernel from the client's side, with limits on the messages it may send and one typed form of each."""

import asyncio
import contextlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hmac import compare_digest
from queue import Empty
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
import zmq
import zmq.asyncio
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.session import Session
from traitlets import Type, default

from gradlab.words import _

from . import KERNEL_NAME, KERNELS

MAX_MESSAGE_BYTES = 8_000_000  # of each part of a message
MOST_WAITING = 4  # messages of a socket; further ones wait in the kernel, which drops none (see forkserver)
START_S = 600  # the longest time for a started kernel to answer; a machine that needs more is not fit for grading
SEND_MS = 5_000  # a disconnected kernel accepts no messages, and sending would block forever
NEVER_MS = 3_600_000  # disabling reconnection altogether would delay closing a client by a second


Count = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
IS_JSON = re.compile(r"application/(.*\+)?json")  # the MIME types for which nbformat allows more than text
LONE = re.compile(r"(\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\u[dD][89a-fA-F]..")  # a surrogate, unless group 1


class Header(TypedDict):  # the part of a header that counts; a kernel's own date does not
    msg_id: str
    msg_type: str


class Parent(TypedDict):  # the message that a message answers
    msg_id: NotRequired[str]


class Status(TypedDict):  # whether the kernel is busy
    execution_state: str


class Stream(TypedDict):  # printed text
    name: Literal["stdout", "stderr"]
    text: str


class Error(TypedDict):  # an error's name, value and traceback
    ename: str
    evalue: str
    traceback: Annotated[list[str], msgspec.Meta(max_length=10_000)]


class Transient(TypedDict):  # where to display
    display_id: NotRequired[str]


class Display(TypedDict):  # a displayed object in several formats, by MIME type
    data: Annotated[dict[str, msgspec.Raw], msgspec.Meta(max_length=100)]
    transient: NotRequired[Transient | None]


class Result(Display):  # a cell's value
    execution_count: Count | None


class Input(TypedDict):  # the start of a cell
    execution_count: Count


class Clear(TypedDict):  # a request to remove a cell's outputs
    wait: NotRequired[bool]


class Payload(TypedDict):  # a request to the frontend
    source: NotRequired[str]


class Reply(TypedDict):  # the end of a cell
    status: Literal["ok", "error", "aborted"]
    ename: NotRequired[str]
    evalue: NotRequired[str]
    payload: NotRequired[Annotated[list[Payload], msgspec.Meta(max_length=10_000)]]


class Info(TypedDict):  # what a kernel says of itself
    protocol_version: str
    language_info: Annotated[dict[str, str | dict[str, str | int]], msgspec.Meta(max_length=100)]


CONTENT = {
    "status": Status,
    "stream": Stream,
    "error": Error,
    "display_data": Display,
    "update_display_data": Display,
    "execute_result": Result,
    "execute_input": Input,
    "clear_output": Clear,
    "execute_reply": Reply,
    "kernel_info_reply": Info,
}
UNREAD = {"header": {}, "msg_type": "", "parent_header": {}, "metadata": {}, "content": {}, "buffers": [], "size": 0}


class TypedSession(Session):
    """Reads each of a kernel's messages into the form that CONTENT gives for its type, and nothing else of it.

    What has another type or form becomes an empty message, which nobody awaits: comms, for example, which only widgets
    need. Displayed JSON stays text, so that reading costs no more than the message's length, and other formats that are
    not text are left out. Lone surrogates become U+FFFD. `size` is the length of all that arrived, in bytes, and the
    date is ours.
    """

    def deserialize(self, msg_list: list, content: bool = True, copy: bool = True) -> dict:
        """Return a message; called by jupyter_client with the parts that arrived."""
        with contextlib.suppress(ValueError, RecursionError):  # msgspec's errors are ValueErrors
            signature, header, parent, metadata, body, *buffers = msg_list
            head = _decoded(header, Header)
            kind = CONTENT.get(head["msg_type"])
            if kind and (self.auth is None or compare_digest(signature, self.sign(msg_list[1:5]))):
                said = _decoded(body, kind)
                if "data" in said:
                    said |= {"data": dict(_texts(said["data"])), "metadata": {}}
                return UNREAD | {
                    "header": head | {"date": datetime.now(UTC)},
                    "msg_type": head["msg_type"],
                    "parent_header": _decoded(parent, Parent),
                    "content": said,
                    "size": sum(map(len, (metadata, body, *buffers))),
                }
        return dict(UNREAD)


def _decoded(data: bytes, kind: type) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except ValueError:  # perhaps a lone surrogate, which may be in honest output too
        text = LONE.sub(lambda match: match[1] or "\ufffd", data.decode(errors="replace"))
        return msgspec.json.decode(text, type=kind)


def _texts(data: dict[str, msgspec.Raw]) -> Iterator[tuple[str, str]]:
    """Yield the formats that are text, and JSON as it was sent."""
    for mime, raw in data.items():
        if IS_JSON.fullmatch(mime):
            yield mime, bytes(raw).decode(errors="replace")
        else:
            with contextlib.suppress(msgspec.ValidationError):
                yield mime, _decoded(bytes(raw), str)


def bounded_context() -> zmq.asyncio.Context:
    """Return a context whose sockets hold MOST_WAITING messages, refuse larger parts, and do not reconnect."""
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
    context.setsockopt(zmq.RCVHWM, MOST_WAITING)
    context.setsockopt(zmq.RECONNECT_IVL, NEVER_MS)
    context.setsockopt(zmq.SNDTIMEO, SEND_MS)
    return context


class BoundedClient(AsyncKernelClient):
    """A kernel client that uses sockets from `bounded_context`."""

    parent: AsyncKernelManager

    @default("context")
    def _bounded_context(self) -> zmq.asyncio.Context:
        self._created_context = True
        return bounded_context()

    def start_channels(self, shell=True, iopub=True, stdin=False, hb=False, control=True) -> None:
        """Start shell, iopub and control; called by nbclient.

        Nobody would read stdin, and the heartbeat would delay a kernel's end by a second.
        """
        super().start_channels(shell, iopub, stdin, hb, control)

    def stop_channels(self) -> None:
        """Close the channels that were started; jupyter_client's version would first open stdin."""
        for channel in (self._shell_channel, self._iopub_channel, self._control_channel):
            if channel is not None:
                channel.stop()
        self.context.destroy(linger=100)

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Return when the kernel has answered on shell and iopub; raise RuntimeError if it ends. Called by nbclient.

        jupyter_client's version then waits until no message arrives for 0.2 s, but nbclient ignores those messages.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while await self.parent.is_alive():
                    self.kernel_info()
                    with contextlib.suppress(Empty):
                        await self.get_shell_msg(timeout=1)
                        await self.get_iopub_msg(timeout=0.2)
                        return
        raise RuntimeError(_("The kernel ended before it answered, or did not answer."))


class TypedManager(AsyncKernelManager):
    """A kernel manager that reads messages with TypedSession."""

    @default("session")
    def _typed_session(self) -> Session:
        return TypedSession(parent=self)


class SandboxManager(TypedManager):
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
