"""Connections that are kept, and answers that come in time or not at all."""

import http.client
import io
import os
import selectors
import socket
import ssl
import threading
import time
from typing import Any, Dict, List, NamedTuple, Optional

LARGEST = 64 << 20  # bytes of an answer, far above what the service sends


class NotSent(Exception):
    """No connection was made, so nothing of the request has left."""


class Reply(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


def left(deadline: float) -> float:
    """The seconds until a moment of time.monotonic."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise socket.timeout("the time for an answer is over")
    return seconds


class _InTime:
    """A socket of which every operation ends at the deadline: a server that sends a byte now and then does not hold
    the caller. It has what http.client asks of one."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self.sock, self.deadline = sock, deadline

    def sendall(self, data: bytes) -> None:
        self.sock.settimeout(left(self.deadline))
        self.sock.sendall(data)

    def makefile(self, mode: str, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self))

    def close(self) -> None:
        self.sock.close()


class _Reader(io.RawIOBase):
    def __init__(self, source: _InTime) -> None:
        self.source, self.file = source, source.sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        self.source.sock.settimeout(left(self.source.deadline))
        return self.file.readinto(buffer)  # type: ignore[attr-defined]

    def close(self) -> None:
        self.file.close()
        super().close()


class _Connection(http.client.HTTPConnection):
    """A connection that was dialled, and dials no other: that would be neither checked nor in time."""

    auto_open = 0

    def __init__(self, host: str, port: int, line: _InTime) -> None:
        super().__init__(host, port)
        self.line = line
        self.sock: Any = line


class Transport:
    """Calls one host. Safe to use from several threads, and after a fork."""

    def __init__(self, host: str, port: int, tls: Optional[ssl.SSLContext]) -> None:
        self.host, self.port, self.tls = host, port, tls
        self.lock = threading.Lock()
        self.idle: List[_Connection] = []
        self.process = os.getpid()

    def ask(self, method: str, target: str, body: Optional[bytes], headers: Dict[str, str], timeout: float) -> Reply:
        """Makes one request. NotSent: it cannot have arrived; OSError and HTTPException: it may have."""
        deadline = time.monotonic() + timeout
        conn = self._kept() or self._connect(deadline)
        done = False
        try:
            conn.line.deadline = deadline
            conn.request(method, target, body, headers)
            with conn.getresponse() as response:
                text = response.read(LARGEST + 1)
                if len(text) > LARGEST or response.length:
                    raise http.client.IncompleteRead(b"")
            done = True
        finally:
            if not done:
                conn.close()
                self.close()  # those of the same age have probably met the same end
        self._keep(conn)
        return Reply(response.status, response.headers, text)

    def close(self) -> None:
        """Closes the connections that are kept."""
        with self.lock:
            idle, self.idle = self.idle, []
        for conn in idle:
            conn.close()

    def _kept(self) -> Optional[_Connection]:
        if self.process != os.getpid():  # the connections are the parent's
            self.lock, self.process = threading.Lock(), os.getpid()
            self.close()
        while True:
            with self.lock:
                if not self.idle:
                    return None
                conn = self.idle.pop()
            with selectors.DefaultSelector() as waiting:
                waiting.register(conn.line.sock, selectors.EVENT_READ)
                if not waiting.select(0):
                    return conn
            conn.close()  # the server has closed it, or says what nobody asked

    def _keep(self, conn: _Connection) -> None:
        with self.lock:
            if conn.sock is not None and len(self.idle) < 8:
                self.idle.append(conn)
                return
        conn.close()

    def _connect(self, deadline: float) -> _Connection:
        try:
            sock = self._dial(deadline)
        except OSError as e:
            raise NotSent(f"no connection to {self.host}:{self.port}: {e}") from e
        conn = _Connection(self.host, self.port, _InTime(sock, deadline))
        if self.tls:
            conn.default_port = 443  # which the Host header leaves out
        return conn

    def _dial(self, deadline: float) -> socket.socket:
        addresses = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        for n, (family, kind, protocol, _, address) in enumerate(addresses):
            sock = socket.socket(family, kind, protocol)
            try:
                # An address that leads nowhere leaves time for the others.
                sock.settimeout(left(deadline) / (len(addresses) - n))
                sock.connect(address)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if not self.tls:
                    return sock
                sock.settimeout(left(deadline))
                return self.tls.wrap_socket(sock, server_hostname=self.host)
            except OSError as e:
                sock.close()
                if n == len(addresses) - 1 or isinstance(e, ssl.SSLError):
                    raise
        raise OSError("the name has no address")
