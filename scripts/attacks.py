"""Measures attacks on sign-in and tokens: do they slow others down, leak names, or let anyone in?

Each command is one attack::

    python scripts/attacks.py flood      10,000 browsers guess passwords; measures GET /maps
    python scripts/attacks.py timing     times wrong passwords of known and unknown names
    python scripts/attacks.py mutations  1,000,000 mutated tokens and cookies

Each starts a service with the sample maps and one worker, and prints JSON. The exit code is 1 if
somebody got in, or if a figure misses its goal. Measure on an idle machine.

Each attacker has its own address, from the 16 million of the loopback network.
"""

import argparse
import asyncio
import json
import math
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx
from tests.cli.process import EXAMPLES, Mapshelf, Service, serving

from mapshelf.accounts.one_time_links import new_password_link
from mapshelf.accounts.sessions import Client
from mapshelf.accounts.sign_in import choose_password
from mapshelf.api import auth
from mapshelf.api.auth import Authenticator
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidToken
from mapshelf.tokens import (
    ACCESS_PREFIX,
    ALPHABET,
    CHECKSUM_LENGTH,
    PREFIX,
    SCOPES,
    SECRET_LENGTH,
    SESSION_PREFIX,
    is_well_formed,
    new_token,
    token_digest,
)

PASSWORD: Final = "correct horse battery"  # noqa: S105 - of users that exist for a minute
SLOWER: Final = 1.5
"""How many times as long the 99th percentile of GET /maps may take during a flood."""

DIFFERENCE: Final = 0.05
"""By how much known and unknown names may differ."""

RATE: Final = 100
"""Requests a second with which GET /maps is measured."""


@dataclass(frozen=True)
class Answer:
    """The head of a response, and when it arrived."""

    status: int
    head: str
    seconds: float


async def ask(host: str, port: int, request: bytes, local: str = "") -> Answer:
    """Send one request on its own connection, from its own address."""
    address = (local, 0) if local else None
    reader, writer = await asyncio.open_connection(host, port, local_addr=address)
    try:
        began = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        seconds = time.perf_counter() - began
        return Answer(int(head.split(b" ", 2)[1]), head.decode("latin-1"), seconds)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def loopback(number: int) -> str:
    """Return an address of the loopback network."""
    number += 256
    return f"127.{1 + (number >> 16) % 250}.{(number >> 8) & 255}.{number & 255}"


# -- signing in --------------------------------------------------------------------------------


@dataclass(frozen=True)
class SignIn:
    """The sign-in form of a service, with the cookie and the token that it needs."""

    host: str
    port: int
    cookie: str
    token: str

    @classmethod
    def of(cls, url: str) -> "SignIn":
        """Open the form."""
        page = httpx.get(f"{url}/signin")
        found = re.search('name="csrf_token" value="([^"]+)"', page.text)
        assert found
        cookie = page.headers["Set-Cookie"].partition(";")[0]
        address = httpx.URL(url)
        return cls(address.host, address.port or 80, cookie, found[1])

    def request(self, name: str, password: str) -> bytes:
        """Return the form, filled in."""
        values = {"csrf_token": self.token, "name": name, "password": password}
        body = urlencode(values).encode()
        lines = (
            "POST /signin HTTP/1.1",
            f"Host: {self.host}:{self.port}",
            f"Cookie: {self.cookie}",
            f"Origin: http://{self.host}:{self.port}",
            "Content-Type: application/x-www-form-urlencoded",
            f"Content-Length: {len(body)}",
        )
        return "\r\n".join((*lines, "", "")).encode() + body


def is_let_in(answer: Answer) -> bool:
    """Return whether a response begins a session."""
    return answer.status == 303 or "mapshelf_session=" in answer.head


def add_people(mapshelf: Mapshelf, count: int) -> list[str]:
    """Add users with passwords, and return their names."""
    names = [f"member{number:04}" for number in range(count)]
    client = Client(milliseconds(), "192.0.2.1")
    with closing(mapshelf.store()) as store:
        for name in names:
            link = new_password_link(store, store.add_user(name), milliseconds())
            choose_password(store, link, PASSWORD, client)
    return names


# -- flood -------------------------------------------------------------------------------------


