"""Servers that misbehave, on 127.0.0.1."""

import http.server
import json
import socket
import threading
from typing import Any, Callable, Dict, List, Tuple
from urllib.parse import urlsplit


class Scripted:
    """Answers the nth request, from 1, with (status, headers, body), or with None, which closes the connection. A
    header that is None is left out."""

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self.asked: List[Dict[str, Any]] = []
        self.connections = 0
        script = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                script.connections += 1
                super().setup()

            def any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                script.asked.append({"method": self.command, "path": self.path, "body": body.decode(),
                                     "key": self.headers["Idempotency-Key"], "auth": self.headers["Authorization"]})
                given = answer(len(script.asked))
                if given is None:
                    self.close_connection = True
                    return
                status, headers, text = given
                self.send_response(status)
                for name, value in {"Content-Length": str(len(text)), **headers}.items():
                    if value is not None:
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = do_DELETE = any

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def problem(status: int, code: str, **headers: str) -> Tuple[int, Dict[str, str], bytes]:
    text = json.dumps({"code": code, "status": status, "messages": [{"path": "amount", "text": "Because."}],
                       "requestID": "req-1"}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"Content-Type": "application/problem+json", **named}, text


class Losing:
    """A TCP proxy before a service. It hands every request on, and where lose(request) says so it waits for the
    answer and closes the connection in its place."""

    def __init__(self, url: str, lose: Callable[[bytes], bool]) -> None:
        to = urlsplit(url)
        self.to, self.lose, self.lost = (to.hostname, to.port), lose, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(sock,), daemon=True).start()

    def carry(self, caller: socket.socket) -> None:
        """One request after the other; those of the SDK are small and have a Content-Length."""
        with caller, socket.create_connection(self.to) as service:
            while True:
                request = message(caller)
                if not request:
                    return
                service.sendall(request)
                answer = message(service)
                if self.lose(request):
                    self.lost += 1
                    return
                caller.sendall(answer)

    def close(self) -> None:
        self.listener.close()


def message(sock: socket.socket) -> bytes:
    """A request or an answer, whole; b"": the line was closed."""
    got = b""
    while b"\r\n\r\n" not in got:
        more = sock.recv(65536)
        if not more:
            return b""
        got += more
    head, _, body = got.partition(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line[15:])
    while len(body) < length:
        more = sock.recv(65536)
        if not more:
            return b""
        got, body = got + more, body + more
    return got
