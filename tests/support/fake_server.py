"""A chat-completions server on this machine that answers by a rule, and misbehaves when it is told to."""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Rule = Callable[[str], str]
Trouble = tuple[int, dict[str, str], str]
"""Status, headers, body."""


def by_words(question: str) -> str:
    """Bad things are negative, good ones positive; of the rest it says what nobody asked for."""
    text = question.lower()
    if any(word in text for word in ("awful", "bad", "terrible", "hate", "boring")):
        return "negative"
    return "positive" if any(word in text for word in ("good", "great", "lovely", "love")) else "neutral"


class FakeServer(ThreadingHTTPServer):
    """What was asked of it, and what it does."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, rule: Rule = by_words, key: str = "", logprobs: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.rule, self.key, self.logprobs = rule, key, logprobs
        self.reads: Callable[[list[dict[str, str]]], str] | None = None
        """A rule on all turns, in place of the one on the last."""
        self.bodies: list[dict[str, Any]] = []
        self.troubles: list[Any] = []
        """What happens to the next requests instead of an answer: a Trouble, "cut", or a text that is no JSON."""
        self.after: int | None = None
        """After so many requests, `then` happens to all."""
        self.then: Any = None
        self.delay = 0.0
        self.most_top = 20
        self.tokens: list[tuple[str, float]] = []
        """The likeliest first tokens and their probabilities, if not those of what it says."""
        self.finish = "stop"
        self.model = ""
        """The name that it gives the model, if any."""
        self.schema_allowed = True
        self.lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that were stopped have gone."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def next_trouble(self) -> Any:
        with self.lock:
            if self.troubles:
                return self.troubles.pop(0)
            return self.then if self.after is not None and len(self.bodies) > self.after else None


@contextmanager
def serving(**how: Any) -> Iterator[FakeServer]:
    """A server for as long as the block runs."""
    server = FakeServer(**how)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def error(status: int, message: str, code: str = "", **headers: str) -> Trouble:
    """An error as OpenAI words it."""
    return status, headers, json.dumps({"error": {"message": message, "code": code}})


class _Handler(BaseHTTPRequestHandler):
    server: FakeServer
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # headers and body in one packet: the second would wait for an acknowledgement

    def log_message(self, *words: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with server.lock:
            server.bodies.append(body)
        if server.delay:
            time.sleep(server.delay)
        self._answer(body)

    def _answer(self, body: dict[str, Any]) -> None:
        server = self.server
        trouble = server.next_trouble()
        if server.key and self.headers["authorization"] != f"Bearer {server.key}":
            said = self.headers["authorization"].removeprefix("Bearer ")
            trouble = error(401, f"Incorrect API key provided: {said}", "invalid_api_key")
        elif body["model"] == "unknown":
            trouble = error(404, "The model `unknown` does not exist", "model_not_found")
        elif body.get("top_logprobs", 0) > server.most_top:
            trouble = error(400, f"top_logprobs must be at most {server.most_top}")
        elif "response_format" in body and not server.schema_allowed:
            trouble = error(400, "response_format is not supported")
        if trouble == "cut":
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "5000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
        elif isinstance(trouble, str):
            self._send(200, {}, trouble)
        elif trouble is not None:
            self._send(*trouble)
        else:
            self._send(200, {}, json.dumps(self._completion(body)))

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        server = self.server
        turns = body["messages"]
        said = server.reads(turns) if server.reads else server.rule(turns[-1]["content"])
        if "response_format" in body:
            said = json.dumps({"label": said})
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": server.finish,
            "message": {"role": "assistant", "content": said},
        }
        if body.get("logprobs") and server.logprobs:
            top = [(said[:3], 0.6), (said[:3].title(), 0.1), ("neu" if said != "neutral" else "pos", 0.2)]
            top = server.tokens or top
            rows = [{"token": token, "logprob": math.log(mass)} for token, mass in top]
            choice["logprobs"] = {"content": [{**rows[0], "top_logprobs": rows}]}
        words = sum(len(turn["content"].split()) for turn in body["messages"])
        return {
            "choices": [choice],
            **({"model": server.model} if server.model else {}),
            "system_fingerprint": "fake-1",
            "usage": {"prompt_tokens": words, "completion_tokens": 1, "total_tokens": words + 1},
        }

    def _send(self, status: int, headers: dict[str, str], text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)
