"""A clock that jumps by a year, or back by a day, while the service runs.

Tokens and sessions expire by the clock, and are valid again when the clock is set right. Nothing
else depends on it: changes are accepted, shown and backed up as always.
"""

import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx
import pytest

from mapshelf.backup_status import BackupStatusFile
from mapshelf.clock import milliseconds
from mapshelf.model import DAY, MapDraft
from mapshelf.tokens import SCOPES, SESSION_PREFIX, new_token, token_digest
from tests.cli.process import Mapshelf, serving, wait_for

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        LIBRARY is None or sys.platform != "linux", reason="jumps take libfaketime: apt, faketime"
    ),
]

JUMPS = ("+365d", "+0", "-1d", "+0")

FAILED_SLEEP: Final = "OSError: [Errno 22] Invalid argument"
"""How a process ends now and then below libfaketime: it makes invalid times of sleeps."""


def test_a_clock_that_jumps(tmp_path: Path) -> None:
    mapshelf, offset, log = Mapshelf(tmp_path / "data"), tmp_path / "offset", tmp_path / "log"
    lasting, short, session = new_token(), new_token(), new_token(SESSION_PREFIX)
    with closing(mapshelf.store()) as store:
        ann = store.add_user("ann").id
        for token, expires in ((lasting, None), (short, milliseconds() + 90 * DAY)):
            store.add_token(
                "ann", token_digest(token), label="", scopes=" ".join(SCOPES), expires=expires
            )
        store.put_maps([MapDraft(id="m1", title="Soil", owner="ann")])
        store.add_session(ann, token_digest(session), "test", milliseconds() + 30 * DAY, None)
    set_offset(offset, "+0")
    under = (
        "env",
        f"LD_PRELOAD={LIBRARY}",
        f"FAKETIME_TIMESTAMP_FILE={offset}",
        "FAKETIME_NO_CACHE=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",  # the monotonic clock cannot be set
    )
    options = ("--backup-dir", tmp_path / "backups")
    with (
        log.open("wb") as stream,
        serving(mapshelf, *options, token=lasting, under=under, log=stream) as service,
        httpx.Client(base_url=service.url, timeout=60) as client,
    ):
        service.wait_until_ready()
        wait_for(lambda: BackupStatusFile(mapshelf.data).read().made is not None)
        for jump in JUMPS:
            set_offset(offset, jump)
            # The test uploads no file: the child that would read it may not open the clock's file.
            answer = client.patch(
                "/maps/m1", headers={"Authorization": f"Bearer {lasting}"}, json={"title": jump}
            )
            assert answer.status_code == 200, answer.text
            wait_for(lambda jump=jump: service.get("/maps")[0][0]["Title"] == jump)
            good = jump != "+365d"
            for path, headers in (
                ("/users/me", {"Authorization": f"Bearer {short}"}),
                ("/account", {"Cookie": f"mapshelf_session={session}"}),
            ):
                wait_for(lambda p=path, h=headers, g=good: _lets_in(client, p, h) == g)
    said = log.read_text("utf-8")
    assert said.count("Traceback") == said.count(FAILED_SLEEP), said
    kept = sorted((tmp_path / "backups").glob("*.backup"))
    assert len(kept) == 1  # no backups for the days that the clock skipped
    with closing(mapshelf.store()) as store:
        assert store.check() == []
    assert BackupStatusFile(mapshelf.data).read().failing_since is None


def set_offset(path: Path, offset: str) -> None:
    """Write the offset atomically: libfaketime may read it any time and fails on an empty one."""
    written = path.with_suffix(".new")
    written.write_text(offset)
    written.replace(path)


def _lets_in(client: httpx.Client, path: str, headers: dict[str, str]) -> bool:
    return client.get(path, headers=headers).status_code == 200