def flood(given: argparse.Namespace) -> int:
    """Measure GET /maps with and without a flood of wrong passwords."""
    with running(given) as (mapshelf, service):
        names = add_people(mapshelf, 20)
        with busy_processors():
            quiet = measured(service, given.seconds)
        words = [sys.executable, __file__, "attack", service.url, str(given.attackers)]
        words.append(str(given.pause))
        attack = subprocess.Popen(["nice", *words, *names], stdout=subprocess.PIPE, text=True)
        assert attack.stdout
        try:
            assert attack.stdout.readline() == "begun\n"
            flooded = measured(service, given.seconds)
        finally:
            attack.terminate()
        result = json.loads(attack.communicate(timeout=120)[0])
    ratio = flooded["p99"] / quiet["p99"]
    let_in = result.pop("let in")
    show(quiet=quiet, flooded=flooded, ratio=round(ratio, 2), attack=result, let_in=let_in)
    return int(let_in > 0 or ratio > SLOWER or flooded["failed"] > 0)


@contextmanager
def busy_processors() -> Iterator[None]:
    """Keep all processors busy at low priority, as the attackers on this machine do.

    Otherwise the comparison would include the processor time of the attackers, who are normally on
    other machines.
    """
    words = ["nice", sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(words) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


def attack(given: argparse.Namespace) -> int:
    """Guess passwords until terminated; runs as a separate process of ``flood``."""
    asyncio.run(_attack(given))
    return 0


async def _attack(given: argparse.Namespace) -> None:
    form = SignIn.of(given.url)
    seen: Counter[str] = Counter()
    pending = 0
    most = 0

    async def guess(number: int) -> None:
        nonlocal pending, most
        names = [*given.names, f"nobody{number}"]
        while True:
            name = random.choice(names)  # noqa: S311 - which one does not matter
            pending += 1
            most = max(most, pending)
            try:
                request = form.request(name, f"wrong {random.random()}")  # noqa: S311
                answer = await ask(form.host, form.port, request, loopback(number))
            except (OSError, asyncio.IncompleteReadError) as error:
                seen[type(error).__name__] += 1
                await asyncio.sleep(1)
            else:
                seen[str(answer.status)] += 1
                seen["let in"] += is_let_in(answer)
            finally:
                pending -= 1
            # Spread over time, because independent attackers do not act at the same moment.
            await asyncio.sleep(given.pause * random.uniform(0.5, 1.5))  # noqa: S311

    crowd = [asyncio.create_task(guess(number)) for number in range(given.attackers)]
    # The first guesses all come at once; measure only what follows.
    began = time.perf_counter()
    while seen.total() < given.attackers and not any(one.done() for one in crowd):
        await asyncio.sleep(0.1)
    burst = time.perf_counter() - began
    print("begun", flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(15, ended.set)
    await ended.wait()
    for one in crowd:
        one.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    result = {"let in": 0, **seen, "at once": most, "seconds of the first": round(burst, 1)}
    print(json.dumps(result), flush=True)


def measured(service: Service, seconds: float) -> dict[str, Any]:
    """Request lists at a steady rate, and return the latencies in milliseconds."""
    words = [sys.executable, __file__, "reader", service.url, service.token, str(seconds)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def reader(given: argparse.Namespace) -> int:
    """Request lists at a steady rate; the measured process of ``flood``."""
    times, failed = asyncio.run(_read(given))
    times.sort()
    show(
        requests=len(times),
        failed=failed,
        median=round(1000 * statistics.median(times), 2),
        p99=round(1000 * times[math.ceil(len(times) * 0.99) - 1], 2),
        longest=round(1000 * times[-1], 2),
    )
    return 0


async def _read(given: argparse.Namespace) -> tuple[list[float], int]:
    times: list[float] = []
    failed = 0
    headers = {"Authorization": f"Bearer {given.token}"}
    async with httpx.AsyncClient(base_url=given.url, headers=headers, timeout=30) as client:

        async def one(planned: float) -> None:
            # Counted from when it was due: a service that stalls delays all later requests, too.
            nonlocal failed
            answer = await client.get(f"/maps?limit=20&offset={len(times) % 10}")
            times.append(time.perf_counter() - planned)
            failed += answer.status_code != 200

        began = time.perf_counter()
        tasks = []
        for number in range(round(float(given.seconds) * RATE)):
            planned = began + number / RATE
            await asyncio.sleep(max(0.0, planned - time.perf_counter()))
            tasks.append(asyncio.create_task(one(max(planned, time.perf_counter()))))
        for done in await asyncio.gather(*tasks, return_exceptions=True):
            failed += isinstance(done, BaseException)
    return times, failed


# -- timing ------------------------------------------------------------------------------------


def timing(given: argparse.Namespace) -> int:
    """Compare how long wrong passwords of known and of unknown names take."""
    with running(given) as (mapshelf, service):
        known = add_people(mapshelf, given.names)
        unknown = [f"nobody{number:04}" for number in range(given.names)]
        form = SignIn.of(service.url)
        names = [name for name in (*known, *unknown) for _ in range(given.rounds)]
        random.Random(15).shuffle(names)  # noqa: S311 - the same each time
        times: dict[bool, list[float]] = {True: [], False: []}
        let_in = 0
        for number, name in enumerate(names):
            request = form.request(name, "wrong but long")
            answer = asyncio.run(ask(form.host, form.port, request, loopback(number)))
            assert answer.status in (303, 403), answer.head
            let_in += is_let_in(answer)
            times[name.startswith("member")].append(1000 * answer.seconds)
    medians = {kind: statistics.median(some) for kind, some in times.items()}
    difference = abs(medians[True] - medians[False]) / min(medians.values())
    show(
        attempts=len(names),
        known=round(medians[True], 3),
        unknown=round(medians[False], 3),
        difference=round(difference, 4),
        let_in=let_in,
    )
    return int(let_in > 0 or difference > DIFFERENCE)


# -- mutations ---------------------------------------------------------------------------------


def mutations(given: argparse.Namespace) -> int:
    """Try mutated tokens and cookies, in process and over HTTP."""
    with running(given) as (mapshelf, service):
        with closing(mapshelf.store()) as store:
            user = store.add_user("owner")
            tokens = {prefix: new_token(prefix) for prefix in (PREFIX, ACCESS_PREFIX)}
            for token in tokens.values():
                store.add_token(
                    "owner", token_digest(token), label="", scopes=" ".join(SCOPES), expires=None
                )
            session = tokens[SESSION_PREFIX] = new_token(SESSION_PREFIX)
            store.add_session(user.id, token_digest(session), "", milliseconds() + 3_600_000, None)
            in_process = asyncio.run(_try_in_process(store, mapshelf, tokens, given.count))
        over_http = asyncio.run(_try_over_http(service, tokens, given.http))
    show(in_process=in_process, over_http=over_http)
    return int(in_process["accepted"] + over_http["accepted"] > 0)


def mutant(token: str, chance: random.Random) -> str:
    """Return a mutated token. Half of these have a valid checksum, so the store is queried."""
    while True:
        secret = list(token[len(PREFIX) : -CHECKSUM_LENGTH])
        if chance.random() < 0.5:
            for _ in range(chance.randint(1, 3)):
                secret[chance.randrange(SECRET_LENGTH)] = chance.choice(ALPHABET)
            if chance.random() < 0.2:
                chance.shuffle(secret)
            prefix = chance.choice((token[: len(PREFIX)], PREFIX, ACCESS_PREFIX, SESSION_PREFIX))
            mutated = with_checksum(prefix, "".join(secret))
        else:
            mutated = _damaged(token, chance)
        if mutated.strip() != token:
            return mutated


def with_checksum(prefix: str, secret: str) -> str:
    """Return a well-formed token with this secret."""
    token = prefix + secret + _checksum(secret)
    assert is_well_formed(token, prefix)
    return token


def _checksum(secret: str) -> str:
    number, digits = zlib.crc32(secret.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def _damaged(token: str, chance: random.Random) -> str:
    """Return a token with a part changed, removed, added, doubled or swapped."""
    place, other = chance.randrange(len(token)), chance.randrange(len(token))
    letter = chance.choice(f"{ALPHABET}_-=+/.é \t%")
    return chance.choice(
        (
            token[:place] + letter + token[place + 1 :],
            token[:place] + token[place + 1 :],
            token[:place] + letter + token[place:],
            token[:place],
            token[place:],
            token[:place] + token[place].swapcase() + token[place + 1 :],
            token[: min(place, other)] + token[max(place, other) :],
            token + token,
            token.lower(),
            token.upper(),
            token[::-1],
        )
    )


async def _try_in_process(
    store: Any, mapshelf: Mapshelf, tokens: dict[str, str], count: int
) -> dict[str, Any]:
    auth.REFUSALS_PER_SECOND = 1_000_000_000  # type: ignore[misc] # or it would take an hour
    checker = Authenticator(store, mapshelf.data / "attacks-mark")
    chance = random.Random(15)  # noqa: S311 - the same each time
    accepted: list[str] = []
    asked = Counter[str]()

    async def attempt(kind: str, token: str) -> None:
        try:
            if kind == SESSION_PREFIX:
                await checker.session(token)
            else:
                scheme = chance.choice(("Bearer ", "bearer ", ""))
                await checker.user(f"{scheme}{token}".encode("latin-1"), "account")
        except InvalidToken:
            return
        accepted.append(token)

    for kind, token in tokens.items():  # the service has all of them, and remembers them
        await attempt(kind, token)
    assert accepted == list(tokens.values())
    accepted.clear()
    began = time.perf_counter()
    kinds = list(tokens)
    for begin in range(0, count, 1000):
        batch = []
        for _ in range(min(1000, count - begin)):
            kind = chance.choice(kinds)
            mutated = mutant(tokens[kind], chance)
            asked["well-formed"] += is_well_formed(mutated, mutated[: len(PREFIX)])
            batch.append(attempt(kind, mutated))
        await asyncio.gather(*batch)
    for kind, token in tokens.items():
        await attempt(kind, token)
    assert accepted[-len(tokens) :] == list(tokens.values()), "the real ones are still good"
    return {
        "tried": count,
        "accepted": len(accepted) - len(tokens),
        **asked,
        "seconds": round(time.perf_counter() - began, 1),
    }


async def _try_over_http(service: Service, tokens: dict[str, str], count: int) -> dict[str, Any]:
    chance = random.Random(16)  # noqa: S311 - the same each time
    address = httpx.URL(service.url)
    seen: Counter[str] = Counter()
    accepted = 0

    async def attempt() -> None:
        nonlocal accepted
        kind = chance.choice(list(tokens))
        token = mutant(tokens[kind], chance)
        if kind == SESSION_PREFIX:
            path, line = "/account", f"Cookie: mapshelf_session={token}"
        else:
            path, line = "/users/me", f"Authorization: Bearer {token}"
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\n{line}\r\n\r\n".encode("latin-1")
        answer = await ask(address.host, address.port or 80, request)
        seen[f"{path} {answer.status}"] += 1
        accepted += answer.status == 200

    for _ in range(0, count, 50):
        await asyncio.gather(*(attempt() for _ in range(50)))
    return {"tried": sum(seen.values()), "accepted": accepted, **seen}


# -- around them -------------------------------------------------------------------------------


@contextmanager
def running(given: argparse.Namespace) -> Iterator[tuple[Mapshelf, Service]]:
    """Run a service with the sample maps, on the given database."""
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        mapshelf = Mapshelf(Path(folder) / "data", given.database)
        mapshelf.run("import", EXAMPLES)
        with serving(mapshelf, token=mapshelf.token()) as service:
            service.wait_until_ready()
            yield mapshelf, service


def show(**values: object) -> None:
    """Print figures."""
    print(json.dumps(values, indent=2))


def main() -> int:
    """Run the command given on the command line."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--database", default="", help="URL of an empty database, by default SQLite"
    )
    commands = parser.add_subparsers(required=True, metavar="ATTACK")
    one = commands.add_parser("flood", help="guess passwords while a client requests lists")
    one.add_argument("--attackers", type=int, default=10_000)
    one.add_argument("--seconds", type=float, default=30.0, help="duration of each measurement")
    one.add_argument("--pause", type=float, default=30.0, help="seconds between guesses of one")
    one.set_defaults(run=flood)
    one = commands.add_parser("timing", help="compare the login times of known and unknown names")
    one.add_argument("--names", type=int, default=100, help="number of names of each kind")
    one.add_argument("--rounds", type=int, default=10, help="attempts for each name")
    one.set_defaults(run=timing)
    one = commands.add_parser("mutations", help="try mutated tokens and cookies")
    one.add_argument("--count", type=int, default=1_000_000)
    one.add_argument("--http", type=int, default=2000, help="additional ones over HTTP")
    one.set_defaults(run=mutations)
    one = commands.add_parser("attack")
    one.add_argument("url")
    one.add_argument("attackers", type=int)
    one.add_argument("pause", type=float)
    one.add_argument("names", nargs="*")
    one.set_defaults(run=attack)
    one = commands.add_parser("reader")
    one.add_argument("url")
    one.add_argument("token")
    one.add_argument("seconds", type=float)
    one.set_defaults(run=reader)
    given = parser.parse_args()
    code: int = given.run(given)
    return code


if __name__ == "__main__":
    sys.exit(main())
