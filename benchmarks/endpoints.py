"""Requests to an endpoint: shoal and a bare aiohttp loop, side by side, against one server on this machine.

    python benchmarks/endpoints.py [--requests 1000] [--delay 0.02] [--repeats 3]

The server runs in a process of its own and answers after a fixed delay. shoal sends the requests of a job, parses and
stores every answer; the bare loop sends the same bodies and keeps the texts. They take turns, AsyncOpenAI with them if
it is installed. Also: CPU time per request, and for the whole command `shoal run` the seconds until the first request
and until its end. With 100,000 requests the seconds show whether the cost per request stays flat.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from speed import record

ANSWER = json.dumps(
    {
        "model": "fake-1",
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "positive"}}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 1},
    }
).encode()
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(ANSWER),
    ANSWER,
)
PLAN = """
models = ["openai:fake?url={url}&prompt=sentiment-plain&mode=generate&again=0&concurrency={concurrency}"]
[behaviour]
suite = "suite.jsonl"
resamples = 100
"""


class Server(asyncio.Protocol):
    """Answers every POST after a delay, and notes when the first came."""

    first = 0.0
    delay = 0.0

    def connection_made(self, transport: Any) -> None:
        self.transport, self.received = transport, b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while True:
            head, end, rest = self.received.partition(b"\r\n\r\n")
            if not end:
                return
            if head.startswith(b"GET"):  # the time of the first request since the last GET
                text = b"%.6f" % Server.first
                Server.first, self.received = 0.0, rest
                self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
                continue
            size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            if len(rest) < size:
                return
            self.received = rest[size:]
            Server.first = Server.first or time.time()
            asyncio.get_running_loop().call_later(Server.delay, self._answer)

    def _answer(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(RESPONSE)


def serve(delay: float, ports: Any) -> None:
    """Run the server, and say at which port."""

    async def main() -> None:
        Server.delay = delay
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0, backlog=1024)
        ports.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def bare(url: str, bodies: list[bytes], concurrency: int) -> None:
    """The shortest loop over aiohttp that keeps so many requests in flight."""
    import aiohttp

    async def main() -> list[str]:
        texts, waiting = [], iter(bodies)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def worker() -> None:
                for body in waiting:
                    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
                    async with session.post(
                        f"{url}/chat/completions", data=body, headers=headers
                    ) as response:
                        texts.append((await response.json())["choices"][0]["message"]["content"])

            await asyncio.gather(*(worker() for _ in range(concurrency)))
        return texts

    assert len(asyncio.run(main())) == len(bodies)


def through_openai(url: str, bodies: list[bytes], concurrency: int) -> None:
    """The client of OpenAI, with so many workers."""
    from openai import AsyncOpenAI

    async def main() -> list[str]:
        texts, waiting = [], iter(bodies)
        async with AsyncOpenAI(base_url=url, api_key="none") as client:

            async def worker() -> None:
                for body in waiting:
                    reply = await client.chat.completions.create(**json.loads(body))
                    texts.append(reply.choices[0].message.content)

            await asyncio.gather(*(worker() for _ in range(concurrency)))
        return texts

    assert len(asyncio.run(main())) == len(bodies)


def through_shoal(folder: Path, concurrency: int) -> Callable[[], None]:
    """The asking stage of a job, everything before it done."""
    from shoal import RunStore, read_plan
    from shoal.models import load_model
    from shoal.runs.execute import RemoteAnswers
    from shoal.training.stage import silent

    (job,) = read_plan(folder / f"plan-{concurrency}.toml").jobs()
    store = RunStore(Path(tempfile.mkdtemp(dir=folder)))
    built, model = store.built(job, silent), load_model(job.model)
    store.write_job(job)
    store.keep_spending(job.id, model.spending)
    model.classify(built.cases[0].examples[:1], built.labels)  # the trial request

    def query() -> None:
        source = RemoteAnswers(job, model, built)
        with store.partial(job.id, source.sizes) as stored:
            for rows in source.missing(stored, silent):
                stored.add(rows)
            source.conclude(stored)
            stored.finish()

    return query


def bodies_of(folder: Path, concurrency: int) -> list[bytes]:
    """The very bodies that shoal sends."""
    from shoal import read_plan
    from shoal.models import load_model

    model = load_model(read_plan(folder / f"plan-{concurrency}.toml").jobs()[0].model)
    rows = map(json.loads, (folder / "suite.jsonl").read_text().splitlines())
    examples = [(row["examples"][0]["text"],) for row in rows if "examples" in row]
    return [
        json.dumps(model._body(model.prompt.messages(example), model.max_tokens)).encode()
        for example in examples
    ]


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds and seconds of CPU."""
    started, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - cpu


