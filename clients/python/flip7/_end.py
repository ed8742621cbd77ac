"""How a stream ends, in words, and whether to come back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.protobuf.empty_pb2 import Empty
from google.protobuf.unknown_fields import UnknownFieldSet

from flip7._version import __version__
from flip7.v1 import play_service_pb2 as wire


class EndError(Exception):
    """The bot cannot go on, and trying again would not help."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        #: The name of the arena's reason, such as "REPLACED" or "TOKEN_REVOKED"; empty if the arena gave none.
        self.reason = reason
        #: What it is and what to do, on one line.
        self.message = message


class UsageError(ValueError):
    """The bot was started wrongly."""


@dataclass(frozen=True)
class End:
    """How a stream ended."""

    words: str = ""  #: what happened, on one line
    reason: str = ""  #: the name of an EndReason without its prefix; empty: none told
    come_back: bool = True
    retry_after: float = 0  #: seconds, not before; 0: the kit's own back-off


#: What stands before the names of EndReason in the contract and is left out where they are told.
_PREFIX = "END_REASON_"

#: The reasons in words. Those that say not to come back (see EndReason in the contract) are in _FINAL.
_IN_PLAIN = {
    "REPLACED": "another stream of the same instance took over",
    "TOKEN_REVOKED": "the token is no longer valid (FLIP7_TOKEN needs the new one, if there is one)",
    "PROTOCOL_TOO_OLD": f"the arena no longer speaks the protocol of this kit ({__version__}): update the kit",
    "BUILD_CHANGED": "the running tournament knows this bot by another build: start that one, or wait for the end",
    "BAD_HELLO": "the arena refuses the hello",
    "NO_HELLO": "the arena heard no hello in time",
    "SERVER_FULL": "the arena is full",
    "TOO_MANY_INSTANCES": "the bot has as many instances as the arena allows",
    "DRAINING": "the arena stops for now",
    "TOO_SLOW": "the bot did not read in time",
    "SILENT": "the arena heard nothing from the bot",
    "FLOOD": "the bot sent more than its quota",
    "GARBAGE": "the bot sent too much that means nothing",
    "CLOSED": "the stream was closed",
    "INTERNAL": "the arena failed",
}
_FINAL = frozenset(("REPLACED", "TOKEN_REVOKED", "PROTOCOL_TOO_OLD", "BUILD_CHANGED", "BAD_HELLO"))


@dataclass(frozen=True)
class Status:
    """The gRPC status with which a stream ended, without a goodbye."""

    code: grpc.StatusCode
    details: str = ""
    metadata: Iterable[tuple[str, str | bytes]] = ()


SILENT = End("nothing was heard from the arena for three ping intervals")
CLOSED = End("the arena closed the stream")


def end_of_goodbye(goodbye: wire.Goodbye) -> End:
    """Read the arena's last message."""
    try:
        reason = wire.EndReason.Name(goodbye.reason).removeprefix(_PREFIX)
    except ValueError:  # of a later version
        reason = str(goodbye.reason)
    retry_after = goodbye.retry_after.ToTimedelta().total_seconds()
    return End(_in_plain(reason, goodbye.message), reason, goodbye.come_back, retry_after)


def end_of_status(status: Status, host: str, met: bool) -> End:
    """Read how a stream ended without a Goodbye.

    The host is the arena's address as the author wrote it, met whether this arena ever welcomed the bot: some failures
    mend themselves only if it did.
    """
    message = " ".join(status.details.split())
    reason, retry_after = _details(status)
    code = status.code
    if code is grpc.StatusCode.OK:
        return CLOSED
    if reason in _IN_PLAIN:
        return End(_in_plain(reason, message), reason, reason not in _FINAL, retry_after)
    if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
        return End(f"the arena does not take this token: check FLIP7_TOKEN ({message})", reason, come_back=False)
    if reason:
        return End(_in_plain(reason, message), reason, retry_after=retry_after)
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return End(f"what answers at {host} is no Flip 7 arena ({message})", come_back=met)
    if _PAGES.search(message):
        return End(f"{host} answers browsers, not bots: the arena's port for bots is another one (often 7777)", come_back=met)
    if code is grpc.StatusCode.UNAVAILABLE:
        return End(_unavailable(message, host), retry_after=retry_after)
    return End(message or code.name, retry_after=retry_after)


#: What grpc says of a server that speaks HTTP and no gRPC. Of those that stand before arenas, some say 429 or 5xx for a while.
_PAGES = re.compile(r"http2 header with status: 4(?!29)\d\d|Trying to connect an http1\.x server|Failed parsing HTTP/2")


def _in_plain(reason: str, message: str) -> str:
    words = _IN_PLAIN.get(reason, f"the arena ended the stream ({reason})")
    return f"{words}: {' '.join(message.split())}" if message else words


#: What grpc puts around the reason why no connection came about.
_NO_CONNECTION = re.compile(
    r"failed to connect to all addresses; last error: \w+: (?:ip\S+: )?(?:Failed to connect to remote host: )?(?:connect: )?"
)


def _unavailable(message: str, host: str) -> str:
    reason = _NO_CONNECTION.sub("", message)
    if reason != message or message.startswith(("DNS resolution failed", "errors resolving")):
        return f"cannot reach {host}: {reason}"
    return f"the connection to {host} was lost: {message}"


def _details(status: Status) -> tuple[str, float]:
    """Read the reason of an ErrorInfo and the seconds of a RetryInfo.

    google.rpc.Status is taken apart by its field numbers: its generated code would be one more package to depend on, and
    a copy of it would clash with that package wherever both are there.
    """
    reason, retry_after = "", 0.0
    for key, value in status.metadata:
        if key != "grpc-status-details-bin" or not isinstance(value, bytes):
            continue
        for packed in _fields(value, 3):
            detail = Any.FromString(packed)
            for first in _fields(detail.value, 1):
                if detail.type_url.endswith("/google.rpc.ErrorInfo"):
                    reason = first.decode("utf-8", "replace")
                elif detail.type_url.endswith("/google.rpc.RetryInfo"):
                    retry_after = Duration.FromString(first).ToTimedelta().total_seconds()
    return reason, retry_after


def _fields(message: bytes, number: int) -> Iterator[bytes]:
    """Yield the length-delimited fields of that number."""
    fields = UnknownFieldSet(Empty.FromString(message))
    for i in range(len(fields)):
        if fields[i].field_number == number and isinstance(fields[i].data, bytes):
            yield fields[i].data
