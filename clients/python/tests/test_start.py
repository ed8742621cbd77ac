"""How a bot is started, and how it finds its arena."""

import asyncio
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Awaitable, Callable
from importlib import metadata
from pathlib import Path
from unittest import mock

import grpc

import flip7
from flip7._arena import Arena, arena_of
from flip7._end import End, Status
from flip7._needs import NEEDED
from flip7._stream import Stream
from flip7.v1 import play_service_pb2 as wire
from tests.arena import PATIENCE, ask, goodbye, started, stay

ENVIRONMENT = {"FLIP7_ADDR": "localhost:1", "FLIP7_TOKEN": "x", "FLIP7_CA": "", "FLIP7_PRACTICE": ""}


class Wrongly(unittest.IsolatedAsyncioTestCase):
    async def test_started(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder) / "empty.pem"
            empty.touch()
            other = Path(folder) / "bot.py"
            other.write_text("import flip7\n")
            bots = (
                (flip7.Bot(decide=None), "Bot.decide is None, want the function"),  # type: ignore[arg-type]
                (flip7.Bot(decide=stay, max_open=0), "Bot.max_open is 0, want 1 or more"),
            )
            cases = (
                ("FLIP7_TOKEN", " \n", "FLIP7_TOKEN is not set"),
                ("FLIP7_TOKEN", "x\ny", "FLIP7_TOKEN holds blanks"),
                ("FLIP7_ADDR", "localhost", '"localhost" is not host:port'),
                ("FLIP7_ADDR", "http://localhost", '"http://localhost" is not host:port'),
                ("FLIP7_ADDR", ":7777", '":7777" is not host:port'),
                ("FLIP7_ADDR", "localhost:99999", "has port 99999, want 1 to 65535"),
                ("FLIP7_ADDR", "http://localhost:0", "has port 0, want 1 to 65535"),
                ("FLIP7_ADDR", "localhost:arena", "has port arena, want 1 to 65535"),
                ("FLIP7_ADDR", "https://arena.test/play", "is not host:port"),
                ("FLIP7_ADDR", "grpc://localhost:1", "begins with grpc://, want http://"),
                ("FLIP7_CA", str(empty), "holds no certificate"),
                ("FLIP7_CA", str(other), "holds no certificate"),
                ("FLIP7_CA", f"{empty}x", "FLIP7_CA cannot be read"),
                ("FLIP7_PRACTICE", "yes", 'FLIP7_PRACTICE is "yes", want 1'),
            )
            for bot, says in bots:
                with (
                    self.subTest(says),
                    mock.patch.dict(os.environ, ENVIRONMENT),
                    self.assertRaisesRegex(flip7.UsageError, says),
                ):
                    await flip7.play(bot)
            for variable, value, says in cases:
                environment = {**ENVIRONMENT, variable: value}
                with self.subTest(says), mock.patch.dict(os.environ, environment):
                    with self.assertRaises(flip7.UsageError) as caught:
                        await flip7.play(flip7.Bot(decide=stay))
                    self.assertIn(says, str(caught.exception))
            both = {**ENVIRONMENT, "FLIP7_ADDR": "http://localhost:1", "FLIP7_CA": str(empty)}
            with mock.patch.dict(os.environ, both), self.assertRaisesRegex(flip7.UsageError, "clear text but FLIP7_CA is set"):
                await flip7.play(flip7.Bot(decide=stay))


class Addresses(unittest.TestCase):
    def test_where_and_how(self) -> None:
        for written, addr, tls in (
            ("", "127.0.0.1:7777", False),
            ("localhost:1", "localhost:1", False),
            ("127.0.0.2:1", "127.0.0.2:1", False),
            ("[::1]:1", "[::1]:1", False),
            ("arena.test:1", "arena.test:1", True),
            ("[2001:db8::1]:1", "[2001:db8::1]:1", True),
            ("http://arena.test:1/", "arena.test:1", False),
            ("https://arena.test", "arena.test:443", True),
            ("https://localhost:1", "localhost:1", True),
            ("https://[::1]", "[::1]:443", True),
        ):
            with self.subTest(written), mock.patch.dict(os.environ, {**ENVIRONMENT, "FLIP7_ADDR": written}):
                arena = arena_of("")
                self.assertEqual((arena.addr, arena.tls, arena.roots), (addr, tls, None))


