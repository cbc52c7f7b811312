"""Measures whether one client with many connections keeps another out of the queues of slow work.

    python scripts/greedy_client.py compare
    python scripts/greedy_client.py zips --workers 2
    python scripts/greedy_client.py drawings --seconds 60

Starts a service with maps of 4,000 topics. The greedy client requests as fast as it can, with 16
connections and from one address, something that is made anew for nearly each request. Another
client requests the same kind of thing (pages of maps instead of drawings), one at a time and from
another address. Prints JSON; the exit code is 1 if the other client was ever refused.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count, cycle, permutations
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx
from tests.cli.process import Mapshelf, serving, status_of, wait_for

MAPS: Final = 24
CONNECTIONS: Final = 16
GREEDY: Final = "127.0.0.2"
OTHER: Final = "127.0.0.3"
PAUSE: Final = 0.3
"""Seconds between two requests of the other client."""

Paths = Iterator[str]


def main() -> int:
    """Measure; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("compare", "zips", "drawings"))
    parser.add_argument("--seconds", type=float, default=45.0)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        maps = Path(folder, "maps")
        maps.mkdir()
        for number in range(MAPS):
            (maps / f"map{number}.mm").write_text(map_file(random.Random(number)))  # noqa: S311 - a sample
        mapshelf = Mapshelf(Path(folder, "data"))
        mapshelf.run_apart("import", maps)
        with serving(mapshelf, workers=given.workers) as service:
            wait_for(lambda: status_of(f"{service.url}/readyz") == 200)
            ids = map_ids(service.url, service.token)
            return asyncio.run(measure(service.url, ids, given.kind, given.seconds))


def map_file(chance: random.Random) -> str:
    """Return a FreeMind map with 4,000 topics, of invented words."""

    def topics(number: int, depth: int) -> str:
        words = (" ".join(f"w{chance.randrange(5000)}" for _ in range(5)) for _ in range(number))
        below = topics(8, depth - 1) if depth else ""
        return "".join(f'<node TEXT="{text}">{below}</node>' for text in words)

    return f'<map version="1.0.1"><node TEXT="Map">{topics(55, 2)}</node></map>'


def map_ids(url: str, token: str) -> list[str]:
    """Return the IDs of all maps."""
    headers = {"Authorization": f"Bearer {token}"}
    found = httpx.get(f"{url}/maps?limit={MAPS}", headers=headers, timeout=30).json()
    assert len(found) == MAPS
    return [one["ID"] for one in found]


def greedy_paths(kind: str, ids: list[str]) -> Paths:
    """Yield what the greedy client requests."""
    pairs = list(permutations(ids, 2))
    random.Random(1).shuffle(pairs)  # noqa: S311 - a sample
    for number, (one, other) in zip(count(), cycle(pairs), strict=False):
        third = ids[number % len(ids)]
        yield {
            "compare": f"/mindmaps/{one}/-/compare/{other}",
            "zips": f"/download?map={one}&map={other}&map={third}",
            "drawings": f"/maps/{one}/drawing.png?theme={'dark' if number % 2 else 'light'}",
        }[kind]


def other_paths(kind: str, ids: list[str]) -> Paths:
    """Yield what the other client requests."""
    for one, other in cycle(zip(ids, ids[7:] + ids[:7], strict=True)):
        yield {
            "compare": f"/mindmaps/{one}/-/compare/{other}",
            "zips": f"/download?map={one}&map={other}",
            "drawings": f"/site/maps/{one}.json",
        }[kind]


async def request(url: str, address: str, paths: Paths, until: float) -> list[tuple[int, float]]:
    """Send requests one after another; return the statuses, and the seconds that each took."""
    found = []
    transport = httpx.AsyncHTTPTransport(local_address=address)
    async with httpx.AsyncClient(transport=transport, base_url=url, timeout=120) as client:
        while (began := time.monotonic()) < until:
            answer = await client.get(next(paths), follow_redirects=True)
            found.append((answer.status_code, time.monotonic() - began))
            if address == OTHER:
                await asyncio.sleep(PAUSE)
    return found


async def measure(url: str, ids: list[str], kind: str, seconds: float) -> int:
    """Let both clients send requests; show the result, and return the exit code."""
    until = time.monotonic() + seconds
    paths = greedy_paths(kind, ids)
    greedy = [asyncio.create_task(request(url, GREEDY, paths, until)) for _ in range(CONNECTIONS)]
    await asyncio.sleep(2)
    other = await request(url, OTHER, other_paths(kind, ids), until)
    taken = [one for found in await asyncio.gather(*greedy) for one in found]
    answered = [took for status, took in other if status == 200]
    result = {
        "greedy": Counter(status for status, _ in taken),
        "other": Counter(status for status, _ in other),
        "median": round(statistics.median(answered), 2) if answered else None,
        "longest": round(max(answered), 2) if answered else None,
    }
    print(json.dumps(result))
    return int(len(answered) < len(other))


if __name__ == "__main__":
    sys.exit(main())
