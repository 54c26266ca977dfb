"""An endpoint that attacks its clients: the name of the model chooses how. Loopback only."""

import base64
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fake_server import FakeServer, _Handler, error


class HostileServer(FakeServer):
    """Attacks with every response after the first `polite` ones, `attacks` times at most."""

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = _Hostile
        self.polite = 0
        self.attacks = 10**9
        self.elsewhere: list[Any] = []
        """What arrived where the redirect leads."""

    def is_polite(self) -> bool:
        with self.lock:
            if len(self.bodies) <= self.polite or self.attacks <= 0:
                return True
            self.attacks -= 1
            return False


@contextmanager
def attacking() -> Iterator[HostileServer]:
    """A hostile server for as long as the block runs."""
    server = HostileServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class _Hostile(_Handler):
    server: HostileServer

    def do_POST(self) -> None:  # noqa: N802 (http.server's name)
        if self.path.startswith("/elsewhere"):
            self.server.elsewhere.append(dict(self.headers))
        super().do_POST()

    def _answer(self, body: dict[str, Any]) -> None:
        attack = ATTACKS.get(body["model"])
        if attack is None or self.server.is_polite():
            return super()._answer(body)
        attack(self, body)

    @property
    def key(self) -> str:
        return self.headers["authorization"].removeprefix("Bearer ")

    def changed(self, body: dict[str, Any], **changes: Any) -> None:
        """A good completion but for some of its parts."""
        completion = self._completion(body)
        choice = completion["choices"][0]
        if "content" in changes:
            choice["message"]["content"] = changes.pop("content")
        if "top" in changes and "logprobs" in choice:
            rows = [{"token": token, "logprob": log} for token, log in changes["top"]]
            choice["logprobs"] = {"content": [{**rows[0], "top_logprobs": rows}]}
        changes.pop("top", None)
        if "finish" in changes:
            choice["finish_reason"] = changes.pop("finish")
        self._send(200, {}, json.dumps({**completion, **changes}))

    def drip(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "1000")
        self.end_headers()
        for _ in range(60):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.1)

    def raw(self, content: bytes, *headers: str) -> None:
        self.wfile.write("\r\n".join(["HTTP/1.1 200 OK", *headers, "", ""]).encode() + content)
        self.close_connection = True

    def encoded_keys(self, body: dict[str, Any]) -> None:
        key = self.key
        forms = [
            base64.b64encode(key.encode()).decode(),
            base64.b64encode(f"Bearer {key}".encode()).decode(),
            key.encode().hex(),
            "".join(f"%{byte:02X}" for byte in key.encode()),
            key[:-3],
            key[4:],
        ]
        completion = self._completion(body)
        completion["choices"][0]["message"]["content"] = " ".join(["positive SPELT", *forms])
        spelt = "".join(f"\\u{ord(letter):04x}" for letter in key)
        self._send(200, {}, json.dumps(completion).replace("SPELT", spelt))

    def bomb(self) -> None:
        content = gzip.compress(bytes(200 * 2**20), 9)
        self._send_bytes(content, "gzip")

    def _send_bytes(self, content: bytes, encoding: str) -> None:
        self.raw(content, f"Content-Encoding: {encoding}", f"Content-Length: {len(content)}")

    def endless(self) -> None:
        self.raw(b"", "Content-Type: application/json")
        for _ in range(200):
            self.wfile.write(b" " * 2**17)


def _logprobs(*pairs: tuple[str, float]) -> Callable[[_Hostile, dict[str, Any]], None]:
    return lambda handler, body: handler.changed(body, top=list(pairs))


def _usage(value: Any) -> Callable[[_Hostile, dict[str, Any]], None]:
    return lambda handler, body: handler.changed(body, usage=value)


def _status(status: int, **headers: str) -> Callable[[_Hostile, dict[str, Any]], None]:
    return lambda handler, body: handler._send(*error(status, "come again", **headers))


ATTACKS: dict[str, Callable[[_Hostile, dict[str, Any]], None]] = {
    "key-in-content": lambda handler, body: handler.changed(body, content=f"positive {handler.key}"),
    "key-in-fingerprint": lambda handler, body: handler.changed(body, system_fingerprint=handler.key),
    "key-in-finish": lambda handler, body: handler.changed(body, finish=handler.key),
    "key-in-model": lambda handler, body: handler.changed(body, model=f"m-{handler.key}"),
    "key-in-token": lambda handler, body: handler.changed(body, top=[("pos", -0.1), (handler.key, -5.0)]),
    "key-encoded": lambda handler, body: handler.encoded_keys(body),
    "key-in-401": lambda handler, body: handler._send(*error(401, "x" * 470 + handler.key)),
    "key-in-500": lambda handler, body: handler._send(500, {}, f"<p>{'y' * 290}{handler.key}</p>\x1b[2J"),
    "key-in-reason": lambda handler, body: handler.raw(b"", "Content-Length: x", f"X: {handler.key}"),
    "surrogate": lambda handler, body: handler.changed(body, content="positive \ud800 x", model="m\udfff"),
    "nan": _logprobs(("pos", float("nan")), ("neg", -1.0)),
    "token-twice": _logprobs(("pos", -1.0), ("pos", -1.0), ("neg", -2.0)),
    "mass-above-1": _logprobs(("pos", -0.1), ("neg", -0.5)),
    "drip": lambda handler, body: handler.drip(),
    "retry-1e10": _status(429, retry_after="1e10"),
    "retry-nan": _status(503, retry_after="nan"),
    "retry-year-9999": _status(503, retry_after="Fri, 31 Dec 9999 23:59:59 GMT"),
    "deep": lambda handler, body: handler._send(200, {}, "[" * 200_000),
    "usage-infinite": _usage({"prompt_tokens": float("inf"), "completion_tokens": 1}),
    "usage-negative": _usage({"prompt_tokens": -(10**12), "completion_tokens": 1}),
    "redirect": lambda handler, body: handler._send(
        307, {"location": handler.server.url.replace("/v1", "/elsewhere/v1/chat/completions")}, ""
    ),
    "bomb": lambda handler, body: handler.bomb(),
    "brotli": lambda handler, body: handler._send_bytes(b"x", "br"),
    "endless": lambda handler, body: handler.endless(),
    "huge-logprob": lambda handler, body: handler._send(
        200, {}, json.dumps(handler._completion(body)).replace('"logprob": -', '"logprob": -1' + "0" * 400)
    ),
}
