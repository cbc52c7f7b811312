"""Random requests while the catalogue changes: none may cause a server error.

Requests use the paths of the OpenAPI document and of the pages, with valid, unusual and invalid
parameters, headers, methods and bodies. The same seed sends the same requests, but the maps that
exist at that moment may differ.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import orjson

from benchmarks.catalogue import Catalogue, owner_name, owners_of, words_of
from benchmarks.changing import AT_A_TIME, PER_MINUTE, Edits
from benchmarks.http1 import Connection, Reply
from benchmarks.overload.child import Child
from benchmarks.processes import get
from benchmarks.serving import Target, service
from mapshelf.store import open_store
from mapshelf.tokens import new_token

CONNECTIONS: Final = 16
PATIENCE: Final = 30.0
SLOW: Final = 1.0
"""Seconds above which a response counts as a fault. On a busy machine, many are slow."""

SHOWN: Final = 50
"""Most requests to report of those that failed, and of those with a slow response."""

KNOWN: Final = 500
"""Maps whose ids appear in requests."""

IMPORTED_EVERY: Final = 5.0
"""Seconds between imports of a file that has changed."""

PAGES: Final = (
    "/",
    "/feed.atom",
    "/oembed",
    "/site/search",
    "/site/maps/{ID}.json",
    "/owners/{name}",
    "/categories/{number}",
    "/mindmaps/{ID}",
    "/mindmaps/{ID}/{slug}.{format}",
    "/mindmaps/{ID}/{slug}/original",
    "/mindmaps/{ID}/{slug}",
    "/docs",
    "/static/{odd}/site.css",
    "/healthz",
    "/readyz",
    "/{odd}",
)
METHODS: Final = ("POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "get", "X-Y")
ODD: Final = (
    "", "0", "-1", "+1", "1.5", "1e3", "007", "50", "51", "9007199254740992", "9007199254740993",
    "9" * 30, "9" * 5000, "NaN", "null", "true", "FALSE", "\0", "\r\n", "\x7f", "\ud800", "\u202e",
    "\ufeff", "e\u0301", "日本", "'", '"', "`", "<script>", "../../etc/passwd", "%", "%00", "%zz",
    "{}", "[]", "a" * 501, "x" * 3000, "*", "?", "#", "&", "=", ";", "/", "//", ".", "..", "\\",
    "٣", "²", "$(id)", "' OR 1=1 --", "light", "dark", "file", "drawn", "160", "1280", "alpha",
)  # fmt: skip
TEMPLATE: Final = '<map version="1.0.1"><node TEXT="{title}"><node TEXT="{text}"/></node></map>'


def measured(catalogue: Catalogue, count: int) -> Iterator[tuple[str, Any]]:
    """Yield responses by status, and each request with a 5xx, a slow response or none."""
    with service(catalogue, workers=2) as (target, _):
        document = orjson.loads(get(target.port, "/openapi.json", "").body)
        requests = Requests(catalogue, target, list(_known(target)), document)
        with Child(_change, catalogue, nice=0) as changes:
            with Child(_send, requests, target.port, count, nice=0) as sender:
                figures = sender.result()
            yield "changes", changes.end()
    faults = figures.pop("faults")
    yield "requests", figures
    for number, fault in enumerate(faults, 1):
        yield f"fault {number}", fault


def _known(target: Target) -> Iterator[tuple[str, str]]:
    """Yield ids of maps, each with the slug of its page."""
    for offset in range(0, KNOWN, 50):
        body = get(target.port, f"/maps?limit=50&offset={offset}", target.token).body
        for row in orjson.loads(body):
            yield row["ID"], urlsplit(row["URL"]).path.rpartition("/")[2]


# -- changing ----------------------------------------------------------------------------------


async def _change(catalogue: Catalogue, ended: asyncio.Event) -> dict[str, Any]:
    """Edit, add and delete maps, and import changed files, until ``ended`` is set."""
    store, edits = open_store(catalogue.settings.database), Edits(catalogue)
    importing = asyncio.create_task(_import(catalogue))
    while not ended.is_set():
        edits.make(store, AT_A_TIME)
        await asyncio.sleep(60 * AT_A_TIME / PER_MINUTE)
    importing.cancel()
    with suppress(asyncio.CancelledError):
        await importing
    store.close()
    return {"made": edits.made}


async def _import(catalogue: Catalogue) -> None:
    command = (sys.executable, "-m", "mapshelf", "import", "--data", str(catalogue.folder))
    words = words_of("Latin", catalogue.seed)
    with tempfile.TemporaryDirectory(prefix="mapshelf-fuzzing-") as name:
        for number in range(10**9):
            file = Path(name, f"map-{number % 3}.mm")
            text = TEMPLATE.format(title=words[number % 3], text=words[number % 1000])
            file.write_text(text, "utf-8")
            nowhere = asyncio.subprocess.DEVNULL
            run = asyncio.create_subprocess_exec(*command, name, stdout=nowhere, stderr=nowhere)
            await (await run).wait()
            await asyncio.sleep(IMPORTED_EVERY)


# -- sending -----------------------------------------------------------------------------------


async def _send(
    requests: "Requests", port: int, count: int, ended: asyncio.Event
) -> dict[str, Any]:
    numbers, counts, faults = iter(range(count)), Counter[str](), list[dict[str, Any]]()
    by_kind = Counter[str]()

    async def sending() -> None:
        connection = None
        for _ in numbers:
            if ended.is_set():
                return
            request, is_plain = requests.drawn()
            kind = "error"
            try:
                if connection is None or not connection.is_usable:
                    connection = await Connection.opened(port)
                began = time.perf_counter()
                what, fault = await _outcome(connection, request)
                taken = time.perf_counter() - began
                if taken > SLOW and not fault:
                    kind, fault = "slow", f"{what} after {taken:.1f} s"
            except OSError as error:
                what, fault = f"none: {type(error).__name__}", "none: not connected"
            counts[what] += 1
            counts[f"over {SLOW:.0f} s"] += kind == "slow"
            by_kind[kind] += bool(fault)
            if fault and by_kind[kind] <= SHOWN:
                faults.append({"answer": fault, "request": repr(request[:2000])})
            if connection and (not is_plain or fault):
                connection.close()  # the server could read leftover bytes as a request

    await asyncio.gather(*(sending() for _ in range(CONNECTIONS)))
    return {**dict(sorted(counts.items())), "faults": faults}


async def _outcome(connection: Connection, request: bytes) -> tuple[str, str]:
    """Return the outcome of a request, and the fault, empty if there is none."""
    try:
        async with asyncio.timeout(PATIENCE):
            reply = await connection.ask(request, head=request.startswith(b"HEAD "))
    except TimeoutError:
        return f"none within {PATIENCE:.0f} s", "none"
    except (OSError, EOFError, ValueError) as error:
        return f"none: {type(error).__name__}", f"none: {error!r}"
    return _judged(reply)


def _judged(reply: Reply) -> tuple[str, str]:
    if reply.status < 500:
        return str(reply.status), ""
    if reply.status == 503 and "retry-after" in reply.headers:
        return "503 with Retry-After", f"{reply.status} {reply.body[:300]!r}"
    return str(reply.status), f"{reply.status} {reply.body[:300]!r}"


class Requests:
    """Random requests, the same for the same seed."""

    def __init__(
        self,
        catalogue: Catalogue,
        target: Target,
        known: list[tuple[str, str]],
        document: dict[str, Any],
    ) -> None:
        self._chance = random.Random(f"{catalogue.seed} fuzzing")
        self._target = target
        self._known = known
        self._words = words_of("Latin", catalogue.seed)[:3000]
        owners = min(500, owners_of(catalogue.size))
        self._owners = [owner_name(number, catalogue.seed) for number in range(owners)]
        self._parameters = document["components"]["parameters"]
        # Lists often: pages take a hundred times as long.
        self._paths = list(document["paths"]) * 8 + ["/maps"] * 100 + [*PAGES]

    def drawn(self) -> tuple[bytes, bool]:
        """Return the next request, and whether the connection can be reused after it."""
        target = self._path() + self._query()
        method, version = self._method(), self._version()
        headers = self._headers()
        body = self._body(headers)
        lines = [f"{method} {target} {version}", *headers, "", ""]
        plain = not body and version == "HTTP/1.1" and method in ("GET", "HEAD", "OPTIONS")
        return "\r\n".join(lines).encode("utf-8", "replace") + body, plain

    def _often(self, share: float) -> bool:
        return self._chance.random() < share

    def _method(self) -> str:
        if self._often(0.85):
            return "GET"
        return self._chance.choice(("HEAD", "OPTIONS", *METHODS))

    def _version(self) -> str:
        return "HTTP/1.1" if self._often(0.97) else self._chance.choice(("HTTP/1.0", "HTTP/3.7"))

    def _path(self) -> str:
        path = self._chance.choice(self._paths)
        public_id, slug = self._chance.choice(self._known)
        parts = {
            "{ID}": public_id if self._often(0.9) else self._odd_part(),
            "{slug}": slug if self._often(0.9) else self._odd_part(),
            "{name}": quote(self._chance.choice(self._owners)),
            "{number}": str(self._chance.randrange(30)),
            "{odd}": self._odd_part(),
        }
        for name, value in parts.items():
            path = path.replace(name, value)
        while "{" in path:
            before, _, rest = path.partition("{")
            name, _, after = rest.partition("}")
            path = before + self._value(name, quoted=True) + after
        return self._bent(path) if self._often(0.05) else path

    def _bent(self, path: str) -> str:
        place = self._chance.randrange(len(path) + 1)
        put_in = self._chance.choice(
            ("/", "//", "/../", "/./", "%2f", "%00", "%ff", "%", "%c3%28", ".", ";a=b", "é", " ",
             "\\", "%2e%2e/", "\x01", "A" * 9000, "*", "http://elsewhere/", "#", "?")
        )  # fmt: skip
        return path[:place] + put_in + path[place:]

    def _query(self) -> str:
        if self._often(0.15):
            return ""
        if self._often(0.02):
            return "?" + "".join(chr(self._chance.randrange(33, 127)) for _ in range(50))
        names = self._chance.sample(list(self._parameters), self._chance.choice((1, 1, 2, 3, 5)))
        if self._often(0.05):
            names.append(self._chance.choice((names[0], "unknown", "")))
        return "?" + "&".join(f"{name}={self._value(name, quoted=True)}" for name in names)

    def _value(self, name: str, *, quoted: bool = False) -> str:
        """Return a value of a parameter, mostly a valid one."""
        value = self._odd() if self._often(0.15) else self._right(name)
        return quote(value.encode("utf-8", "surrogatepass"), safe="") if quoted else value

    def _right(self, name: str) -> str:
        schema = self._parameters.get(name, {}).get("schema", {})
        match name:
            case "query":
                words = self._chance.choices(self._words, k=self._chance.choice((1, 1, 2, 3)))
                return self._chance.choice((" ", " ", " -", ' "')).join(words)
            case "owner":
                return str(self._chance.choice(self._owners))
            case "offset":
                return str(self._chance.choice((0, 20, 1000, self._chance.randrange(10**6))))
        if "enum" in schema:
            return str(self._chance.choice(schema["enum"]))
        if schema.get("type") == "integer":
            return str(self._chance.randrange(min(schema.get("maximum", 30), 60) + 1))
        return self._chance.choice(("true", "false", "0", "1"))

    def _odd(self) -> str:
        if self._often(0.8):
            return self._chance.choice(ODD)
        return "".join(chr(self._chance.randrange(1, 0xD800)) for _ in range(8))

    def _odd_part(self) -> str:
        return quote(self._odd().encode("utf-8", "surrogatepass"), safe="") or "-"

    def _headers(self) -> list[str]:
        headers = [f"Host: 127.0.0.1:{self._target.port}"]
        if self._often(0.02):
            headers = self._chance.choice(([], headers * 2, ["Host: "], ["Host: \x80/@[::"]))
        headers += self._authorization()
        choices = (
            ("Accept-Encoding", ("gzip", "gzip;q=0", "br, gzip;q=0.5", "*", "identity", ";;q=")),
            ("If-None-Match", ("*", '"a"', 'W/"b", "c"', '"', "a" * 5000)),
            ("If-Modified-Since", ("Sun, 22 Nov 2026 10:00:00 GMT", "never")),
            ("Range", ("bytes=0-10", "bytes=5-1", "bytes=-1", "lines=1-2")),
            ("Accept", ("text/html", "application/json", "*/*;q=0", "/")),
            ("Origin", ("https://elsewhere.example", "null", "")),
            ("Access-Control-Request-Method", ("GET", "DELETE", "?")),
            ("X-Forwarded-For", ("10.0.0.1", "::1, 1.2.3.4", "unknown", "," * 500)),
            ("X-Request-Id", ("a", "\x80", "x" * 5000)),
            ("User-Agent", ("Mozilla/5.0", "curl/8", "Googlebot/2.1", "")),
            ("Cookie", ("session=a", "=;=;", "a" * 4000)),
            ("Connection", ("keep-alive", "close", "Upgrade", "TE, close")),
            ("Upgrade", ("websocket", "h2c")),
            ("X-Odd", ("\x80\xff", "a\tb", "x" * 20_000)),
        )
        for name, values in choices:
            if self._often(0.08):
                headers.append(f"{name}: {self._chance.choice(values)}")
        return headers

    def _authorization(self) -> list[str]:
        if self._often(0.85):
            return [f"Authorization: Bearer {self._target.token}"]
        token = self._target.token
        values = (
            f"bearer   {token}", token, f"Basic {token}", "Bearer", "", f"Bearer {token[:-1]}",
            f"Bearer {new_token()}", f"Bearer {token} {token}", "Bearer \x80\xff", "B" * 9000,
        )  # fmt: skip
        value = self._chance.choice(values)
        headers = [f"Authorization: {value}"] * self._chance.choice((1, 1, 2))
        return headers if self._often(0.7) else []

    def _body(self, headers: list[str]) -> bytes:
        """Return a body, and add its headers to ``headers``."""
        if self._often(0.96):
            return b""
        body = self._chance.randbytes(self._chance.choice((1, 100, 70_000)))
        kind = self._chance.randrange(4)
        if kind == 0:
            headers.append("Transfer-Encoding: chunked")
            return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        if kind == 1:
            headers.append(f"Content-Length: {self._chance.choice(('x', '-1', '9' * 40))}")
            return body
        headers.append(f"Content-Length: {len(body)}")
        if kind == 2:
            headers.append("Expect: 100-continue")
        return body
