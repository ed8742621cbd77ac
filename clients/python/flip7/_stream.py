"""One stream to the arena, from its hello to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import grpc

from flip7._arena import Arena
from flip7._end import CLOSED, SILENT, End, Status, end_of_goodbye
from flip7.v1 import play_service_pb2 as wire

#: Seconds between two pings until the arena has said its own.
_USUAL_PING = 15.0
#: Messages that may travel together (PlayRequest.messages). A decision with the longest note is 400 bytes, so a full batch
#: is within any limit that an arena would set.
_BATCH = 64
#: Seconds that the arena has to close the stream of a bot that leaves.
_LEAVE_WAIT = 5.0
#: What grpc makes up, before or after it knows the status that the arena ended the stream with, when a write fails because
#: the stream has ended (grpc/grpc#36066), and the seconds after which it does know.
_MADE_UP, _STATUS_WAIT = "Internal error from Core", 0.1

_T = TypeVar("_T")


class Stream:
    """Answers pings itself, so that nothing that the bot does delays a pong, and hands on what else it hears."""

    def __init__(self, arena: Arena, token: str, heard: Callable[[wire.ArenaMessage], None], log: logging.Logger) -> None:
        self._channel = arena.channel()
        play: grpc.aio.StreamStreamMultiCallable[wire.PlayRequest, wire.PlayResponse] = self._channel.stream_stream(
            "/flip7.v1.PlayService/Play", wire.PlayRequest.SerializeToString, wire.PlayResponse.FromString
        )
        self._call = play(metadata=(("authorization", f"Bearer {token}"),))
        self._call.add_done_callback(self._keep_status)
        self._status: Status | None = None
        self._heard, self._log = heard, log
        self._loop = asyncio.get_running_loop()
        self._out: list[wire.BotMessage] = []
        self._to_write = asyncio.Event()
        self._closing = False  # the bot's side is to be closed
        self._patience = 3 * _USUAL_PING
        self._last_heard = self._loop.time()
        self._timer = self._loop.call_later(self._patience, self._look)
        self._cut: End | None = None  # the kit itself ended the stream
        self.drained = 0.0  #: seconds to stay away afterwards, as Drain said

    def say(self, message: wire.BotMessage) -> None:
        """Say something; the first thing is to be the hello."""
        self._out.append(message)
        self._to_write.set()

    def leave(self) -> None:
        """Close the bot's side; the arena closes the other."""
        self._closing = True
        self._to_write.set()
        self._loop.call_later(_LEAVE_WAIT, self.cut, CLOSED)

    def cut(self, end: End) -> None:
        """End the stream at once."""
        self._cut = self._cut or end
        self._call.cancel()

    async def converse(self) -> End | Status:
        """Hold the stream to its end: a goodbye, or the status with which it ended without one."""
        writer = asyncio.create_task(self._write())
        try:
            return await self._read()
        except asyncio.CancelledError:
            if self._cut:
                return self._cut
            raise
        except grpc.aio.AioRpcError:
            self._keep_status(self._call)
            if self._status is None:
                await asyncio.sleep(_STATUS_WAIT)
                self._keep_status(self._call)
            return self._status or Status(grpc.StatusCode.UNAVAILABLE, "it ended while the bot was speaking")
        finally:
            self._timer.cancel()
            self._call.cancel()
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            await self._channel.close()

    def _keep_status(self, call: grpc.aio.StreamStreamCall[wire.PlayRequest, wire.PlayResponse]) -> None:
        """Keep the status that a call has now, unless it is the made-up one."""
        status = Status(_at_once(call.code()), _at_once(call.details()), tuple(_at_once(call.trailing_metadata()) or ()))
        if status.details != _MADE_UP:
            self._status = status

    def _look(self) -> None:
        """End the stream if nothing was heard for three ping intervals."""
        left = self._last_heard + self._patience - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        else:
            self.cut(SILENT)

    async def _write(self) -> None:
        """Send what was said, in batches that nothing is awaited for."""
        try:
            while await self._to_write.wait():
                self._to_write.clear()
                while self._out:
                    batch, self._out = self._out[:_BATCH], self._out[_BATCH:]
                    await self._call.write(wire.PlayRequest(messages=batch))
                if self._closing:
                    await self._call.done_writing()
                    return
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            pass  # who reads is told why

    async def _read(self) -> End:
        # Not by read(), which forgets what it has not handed out, a goodbye perhaps, as soon as there is a status.
        async for response in self._call:
            self._last_heard = self._loop.time()
            for message in response.messages:
                match message.WhichOneof("message"):
                    case "ping":
                        self.say(wire.BotMessage(pong=wire.Pong(number=message.ping.number)))
                    case "drain":
                        grace = message.drain.grace.ToTimedelta().total_seconds()
                        self.drained = message.drain.retry_after.ToTimedelta().total_seconds()
                        self._log.info("the arena stops in at most %g s and is back in %g s; playing on", grace, self.drained)
                    case "problem":
                        said = message.problem
                        self._log.warning("the arena ignored something that the kit sent: %s (%s)", said.message, said.reason)
                    case "goodbye":
                        return end_of_goodbye(message.goodbye)
                    case "welcome":
                        interval = message.welcome.limits.ping_interval.ToTimedelta().total_seconds()
                        self._patience = 3 * (interval or _USUAL_PING)
                        self._timer.cancel()
                        self._look()
                        self._heard(message)
                    case None:
                        pass  # of a kind that came later than this kit
                    case _:
                        self._heard(message)
        return CLOSED


def _at_once(ended: Coroutine[Any, Any, _T]) -> _T:
    """What grpc knows of a call that has ended: coroutines that have nothing to wait for."""
    try:
        ended.send(None)
    except StopIteration as done:
        value: _T = done.value
        return value
    raise RuntimeError("a call that has ended has no status")
