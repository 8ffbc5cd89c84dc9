"""A Worker that is a server: newline-delimited JSON-RPC 2.0 over a TCP connection on loopback.

The server belongs to the user. A crash closes the connection; what ends the Worker without a word
and brings it up again is the user's own command, and whatever that leaves in its process group is
killed at the next crash and at the end. The conversation itself is `line_port`'s. Never starts a
server that the user did not ask for.
"""

import os
import select
import shlex
import socket
import time
from contextlib import suppress

from attrs import define, field, frozen

from worker_conformance.errors import AdapterError
from worker_conformance.port import messages
from worker_conformance.port.channel import READ_BYTES, STDERR_KEPT_BYTES, Channel
from worker_conformance.port.declaration import Declaration
from worker_conformance.port.line_port import LinePort
from worker_conformance.port.process import ServerProcess, describe_status

CONNECT_AGAIN_SECONDS = 0.02  # between two attempts, while a server is coming up
CONNECTIONS_MAX = 20  # of those that a dying server may take; it is gone within milliseconds
DISCONNECTED = "disconnected"


@frozen
class Address:
    """Where a server listens: a host of this machine, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return `host:port`, as it is written after `tcp:`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@define
class Connection:
    """One connection: over after `end`, which closes every descriptor of it."""

    channel: Channel
    _socket: socket.socket
    _writing: int

    @classmethod
    def over(cls, connected: socket.socket, log: int | None) -> "Connection":
        """Take over a connected socket; `log` is a descriptor with what the server writes."""
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Polled in two roles, for reading and for writing: each needs a descriptor of its own.
        writing = os.dup(connected.fileno())
        return cls(Channel(writing, connected.fileno(), log), connected, writing)

    def close_writing(self) -> None:
        """Let the Worker see the end of its input."""
        with suppress(OSError):  # it has closed the connection already
            self._socket.shutdown(socket.SHUT_WR)

    def end(self) -> int:
        """Close the connection; idempotent."""
        if self._socket.fileno() >= 0:
            self.channel.drain_stderr()
            os.close(self._writing)
            self._socket.close()
        return 0


@define
class TcpPort(LinePort):
    """The Port to the server at `address`. `restart_command` may be empty: then nothing crashes."""

    address: Address
    restart_command: tuple[str, ...] = ()
    transport: str = field(default="tcp", init=False)
    stream: str = field(default="the connection", init=False)
    _connection: Connection | None = field(default=None, init=False)
    _server: ServerProcess | None = field(default=None, init=False)
    _dead: bool = field(default=False, init=False)  # crashed, and not brought up again
    _restarted: bool = field(default=False, init=False)  # for the present `initialize`

    def initialize(self) -> Declaration:
        """Connect and return what the Worker declares; a server in disorder is restarted once."""
        self._restarted = False
        connections_left = CONNECTIONS_MAX
        while True:
            try:
                return super().initialize()
            except AdapterError as failure:
                if self._restarted and failure.code == DISCONNECTED and connections_left:
                    # A server that was killed may still have taken this connection, and died then.
                    connections_left -= 1
                    select.select([], [], [], CONNECT_AGAIN_SECONDS)
                elif self._restarted or not self.restart_command:
                    raise
                else:
                    self._dead = True

    def crash(self) -> None:
        """Close the connection and kill what is ours; the next start is by the restart command."""
        self.close()
        self._dead = True

    def close(self) -> None:
        """Close the connection, and kill what the restart command has left in its group."""
        self._end()
        self._dead = False
        server, self._server = self._server, None
        if server is not None:
            server.end()

    def shutdown(self) -> None:
        """Ask the Worker to end; it answers and closes the connection."""
        connection = self._connection
        if connection is None:
            self.close()
            return
        try:
            outcome = self._call("shutdown", None, "'shutdown'")
            messages.check_shutdown_result(self._result(outcome, "'shutdown'"))
            connection.close_writing()
            ended = connection.channel.ends_within(self.grace_seconds)
            self._refuse_noise(connection, "after the answer to 'shutdown'")
        finally:
            self.close()
        if not ended:
            raise AdapterError(
                "did-not-close",
                f"the connection was still open {self.grace_seconds:g} s after the answer to "
                "'shutdown'",
                "answer, flush, and close the connection" + self._last_words(),
            )

    def _begin(self) -> None:
        connected = None if self._dead else self._connected()
        if connected is None:
            if not self._restarted:
                self._restarted = True
                self._restart_server()
            connected = self._connected_in_time()
            self._dead = False
        log = None if self._server is None else self._server.output
        self._connection = Connection.over(connected, log)

    def _peer_or_none(self) -> Connection | None:
        return self._connection

    def _take_peer(self) -> Connection | None:
        connection, self._connection = self._connection, None
        return connection

    def _closed(self, called: str) -> AdapterError:
        self._end()
        return AdapterError(
            DISCONNECTED,
            f"the Worker closed the connection before it answered {called}",
            "keep the connection open until 'shutdown'; the server's own log may say more"
            + self._last_words(),
        )

    def _connected(self) -> socket.socket | None:
        """Return a connection, or None where nothing listens."""
        host, port = self.address.host, self.address.port
        try:
            return socket.create_connection((host, port), self.timeout_seconds)
        except ConnectionRefusedError:
            return None
        except OSError as error:
            raise AdapterError(
                "cannot-connect",
                f"{self.address} cannot be reached: {error.strerror or error}",
                "see that the server listens on this machine, and takes connections",
            ) from None

    def _restart_server(self) -> None:
        """Run the restart command to its end; raise where there is none, or where it fails."""
        if not self.restart_command:
            raise self._nothing_restarts()
        if self._server is not None:
            self._server.end()
        server = self._server = ServerProcess.start(self.restart_command)
        os.set_blocking(server.output, False)
        deadline = time.monotonic() + self.timeout_seconds
        while not server.exits_within(CONNECT_AGAIN_SECONDS):
            self._drain(server)
            if time.monotonic() > deadline:
                raise self._gone_wrong(
                    "restart-timeout",
                    f"did not end within {self.timeout_seconds:g} s",
                    "it has to end once it has started the Worker: put a server into the "
                    "background, as in --restart \"sh -c 'my-server 4000 &'\"",
                )
        status = server.status()
        if status != 0:
            raise self._gone_wrong(
                "restart-failed",
                describe_status(status),
                "run it by hand in the same directory; it has to exit with status 0",
            )

    def _connected_in_time(self) -> socket.socket:
        deadline = time.monotonic() + self.timeout_seconds
        while time.monotonic() < deadline:
            connected = self._connected()
            if connected is not None:
                return connected
            select.select([], [], [], CONNECT_AGAIN_SECONDS)
            if self._server is not None:
                self._drain(self._server)
        raise self._gone_wrong(
            "cannot-connect",
            f"ended well, but nothing listens at {self.address} {self.timeout_seconds:g} s later",
            "see that the server uses this port, and may use it again at once (SO_REUSEADDR)",
        )

    def _nothing_restarts(self) -> AdapterError:
        if self._dead:
            return AdapterError(
                "cannot-restart",
                f"this check crashes the Worker, and nothing restarts the server at {self.address}",
                "name a command that does: --restart COMMAND",
            )
        return AdapterError(
            "cannot-connect",
            f"nothing listens at {self.address}",
            "start the server first, or name a command that does: --restart COMMAND",
        )

    def _gone_wrong(self, code: str, what: str, hint: str) -> AdapterError:
        """End the restart command and all that it started, and say what was wrong with it."""
        if self._server is not None:
            self._drain(self._server)
        self.close()
        command = shlex.join(self.restart_command)
        return AdapterError(
            code, f"the restart command '{command}' {what}", hint + self._last_words()
        )

    def _drain(self, server: ServerProcess) -> None:
        """Keep the end of what the restart command has written: a full pipe would stop it."""
        with suppress(BlockingIOError):
            text = os.read(server.output, READ_BYTES).decode("utf-8", "backslashreplace")
            self._stderr = (self._stderr + text)[-STDERR_KEPT_BYTES:]
