"""One stream to the arena, from its hello to its end."""

from __future__ import annotations

import asyncio
import logging
import queue
from collections.abc import Callable, Iterator

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


class Stream:
    """Answers pings itself, so that nothing that the bot does delays a pong, and hands on what else it hears.

    It is held on an event loop and read in threads, one at a time; any thread may say something.
    """

    def __init__(self, arena: Arena, token: str, log: logging.Logger) -> None:
        self._log = log
        self._out: queue.SimpleQueue[wire.BotMessage | None] = queue.SimpleQueue()  # None: the bot's side is to be closed
        self._channel = arena.channel()
        play: grpc.StreamStreamMultiCallable[wire.PlayRequest, wire.PlayResponse] = self._channel.stream_stream(
            "/flip7.v1.PlayService/Play", wire.PlayRequest.SerializeToString, wire.PlayResponse.FromString
        )
        call = play(self._batches(), metadata=(("authorization", f"Bearer {token}"),))
        self._call: grpc._CallIterator[wire.PlayResponse] | None = call  # None: it is over
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[End | Status] = self._loop.create_future()
        self._over = False  # what is still heard is of no use
        self._patience = 3 * _USUAL_PING
        self._last_heard = self._loop.time()
        self._timer = self._loop.call_later(self._patience, self._look)
        self.drained = 0.0  #: seconds to stay away afterwards, as Drain said

    def say(self, message: wire.BotMessage) -> None:
        """Say something; the first thing is to be the hello."""
        self._out.put(message)

    def leave(self) -> None:
        """Close the bot's side; the arena closes the other. On the loop."""
        self._out.put(None)
        self._loop.call_later(_LEAVE_WAIT, self.cut, CLOSED)

    def cut(self, end: End) -> None:
        """End the stream at once. On the loop."""
        self._over = True
        if not self._ended.done():
            self._ended.set_result(end)

    async def converse(self) -> End | Status:
        """Hold the stream to its end: a goodbye, or the status with which it ended without one. Somebody is to hear()."""
        try:
            return await self._ended
        finally:
            self._over = True
            self._timer.cancel()
            if self._call:
                self._call.cancel()
            self._out.put(None)  # for who waits for something to send
            self._channel.close()
            # Left to the end of Python, the call's destructor may wait for ever: for a lock that a thread of grpc held which
            # Python has ended.
            self._call = None
            del self._channel

    def _look(self) -> None:
        """End the stream if nothing was heard for three ping intervals."""
        self._timer.cancel()
        left = self._last_heard + self._patience - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        else:
            self.cut(SILENT)

    def hear(self, heard: Callable[[str, wire.ArenaMessage], None]) -> bool:
        """Wait for what the arena says next, and hand on what concerns the games, with its kind. False: it was the last.

        One thread at a time.
        """
        end: End | Status | None
        call = self._call
        if call is None:
            return False
        try:
            end = self._take(next(call), heard)
        except StopIteration:
            end = CLOSED
        except grpc.RpcError as error:
            end = Status(call.code(), call.details() or "", tuple(call.trailing_metadata() or ()))
            error.__traceback__ = None  # it is the call, which would hold itself
        except BaseException as error:
            self._loop.call_soon_threadsafe(self._fail, error)
            return False
        if end is not None:
            self._loop.call_soon_threadsafe(self._end, end)
        return end is None

    def _end(self, end: End | Status) -> None:
        """Keep how it ended; what the kit itself said before stands."""
        if not self._ended.done():
            self._ended.set_result(end)

    def _fail(self, error: BaseException) -> None:
        if not self._ended.done():
            self._ended.set_exception(error)

    def _batches(self) -> Iterator[wire.PlayRequest]:
        """Collect what is said into batches that nothing is awaited for. Runs in a thread of grpc."""
        while True:
            batch = [self._out.get()]
            while batch[-1] is not None and len(batch) < _BATCH:
                try:
                    batch.append(self._out.get_nowait())
                except queue.Empty:
                    break
            messages = [message for message in batch if message is not None]
            if messages:
                yield wire.PlayRequest(messages=messages)
            if batch[-1] is None:
                return

    def _take(self, response: wire.PlayResponse, heard: Callable[[str, wire.ArenaMessage], None]) -> End | None:
        if self._over:
            return CLOSED
        self._last_heard = self._loop.time()
        for message in response.messages:
            match kind := message.WhichOneof("message"):
                case "request":
                    heard(kind, message)
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
                    self._loop.call_soon_threadsafe(self._look)
                    heard(kind, message)
                case None:
                    pass  # of a kind that came later than this kit
                case _:
                    heard(kind, message)
        return None
