"""A load generator: many clients with keep-alive connections in one thread, each answer compared as it comes."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Load:
    """What came of a number of requests."""

    seconds: list[float] = field(default_factory=list)
    wrong: int = 0
    failed: int = 0
    elapsed: float = 0.0

    def figures(self):
        """Requests per second, and the latency in milliseconds below which half, 95% and 99% of them stay."""
        at = np.percentile(np.array(self.seconds or [0.0]) * 1000.0, [50, 95, 99]).tolist()
        return {
            "requests": len(self.seconds),
            "per_second": len(self.seconds) / max(self.elapsed, 1e-9),
            **dict(zip(("p50", "p95", "p99"), at, strict=True)),
            "wrong": self.wrong,
            "failed": self.failed,
        }


def request_bytes(path, body=b""):
    """A request as it goes over the wire."""
    kind = f"POST {path}" if body else f"GET {path}"
    length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{kind} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n".encode() + body


async def _answer(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return status, await reader.readexactly(int(length.partition(b":")[2]))


async def _client(port, requests, right, load, ends):
    """Take requests from the common iterator until it is empty or time is up; reconnect after a failure."""
    connection = None
    for number, request in requests:
        if time.perf_counter() > ends:
            break
        try:
            if connection is None:
                connection = await asyncio.open_connection("127.0.0.1", port)
            started = time.perf_counter()
            connection[1].write(request)
            status, answer = await asyncio.wait_for(_answer(connection[0]), 60)
            load.seconds.append(time.perf_counter() - started)
            load.wrong += status != 200 or not right(number, answer)
        except (OSError, EOFError, asyncio.TimeoutError):
            load.failed += 1
            connection = None
            await asyncio.sleep(0.05)
    if connection is not None:
        connection[1].close()


def run_load(
    port: int,
    requests: Sequence[bytes],
    right: Callable[[int, bytes], bool],
    *,
    count: int,
    clients: int,
    most_seconds: float,
    meanwhile: Callable[[], None] | None = None,
) -> Load:
    """Send ``count`` requests, again and again the given ones, from some clients at once, for a bounded time.

    ``right(number, answer)`` says whether an answer to the request of this number is right. ``meanwhile`` is called
    in a thread of its own once the clients are running.
    """
    load = Load()

    async def everybody():
        every = ((place % len(requests), requests[place % len(requests)]) for place in range(count))
        ends = time.perf_counter() + most_seconds
        other = [asyncio.to_thread(meanwhile)] if meanwhile else []
        await asyncio.gather(*other, *(_client(port, every, right, load, ends) for _ in range(clients)))

    started = time.perf_counter()
    asyncio.run(everybody())
    load.elapsed = time.perf_counter() - started
    return load
