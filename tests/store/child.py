"""A process that writes to a store and reports each write. Tests run several, or kill it.

    python -m tests.store.child URL SEED BATCHES

The process prints a line of JSON for each write after the store has returned from it. So a test
that reads the pipe knows which writes must be in the store, whatever happens to the process.
"""

import contextlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import orjson

from mapshelf.errors import StoreUnavailable
from mapshelf.model import SYSTEM_USER, Map, MapDetails, MapDraft, Vote
from mapshelf.store import Store, open_store
from tests.store.drafts import outline, source, upload

ROOT: Final = Path(__file__).parents[2]


def start(url: str, seed: int, batches: int) -> "subprocess.Popen[bytes]":
    """Start a writer in a process of its own."""
    return subprocess.Popen(command(url, seed, batches), stdout=subprocess.PIPE, cwd=ROOT)


def command(url: str, seed: int, batches: int) -> list[str]:
    """Return the command line of a writer, to be run in ``ROOT``."""
    return [sys.executable, "-m", "tests.store.child", url, str(seed), str(batches)]


def acknowledged(process: "subprocess.Popen[bytes]") -> Iterator[dict[str, Any]]:
    """Yield the writes that a writer has acknowledged, until it ends."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.endswith(b"\n"):
            yield orjson.loads(line)


def run_writers(url: str, seeds: Sequence[int], batches: int) -> Iterator[dict[str, Any]]:
    """Run writers in parallel until they end; yield the writes that the first acknowledges."""
    with ExitStack() as stack:
        writers = [start(url, seed, batches) for seed in seeds]
        for writer in writers:
            stack.enter_context(writer)
            stack.callback(_end, writer)
        for writer in writers:
            yield from acknowledged(writer)
            assert writer.wait() == 0


def _end(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()


def main(url: str, seed: int, batches: int) -> None:
    """Write ``batches`` times, with names that no other seed uses."""
    store = open_store(url)
    dice = random.Random(seed)
    for number in range(batches):
        write = dice.choice((_put, _put, _change, _delete, _token, _upload, _vote, _replace))
        report = _patiently(store, write, seed, number)
        os.write(1, orjson.dumps(report) + b"\n")
    store.close()


def _patiently(store: Store, write: Any, seed: int, number: int) -> dict[str, Any]:
    while True:
        with contextlib.suppress(StoreUnavailable):  # another writer held the lock
            report: dict[str, Any] = write(store, seed, number)
            return report


def _put(store: Store, seed: int, number: int) -> dict[str, Any]:
    """Add three maps, with outlines large enough to make the log wrap around sometimes."""
    ids = [f"s{seed}n{number}i{i}" for i in range(3)]
    noise = random.Random(number)
    text = "".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(3000))
    outcomes = store.put_maps(
        [
            MapDraft(id=one, title=one, owner=f"o{seed}", outline=outline(text), source=source(one))
            for one in ids
        ]
    )
    return {"kind": "put", "ids": [outcome.id for outcome in outcomes]}


def _change(store: Store, seed: int, number: int) -> dict[str, Any]:
    """Write the number of the batch into a map of this seed; create the map if necessary."""
    one = f"s{seed}x"
    store.put_maps([MapDraft(id=one, title=one, views=number + 1)])
    return {"kind": "change", "id": one, "views": number + 1}


def _delete(store: Store, seed: int, number: int) -> dict[str, Any]:
    ids = [found.id for found in store.maps(0, 50) if found.id.startswith(f"s{seed}n")][:1]
    store.delete_maps(ids)
    return {"kind": "delete", "ids": ids}


def _token(store: Store, seed: int, number: int) -> dict[str, Any]:
    digest = f"{seed}-{number}".encode().ljust(32, b".")
    store.add_token(SYSTEM_USER, digest, label="", scopes="", expires=None)
    return {"kind": "token", "digest": digest.decode()}


def _user_of(store: Store, seed: int) -> int:
    name = f"u{seed}"
    known = {user.name: user.id for user in store.users()}
    return known[name] if name in known else store.add_user(name).id


def _upload(store: Store, seed: int, number: int) -> dict[str, Any]:
    """Publish a map, like a client that retries until it gets a response."""
    user, name = _user_of(store, seed), f"{seed}-{number}"
    found, _ = store.publish(upload(name), MapDetails(title=name), user, name.encode())
    return {"kind": "upload", "id": found.id, "title": name}


def _vote(store: Store, seed: int, number: int) -> dict[str, Any]:
    """Vote for the one map of this seed, or against it."""
    found = _voted(store, seed)
    vote = Vote.UP if number % 2 else Vote.DOWN
    store.set_vote(found.file_id, _user_of(store, seed), vote)
    return {"kind": "vote", "id": found.id, "user": f"u{seed}", "vote": vote.value}


def _replace(store: Store, seed: int, number: int) -> dict[str, Any]:
    """Give the one map of this seed another file."""
    found = _voted(store, seed)
    store.replace_file(found.file_id, upload(f"r{seed}-{number}"), _user_of(store, seed))
    return {"kind": "replace", "id": found.id, "name": f"r{seed}-{number}"}


def _voted(store: Store, seed: int) -> Map:
    system = store.users()[0].id
    return store.publish(upload(f"v{seed}"), MapDetails(title="v"), system, b"v%d" % seed)[0]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