def whole_command(folder: Path, url: str, concurrency: int) -> tuple[float, float]:
    """Seconds until the first request of `shoal run`, and until its end."""
    from urllib.request import urlopen

    urlopen(url).read()
    started = time.time()
    command = [sys.executable, "-c", "from shoal.cli import main; main()", "run", f"plan-{concurrency}.toml"]
    into = tempfile.mkdtemp(dir=folder)
    subprocess.run(
        [*command, "--into", into], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    ended = time.time()
    return float(urlopen(url).read()) - started, ended - started


def write_suite(folder: Path, requests: int) -> None:
    """A suite of so many different texts."""
    rows = [
        {
            "functionality": f"praise {number % 10}",
            "capability": "vocabulary",
            "type": "MFT",
            "case_id": str(number),
            "examples": [{"text": f"The {number}. film of the day was {'great' if number % 2 else 'bad'}."}],
            "labels": "positive" if number % 2 else "negative",
        }
        for number in range(requests)
    ]
    head = {"suite": "bench", "task": "sentiment", "label_names": ["negative", "neutral", "positive"]}
    (folder / "suite.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [head, *rows]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--delay", type=float, default=0.02)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[8, 64])
    chosen = parser.parse_args()
    import aiohttp

    ports: Any = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(chosen.delay, ports), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ports.get()}/v1"
    print(f"{chosen.requests:,} requests, {chosen.delay * 1000:g} ms delay; aiohttp {aiohttp.__version__},")
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} CPUs; seconds: minimum, median of {chosen.repeats}\n"
    )
    print(f"{'concurrency':>11}  {'':26}{'wall':>18}{'CPU ms/request':>17}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suite(folder, chosen.requests)
        for concurrency in chosen.concurrency:
            (folder / f"plan-{concurrency}.toml").write_text(PLAN.format(url=url, concurrency=concurrency))
            bodies = bodies_of(folder, concurrency)
            rows: dict[str, list[tuple[float, float]]] = {"bare aiohttp": [], "shoal, asking": []}
            for _ in range(chosen.repeats):
                rows["bare aiohttp"].append(timed(lambda: bare(url, bodies, concurrency)))  # noqa: B023
                rows["shoal, asking"].append(timed(through_shoal(folder, concurrency)))
                if find_spec("openai"):
                    client = timed(lambda: through_openai(url, bodies, concurrency))  # noqa: B023
                    rows.setdefault("AsyncOpenAI", []).append(client)
            best = min(wall for wall, _ in rows["bare aiohttp"])
            hand, ours = ([wall for wall, _ in rows[way]] for way in ("bare aiohttp", "shoal, asking"))
            work = f"{chosen.requests:,} requests of {chosen.delay * 1000:g} ms, concurrency {concurrency}"
            versions = f"aiohttp {aiohttp.__version__}"
            record("endpoints", work, ours, "aiohttp", hand, versions=versions)
            cpu_by_hand, our_cpu = (
                [cpu / len(bodies) for _, cpu in rows[way]] for way in ("bare aiohttp", "shoal, asking")
            )
            record(
                "endpoints", f"{work}, CPU per request", our_cpu, "aiohttp", cpu_by_hand, versions=versions
            )
            for name, pairs in rows.items():
                walls, cpus = [wall for wall, _ in pairs], [cpu for _, cpu in pairs]
                print(
                    f"{concurrency:11}  {name:26}{min(walls):9.3f}{statistics.median(walls):9.3f}"
                    f"{1000 * min(cpus) / len(bodies):17.2f}{best / min(walls):8.2f}"
                )
            commands = [whole_command(folder, url, concurrency) for _ in range(chosen.repeats)]
            for name, seconds in zip(
                ("first request", "whole command"), zip(*commands, strict=True), strict=True
            ):
                work = f"`run` with {chosen.requests:,} requests, {name}, concurrency {concurrency}"
                record("endpoints", work, seconds)
                print(
                    f"{concurrency:11}  {'shoal run: ' + name:26}{min(seconds):9.3f}{statistics.median(seconds):9.3f}"
                )
    server.terminate()


if __name__ == "__main__":
    main()