Context = grpc.aio.ServicerContext


async def send_away(_requests: object, context: Context) -> None:
    """Send any bot away once it has said hello."""
    await context.read()
    await context.write(wire.PlayResponse(messages=[goodbye("REPLACED", "reached")]))


async def hold(_requests: object, context: Context) -> None:
    """Ask a bot something and wait for ever."""
    await context.read()
    welcome = wire.ArenaMessage(welcome=wire.Welcome(protocol=1))
    await context.write(wire.PlayResponse(messages=[welcome, started("g"), ask("r1")]))
    await asyncio.Event().wait()


def serving(play: Callable[[object, Context], Awaitable[None]] = send_away) -> grpc.aio.Server:
    handler = grpc.stream_stream_rpc_method_handler(play, wire.PlayRequest.FromString, wire.PlayResponse.SerializeToString)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("flip7.v1.PlayService", {"Play": handler}),))
    return server


class Ways(unittest.IsolatedAsyncioTestCase):
    """With and without TLS."""

    async def end(self, arena: Arena) -> End:
        stream = Stream(arena, "x", mock.Mock())
        stream.say(wire.BotMessage(hello=wire.Hello()))
        reading = asyncio.create_task(asyncio.to_thread(stream.hear, print))
        end = await asyncio.wait_for(stream.converse(), PATIENCE)
        self.assertFalse(await reading)
        return arena.end_of(end, met=False) if isinstance(end, Status) else end

    async def test_nobody_there(self) -> None:
        end = await self.end(Arena("nowhere", "127.0.0.1:1", tls=False))
        self.assertTrue(end.come_back)
        self.assertRegex(end.words, r"^cannot reach nowhere: Connection refused( \(\d+\))?$")

    @unittest.skipUnless(shutil.which("openssl"), "openssl is missing: it makes the certificate")
    async def test_tls(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = Path(folder) / "key.pem", Path(folder) / "arena.pem"
            make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=arena"
            names = f"-addext subjectAltName=DNS:localhost -keyout {key} -out {certificate}"
            subprocess.run(f"{make} {names}".split(), check=True, capture_output=True)
            roots = certificate.read_bytes()
            server = serving()
            credentials = grpc.ssl_server_credentials([(key.read_bytes(), roots)])
            secure, clear = server.add_secure_port("localhost:0", credentials), server.add_insecure_port("127.0.0.1:0")
            await server.start()
            try:
                for addr, tls, trusts, says, come_back in (
                    (f"localhost:{secure}", True, roots, "took over: reached", False),
                    (f"localhost:{secure}", True, None, "is not trusted.*; FLIP7_CA names the PEM file to trust", False),
                    (f"127.0.0.1:{secure}", True, roots, "it is for another name", False),
                    (f"127.0.0.1:{clear}", True, roots, "does not speak TLS; .* write http://", False),
                    (f"localhost:{secure}", False, None, "closes connections in clear text; .* write https://", True),
                ):
                    with self.subTest(says):
                        end = await self.end(Arena("there", addr, tls, trusts))
                        self.assertRegex(end.words, says)
                        self.assertEqual(end.come_back, come_back)
                certificate.write_bytes("# Müller\n".encode() + roots)
                with mock.patch.dict(os.environ, {"FLIP7_CA": str(certificate)}):
                    self.assertRegex((await self.end(arena_of(f"localhost:{secure}"))).words, "took over: reached")
            finally:
                await server.stop(None)


class Needs(unittest.TestCase):
    """What is missing is said in words."""

    def test_what_is_missing(self) -> None:
        for module, holds, says in (
            ("grpc", "raise ImportError('No module named grpc')", "flip7 needs grpcio and protobuf: pip install"),
            ("grpc", "__version__ = '1.59.0'", "flip7 needs grpcio 1.80 or later, this is 1.59.0: pip install"),
            ("google/protobuf", "__version__ = '4.25.1'", "flip7 needs protobuf 6.30 or later, this is 4.25.1: pip install"),
        ):
            with self.subTest(says), tempfile.TemporaryDirectory() as folder:
                package = Path(folder) / module
                package.mkdir(parents=True)
                (package / "__init__.py").write_text(holds)
                path = os.pathsep.join((folder, *sys.path))
                command = (sys.executable, "-c", "import flip7")
                ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
                self.assertIn(f"ImportError: {says}", ran.stderr)

    def test_is_what_the_package_says(self) -> None:
        try:
            requires = metadata.requires("flip7-arena") or []
        except metadata.PackageNotFoundError:
            self.skipTest("the kit is not installed as a package")
        for name, version in NEEDED.items():
            self.assertTrue(any(r.startswith(name) and f">={version}" in r for r in requires), requires)


#: A bot that thinks for ever, if it is asked anything.
PROGRAM = """
import sys, time, flip7

def decide(view):
    print("thinking", file=sys.stderr)
    time.sleep(3600)

flip7.run(decide)
"""


class Programs(unittest.IsolatedAsyncioTestCase):
    async def start(self, **environment: str) -> asyncio.subprocess.Process:
        inherited = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **ENVIRONMENT, **environment}
        program = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, env=inherited, stderr=subprocess.PIPE)
        self.addCleanup(lambda: program.returncode is None and program.kill())
        return program

    async def ended(self, program: asyncio.subprocess.Process) -> tuple[int | None, str]:
        _, said = await asyncio.wait_for(program.communicate(), PATIENCE)
        return program.returncode, said.decode()

    async def heard(self, program: asyncio.subprocess.Process, words: str) -> None:
        assert program.stderr
        while True:
            line = (await asyncio.wait_for(program.stderr.readline(), PATIENCE)).decode()
            self.assertTrue(line, f"the program ended without {words}")
            if words in line:
                return

    async def test_that_was_started_wrongly(self) -> None:
        code, said = await self.ended(await self.start(FLIP7_TOKEN=""))
        self.assertEqual(code, 2)
        self.assertTrue(said.startswith("flip7: FLIP7_TOKEN is not set"), said)

    async def test_that_the_arena_sends_away(self) -> None:
        server = serving()
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        code, said = await self.ended(await self.start(FLIP7_ADDR=f"127.0.0.1:{port}"))
        await server.stop(None)
        self.assertEqual((code, said), (1, "flip7: another stream of the same instance took over: reached\n"))

    @unittest.skipIf(sys.platform == "win32", "there is no SIGINT to send")
    async def test_that_is_interrupted_while_nobody_is_there(self) -> None:
        program = await self.start(FLIP7_ADDR="127.0.0.1:1")
        await self.heard(program, "cannot reach 127.0.0.1:1: ")
        program.send_signal(signal.SIGINT)
        code, said = await self.ended(program)
        self.assertEqual(code, 0)
        self.assertIn("interrupt again to leave at once", said)

    @unittest.skipIf(sys.platform == "win32", "there is no SIGSTOP to send")
    async def test_whose_connection_is_reset_with_the_last_that_it_hears(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(PATIENCE)
            program = await self.start(FLIP7_ADDR=f"127.0.0.1:{server.getsockname()[1]}")
            arena, _ = server.accept()
            with arena:
                arena.settimeout(PATIENCE)
                arena.sendall(bytes.fromhex("000000 04 00 00000000"))  # the settings of HTTP/2
                said = b""
                while b"/flip7.v1.PlayService/Play" not in said:
                    said += arena.recv(4096)
                program.send_signal(signal.SIGSTOP)  # so that it sees at once what comes now
                await asyncio.to_thread(os.waitpid, program.pid, os.WUNTRACED)
                arena.sendall(bytes.fromhex("000000 04 01 00000000"))  # its settings are acknowledged
                arena.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() resets
            program.send_signal(signal.SIGCONT)
            await self.heard(program, "trying again")
        program.kill()
        await self.ended(program)

    @unittest.skipIf(sys.platform == "win32", "there is no SIGINT to send")
    async def test_that_is_interrupted_twice_in_a_game(self) -> None:
        server = serving(hold)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        program = await self.start(FLIP7_ADDR=f"127.0.0.1:{port}")
        await self.heard(program, "thinking")
        program.send_signal(signal.SIGINT)
        await self.heard(program, "interrupt again to leave at once")
        program.send_signal(signal.SIGINT)
        code, _ = await self.ended(program)
        await server.stop(None)
        self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
