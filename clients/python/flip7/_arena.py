"""Where a bot plays and how it gets there."""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc

from flip7._end import End, Status, UsageError, end_of_status
from flip7._version import NAME, __version__

#: Where `flip7 serve` listens if it is not told otherwise.
_USUAL_ADDR = "127.0.0.1:7777"

_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^\s\[\]:/?#@]+):([^\s\[\]:/?#@]+)")

_OPTIONS = (
    # Arenas refuse more than one HTTP/2 ping in 10 s; proxies give up on a connection that was idle for 60 s.
    ("grpc.keepalive_time_ms", 25_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    # A fresh connection for each stream, and one try for it: after silence the old one may be dead without knowing, and
    # when to try again is decided where the reason is known.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.min_reconnect_backoff_ms", 10_000),
    ("grpc.enable_retries", 0),
    ("grpc.service_config_disable_resolution", 1),
    ("grpc.primary_user_agent", f"flip7-{NAME}/{__version__}"),
)


@dataclass(frozen=True)
class Arena:
    """An address and how to speak to what is there."""

    host: str  #: as the author wrote it, for messages
    addr: str  #: host:port
    tls: bool
    roots: bytes | None = None  #: certificates to trust, in PEM; None: those that come with grpc

    def channel(self) -> grpc.Channel:
        """Ready a connection; it is made when the first stream is opened."""
        # A proxy that the environment names is no way to this machine.
        options = [*_OPTIONS, ("grpc.enable_http_proxy", 0 if _loopback(self.addr) else 1)]
        if self.tls:
            return grpc.secure_channel(self.addr, grpc.ssl_channel_credentials(self.roots), options)
        return grpc.insecure_channel(self.addr, options)

    def end_of(self, status: Status, met: bool) -> End:
        """Read how a stream ended; met says whether the arena ever welcomed the bot."""
        misfit = self._misfit(status.details)
        if misfit:
            # A connection in clear text that is closed at once may be that of an arena which stops at this moment.
            return End(misfit, come_back=met or not self.tls)
        return end_of_status(status, self.host, met)

    def _misfit(self, details: str) -> str:
        """Say why a stream failed, if one side speaks TLS and the other does not, or for want of trust; else nothing.

        Trying again mends that only if something at the arena changes.
        """
        if not self.tls:
            closed = "failed to connect" in details and "Socket closed" in details
            hint = "if it speaks TLS, write https:// before the address or set FLIP7_CA"
            return f"{self.host} closes connections in clear text; {hint}" if closed else ""
        if "WRONG_VERSION_NUMBER" in details:
            return f"{self.host} does not speak TLS; if the way there is safe, write http:// before the address"
        if re.search("is not in peer certificate|Hostname Verification", details):
            return f"the certificate of {self.host} is not trusted: it is for another name; write that in FLIP7_ADDR"
        untrusted = re.search("CERTIFICATE_VERIFY_FAILED(: [^:]+)?", details)
        if untrusted:
            return f"the certificate of {self.host} is not trusted{untrusted[1] or ''}; FLIP7_CA names the PEM file to trust"
        return ""


def arena_of(addr: str) -> Arena:
    """Read where to play from a Bot's addr and, for what it leaves out, the environment."""
    written = addr or os.environ.get("FLIP7_ADDR", "").strip() or _USUAL_ADDR
    scheme, found, rest = written.rpartition("://")
    place = rest.removesuffix("/")
    if scheme == "https" and not _HOST_AND_PORT.fullmatch(place):
        place += ":443"
    if not _HOST_AND_PORT.fullmatch(place):
        raise UsageError(f'FLIP7_ADDR "{written}" is not host:port, http://host:port or https://host[:port]')
    port = place.rpartition(":")[2]
    if not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        raise UsageError(f'FLIP7_ADDR "{written}" has port {port}, want 1 to 65535')
    if found and scheme not in ("http", "https"):
        raise UsageError(f'FLIP7_ADDR "{written}" begins with {scheme}://, want http://, https:// or neither')
    ca = os.environ.get("FLIP7_CA", "")
    if ca and scheme == "http":
        raise UsageError(f'FLIP7_ADDR "{written}" asks for clear text but FLIP7_CA is set: write https://, or unset FLIP7_CA')
    tls = bool(ca) or scheme == "https" or not (found or _loopback(place))
    return Arena(written, place, tls, _certificates(ca) if ca else None)


def _certificates(file: str) -> bytes:
    """Read a PEM file of certificates to trust."""
    try:
        roots = Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"FLIP7_CA cannot be read: {error}") from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=file)
    except ssl.SSLError:
        raise UsageError(f"FLIP7_CA {file} holds no certificate in PEM") from None
    return roots


def _loopback(place: str) -> bool:
    """Whether a host:port cannot leave this machine."""
    host = place.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
