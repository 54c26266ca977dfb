"""Kill `shoal run` at random moments while requests are in flight, and count what is lost.

    python benchmarks/kill_endpoints.py [--kills 200] [--concurrency 64] [--examples 1500]

Every life of the process ends by SIGKILL at a random moment, until a job is done; then the next job begins. A life may
lose at most the requests in flight, besides its trial request and, before the self-check is stored, the self-check. The
finished files must have the bytes of a run that was never killed.
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from endpoints import PLAN, Server, write_suite

TRIAL, SELF_CHECK = 1, 12
FINISHED = ("answers.jsonl", "answers.digest", "measures.json", "job.json")


class Counting(Server):
    """Counts requests."""

    requests = 0

    def data_received(self, data: bytes) -> None:
        Counting.requests += data.count(b"POST ")
        super().data_received(data)


def serve_in_thread(delay: float) -> str:
    """Start the server in a thread, and return its URL."""
    Server.delay = delay
    ready: list[int] = []

    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Counting, "127.0.0.1", 0, backlog=1024)
        ready.append(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(main()), daemon=True).start()
    while not ready:
        time.sleep(0.01)
    return f"http://127.0.0.1:{ready[0]}/v1"


def start(folder: Path, into: str) -> "subprocess.Popen[bytes]":
    """Start a run."""
    command = [sys.executable, "-c", "from shoal.cli import main; main()", "run", "plan.toml", "--into", into]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stored(folder: Path) -> int:
    """Whole lines of answers so far."""
    files = [*folder.glob("jobs/*/answers.partial.jsonl"), *folder.glob("jobs/*/answers.jsonl")]
    return max((path.read_bytes().count(b"\n") for path in files), default=0)


def live(folder: Path, rng: random.Random, concurrency: int) -> tuple[bool, int]:
    """One life; return whether it was killed, and how many requests it lost."""
    runs = folder / "runs"
    before, requests = stored(runs), Counting.requests
    is_checked = any(runs.glob("jobs/*/checks.json"))
    process, moment = start(folder, "runs"), rng.uniform(0, 0.6)
    while process.poll() is None and Counting.requests == requests:
        time.sleep(0.002)
    try:
        process.wait(moment)
        return False, 0
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    time.sleep(0.15)  # bytes under way to the server
    lost = Counting.requests - requests - (stored(runs) - before) - TRIAL - (0 if is_checked else SELF_CHECK)
    if lost > concurrency:
        raise SystemExit(f"{lost} requests lost, {concurrency} in flight")
    return True, max(0, lost)


def main() -> None:
    """Kill, and print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--examples", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    rng, url = random.Random(chosen.seed), serve_in_thread(0.1)
    kills, jobs, losses = 0, 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suite(folder, chosen.examples)
        (folder / "plan.toml").write_text(PLAN.format(url=url, concurrency=chosen.concurrency))
        start(folder, "whole").wait()
        whole: dict[str, Any] = {
            file: next((folder / "whole/jobs").glob(f"*/{file}")).read_bytes() for file in FINISHED
        }
        while kills < chosen.kills:
            shutil.rmtree(folder / "runs", ignore_errors=True)
            is_killed = True
            while is_killed:
                is_killed, lost = live(folder, rng, chosen.concurrency)
                kills += is_killed
                losses += [lost] if is_killed else []
            jobs += 1
            for file, content in whole.items():
                if next((folder / "runs/jobs").glob(f"*/{file}")).read_bytes() != content:
                    raise SystemExit(f"{file} differs after {kills} kills")
            print(
                f"{kills} kills, {jobs} jobs done, most requests lost in one kill {max(losses)}", flush=True
            )
    mean = sum(losses) / len(losses)
    print(
        f"{len(losses)} kills, {chosen.concurrency} in flight: at most {max(losses)} requests lost, mean {mean:.1f};"
    )
    print(f"{jobs} finished jobs, {', '.join(FINISHED)} with the bytes of an uninterrupted run")


if __name__ == "__main__":
    main()
