"""A class on one server: `python bench/classroom.py [--seconds 120] [--record FILE]`.

Two hundred students use one `rasp play` over loopback, each from an address of his own, as on a
network. Ten of them attack it: endless programs, memory, the slow requests, half-sent headers,
bodies that never come, noise, and floods. The others type: now and then a program changes, and its
values, flow or size are asked for. What they wait is what is measured.

On a machine that others use at the same time, give the session a higher priority first; the record
says with which it ran:

    setsid -w bash -c 'echo -15 > /proc/self/autogroup; exec python bench/classroom.py'
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rasp.teaching.gallery
from rasp.apps.playground.requests import example_text

STUDENTS, ATTACKERS = 200, 10
THINKING = 8.0
"""Seconds between two requests of a student, on average."""
NAMES = ("hist", "reverse", "dyck1", "sort_tokens", "most_freq", "double_hist", "dyck3")
ENDLESS = (
    "x = 3 ^ 8000;\nfor n in range(90000) { y = x % (n + 7); }",
    "def f(x) { return f(x + 1) + f(x + 2); }\ny = [f(n) for n in range(1000)];",
    "a = range(2000);\nfor x in a { for y in a { z = [x, y, x * y]; } }",
)
HUNGRY = (
    "base = range(99000);\ndef g(l, i) { return l + [i]; }\nx = [g(base, i) for i in range(50000)];"
)
PARTS = {"median": 0.5, "p95": 0.95, "p99": 0.99, "worst": 1.0}
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@dataclass
class Room:
    """The server, and what was measured."""

    port: int
    token: str
    ends: float
    waited: dict[str, list[float]] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    attacks: dict[str, int] = field(default_factory=dict)

    @property
    def left(self) -> float:
        return max(0.0, self.ends - time.monotonic())

    @property
    def is_over(self) -> bool:
        return not self.left

    def attack(self, kind: str) -> None:
        self.attacks[kind] = self.attacks.get(kind, 0) + 1


class Browser:
    """One connection from one address, kept open as a browser does."""

    def __init__(self, room: Room, address: str) -> None:
        self.room, self.address = room, address
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(
            "127.0.0.1", self.room.port, local_addr=(self.address, 0)
        )

    async def ask(self, kind: str, **asked: Any) -> dict[str, Any]:
        """Ask, once more on a new connection where the server has closed the idle one."""
        try:
            return await self._ask(kind, asked)
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            self.close()
            return await self._ask(kind, asked)

    async def _ask(self, kind: str, asked: dict[str, Any]) -> dict[str, Any]:
        if self.writer is None:
            self.reader, self.writer = await self.open()
        assert self.reader is not None
        body = json.dumps(asked | {"tab": self.address}).encode()
        self.writer.write(
            f"POST /ask/{kind} HTTP/1.1\r\nHost: 127.0.0.1:{self.room.port}\r\n"
            f"Cookie: rasp-play-{self.room.port}={self.room.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        header = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", header)
        assert length is not None and " 200 " in header, header
        answer: dict[str, Any] = json.loads(await self.reader.readexactly(int(length.group(1))))
        return answer

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.writer = None


async def study(room: Room, number: int) -> None:
    """Type, look, think."""
    rng = random.Random(number)
    browser = Browser(room, f"127.1.{number // 250}.{number % 250 + 1}")
    entry = rasp.programs.entry(rng.choice(NAMES))
    example = example_text(entry.inputs.sample(rng, 12))
    await asyncio.sleep(rng.random() * THINKING)
    while not room.is_over:
        kind = rng.choices(("run", "flow", "architecture"), (85, 10, 5))[0]
        text = f"{entry.source.text}\nown = indices + {rng.randrange(100)};"
        began = time.monotonic()
        try:
            told = await browser.ask(kind, program=text, example=example, name=entry.name)
            if "error" in told:
                room.failures[kind] = room.failures.get(kind, 0) + 1
        except (OSError, AssertionError, asyncio.IncompleteReadError):
            room.failures["lost"] = room.failures.get("lost", 0) + 1
            browser.close()
        room.waited.setdefault(kind, []).append(time.monotonic() - began)
        await asyncio.sleep(min(rng.expovariate(1 / THINKING), room.left))
    browser.close()


async def run_for_ever(room: Room, browser: Browser, kind: str, program: str, name: str) -> None:
    """One runaway after the other; each waits for its answer or is given up for the next."""
    for tab in range(1_000_000):
        if room.is_over:
            return
        room.attack(name)
        with contextlib.suppress(OSError, AssertionError, asyncio.IncompleteReadError):
            await browser.ask(kind, program=f"{program} # {tab}", example="abc" * 30, name="x",
                              layers=1, heads=1)  # fmt: skip


async def half_send(room: Room, browser: Browser) -> None:
    """Open connections and never finish a request."""
    held = []
    while not room.is_over:
        with contextlib.suppress(OSError):
            _, writer = await browser.open()
            writer.write(
                random.choice(
                    (
                        HALF,
                        b"",
                        HALF + b"x" * 3000,
                        b"POST /ask/run HTTP/1.1\r\nContent-Length: 900000\r\n\r\n{",
                    )
                )
            )
            held.append(writer)
            room.attack("half-sent requests")
        if len(held) > 600:
            held.pop(0).close()
        await asyncio.sleep(0.01)


async def make_noise(room: Room, browser: Browser) -> None:
    """Send what is not HTTP, and hang up."""
    while not room.is_over:
        with contextlib.suppress(OSError):
            _, writer = await browser.open()
            writer.write(random.randbytes(200) + b"\r\n\r\n")
            await writer.drain()
            writer.close()
            room.attack("noise")
        await asyncio.sleep(0.02)


async def flood(room: Room, address: str) -> None:
    """Ask short questions, as many at a time as a browser has connections."""

    async def ask_on() -> None:
        browser = Browser(room, address)
        while not room.is_over:
            room.attack("flood")
            with contextlib.suppress(OSError, AssertionError, asyncio.IncompleteReadError):
                await browser.ask("run", program="x = indices;", example="abc")

    await asyncio.gather(*(ask_on() for _ in range(6)))


def attackers(room: Room) -> list[Any]:
    browsers = [Browser(room, f"127.2.0.{number + 1}") for number in range(ATTACKERS)]
    programs = [*ENDLESS, HUNGRY, ENDLESS[0]]
    found: list[Any] = [
        run_for_ever(room, browser, "run", program, "endless or hungry programs")
        for browser, program in zip(browsers, programs, strict=False)
    ]
    found += [run_for_ever(room, browsers[5], "fit", ENDLESS[1], "slow requests"),
              run_for_ever(room, browsers[6], "weights", ENDLESS[2], "slow requests"),
              half_send(room, browsers[7]), make_noise(room, browsers[8]),
              flood(room, browsers[9].address)]  # fmt: skip
    return found


def percentile(times: list[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def summary(room: Room, seconds: float, load: tuple[float, float]) -> dict[str, Any]:
    """What is kept: milliseconds by kind, what failed, what was done to the server."""
    every = [each for times in room.waited.values() for each in times]
    return {
        "students": STUDENTS, "attackers": ATTACKERS, "seconds": seconds, "thinking": THINKING,
        "requests": len(every),
        "milliseconds": {
            kind: {name: round(1000 * percentile(times, part)) for name, part in PARTS.items()}
            for kind, times in {"all": every, **room.waited}.items()
        },
        "failures": room.failures, "attacks": room.attacks,
        "load": {"before": load[0], "after": load[1], "processors": os.cpu_count()},
        "priority": priority(),
        "python": platform.python_version(), "system": platform.platform(),
    }  # fmt: skip


def priority() -> str:
    """How this ran beside others on the machine: the nice value, and that of its session."""
    session = Path("/proc/self/autogroup")
    shared = session.read_text().strip() if session.exists() else "none"
    return f"nice {os.nice(0)}, session {shared}"


async def hold_class(port: int, token: str, seconds: float, attacked: bool) -> Room:
    room = Room(port, token, time.monotonic() + seconds)
    some = attackers(room) if attacked else []
    students = [study(room, number) for number in range(STUDENTS - ATTACKERS)]
    await asyncio.gather(*students, *some)
    return room


def main() -> int:
    parser = argparse.ArgumentParser(description="A class on one server.")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--calm", action="store_true", help="nobody attacks")
    parser.add_argument("--record", type=Path, metavar="FILE.json")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "rasp", "play", "--no-browser", "--host", "127.0.0.1"]
    errors = Path(f"/tmp/classroom-{os.getpid()}.log")
    with errors.open("w") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert server.stdout is not None
    try:
        told = re.search(r":(\d+)/\?token=(\S+)", server.stdout.readline())
        assert told is not None
        time.sleep(3)  # the workers start
        before = os.getloadavg()[0]
        room = asyncio.run(
            hold_class(int(told.group(1)), told.group(2), arguments.seconds, not arguments.calm)
        )
        record = summary(room, arguments.seconds, (before, os.getloadavg()[0]))
    finally:
        server.terminate()
        server.wait(30)
    record["log_lines"] = len(errors.read_text().splitlines())
    errors.unlink()
    print(json.dumps(record, indent=1))
    if arguments.record:
        arguments.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
