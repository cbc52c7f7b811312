"""Files that change while the service is down never affect a response."""

import signal
import time
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from tests.cli.process import PATIENCE, Mapshelf, Service, serving, wait_for
from tests.service.processes import descendants, runs

pytestmark = pytest.mark.process

ENDS = (
    (signal.SIGKILL, "records.bin"),
    (signal.SIGKILL, "manifest.json"),
    (signal.SIGTERM, "text/*.idx"),
)
"""How the service ends in turn, and what is altered then; ``test_verified_snapshots`` alters every
file."""

BASE = "https://maps.example.org"


def test_every_response_is_right_or_a_refusal(samples: Mapshelf, tmp_path: Path) -> None:
    mapshelf = samples.copied_to(tmp_path / "data")
    token = mapshelf.token()
    (first, _), *others = ENDS
    with serving(mapshelf, "--base-url", BASE, token=token) as service:
        service.wait_until_ready()
        found, _ = service.get("/maps?limit=50")
        assert len(found) > 10
        paths = ["/maps?limit=50", "/maps?order_by=alpha", "/maps?order_by=views&category=1"]
        paths += ["/maps?query=the", "/search?query=map", "/facets", "/categories"]
        paths += [f"/maps/{one['ID']}" for one in found[:5]]
        right = {path: body_of(service, path) for path in paths}
        assert all(right.values())
        end(service, first)
    for (_, kind), (following, _) in zip(ENDS, [*others, (signal.SIGTERM, "")], strict=True):
        (altered,) = sorted(current(mapshelf).glob(kind))[:1]
        flip(altered)
        with serving(mapshelf, "--base-url", BASE, token=token, workers=2) as service:
            prove(service, right)
            end(service, following)
        assert not altered.exists() or altered.parent != current(mapshelf)


def prove(service: Service, right: dict[str, bytes | None]) -> None:
    """Send requests from the start until all succeed; every response must be right."""
    deadline, answered = time.monotonic() + PATIENCE, set[str]()
    while len(answered) < len(right):
        assert time.monotonic() < deadline, f"no answer: {set(right) - answered}"
        for path, body in right.items():
            given = body_of(service, path)
            assert given in (None, body), path
            if given is not None:
                answered.add(path)
        time.sleep(0.01)  # leaves processor time to the service


def body_of(service: Service, path: str) -> bytes | None:
    """Return the body of the response, ``None`` if the service is not ready."""
    request = Request(service.url + path, headers={"Authorization": f"Bearer {service.token}"})
    try:
        with urlopen(request, timeout=10) as answer:
            body: bytes = answer.read()
            return body
    except HTTPError as error:
        error.close()
        refused = (error.code, error.headers["Retry-After"])
    except (URLError, ConnectionError, TimeoutError):
        return None  # it does not listen yet
    assert refused == (503, "1"), path
    return None


def end(service: Service, number: signal.Signals) -> None:
    """Send the service a signal, and wait until all its processes have ended."""
    family = descendants(service.process.pid)
    service.process.send_signal(number)
    service.process.wait(PATIENCE)
    wait_for(lambda: not any(map(runs, family)))


def current(mapshelf: Mapshelf) -> Path:
    """Return the folder of the current snapshot."""
    folder = mapshelf.data / "snapshots"
    return folder / (folder / "current").read_text("ascii")


def flip(path: Path) -> None:
    """Change bytes all over a file in place."""
    data = bytearray(path.read_bytes())
    for place in range(0, len(data), 97):
        data[place] ^= 0x04
    with path.open("r+b") as file:
        file.write(data)
