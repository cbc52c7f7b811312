"""No acknowledged upload or vote is lost, whenever the service is killed.

Users upload files and vote, and the service is killed at a random moment. Afterwards, everything
that was acknowledged must be complete. The rest is sent again, and no map or vote may exist twice.
``MAPSHELF_KILL_ROUNDS=200 pytest tests/service/test_kill_publishing.py`` runs more rounds than the
default.
"""

import os
import random
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from mapshelf.model import MapDraft, Vote
from mapshelf.store import Store
from mapshelf.tokens import SCOPES, new_token, token_digest
from tests.api.publishing import plan
from tests.cli.process import Mapshelf, serving

pytestmark = pytest.mark.process

ROUNDS = int(os.environ.get("MAPSHELF_KILL_ROUNDS", "3"))
UPLOADERS = 2
RATED = "Rated000"
VOTES = (Vote.UP, Vote.NONE, Vote.DOWN)


@dataclass(slots=True)
class Uploader:
    """A user who uploads files one after another, and repeats each until it is acknowledged.

    Attributes:
        name: the name of the user.
        token: a token with all scopes.
        acknowledged: the ID of the map for each uploaded number.
        votes: how many votes were acknowledged; they are those of ``VOTES`` in turn.
    """

    name: str
    token: str
    acknowledged: dict[int, str] = field(default_factory=dict)
    votes: int = 0

    def work(self, url: str) -> None:
        """Upload and vote until the service is gone."""
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            with httpx.Client(base_url=url, headers=headers, timeout=20) as client:
                while True:
                    self._upload(client)
                    self._vote(client)
        except httpx.TransportError:
            return

    def content(self, number: int) -> bytes:
        """Return a file that is different for each number and user."""
        return plan(f"{self.name} {number}")

    def _upload(self, client: httpx.Client) -> None:
        number = len(self.acknowledged)
        answer = client.post(
            "/maps",
            headers={"Idempotency-Key": f"{self.name}-{number}"},
            files={"map": (f"{number}.mm", self.content(number))},
        )
        assert answer.status_code in (200, 201), answer.text
        self.acknowledged[number] = answer.json()["ID"]

    def _vote(self, client: httpx.Client) -> None:
        # A vote that was not acknowledged is sent again unchanged.
        vote = VOTES[self.votes % len(VOTES)].name.lower()
        answer = client.put(f"/maps/{RATED}/vote", json={"vote": vote})
        assert answer.status_code == 200, answer.text
        self.votes += 1


def test_no_acknowledged_upload_or_vote_is_lost(tmp_path: Path) -> None:
    moments = random.Random(15)
    mapshelf = Mapshelf(tmp_path / "data")
    mapshelf.run("user", "add", "owner")
    people = [Uploader(f"person{number}", new_token()) for number in range(UPLOADERS)]
    with closing(mapshelf.store()) as store:
        store.put_maps([MapDraft(id=RATED, title="Rated", owner="owner")])
        for one in people:
            store.add_user(one.name)
            store.add_token(
                one.name, token_digest(one.token), label="", scopes=" ".join(SCOPES), expires=None
            )
    begun = 0
    for _ in range(ROUNDS):
        with serving(mapshelf, "--uploads-per-hour", "1000000", token=people[0].token) as service:
            service.wait_until_ready()
            threads = [threading.Thread(target=one.work, args=(service.url,)) for one in people]
            for thread in threads:
                thread.start()
            # The first upload waits until a child process has started.
            begun = sum(len(one.acknowledged) for one in people)
            deadline = time.monotonic() + 30
            while begun == sum(len(one.acknowledged) for one in people):
                assert time.monotonic() < deadline, "nothing was uploaded"
                time.sleep(0.01)
            time.sleep(moments.uniform(0, 0.4))
            service.kill()
            for thread in threads:
                thread.join(30)
                assert not thread.is_alive()
        assert "damaged" not in mapshelf.run("check").stderr
        with closing(mapshelf.store()) as store:
            check(store, people)
    print(f"{ROUNDS} rounds, {sum(len(one.acknowledged) for one in people)} uploads")


def check(store: Store, people: list[Uploader]) -> None:
    """Compare the store with what was acknowledged."""
    maps = {one.id: one for one in store.maps(0, 1_000_000)}
    for one in people:
        own = [found for found in maps.values() if found.owner == one.name]
        # At most the last one exists without an acknowledgement.
        assert len(own) - len(one.acknowledged) in (0, 1)
        for number, public_id in one.acknowledged.items():
            kept = store.content(maps[public_id].file_id)
            assert kept is not None
            assert kept.name == f"{number}.mm"
        for found in own:
            assert store.outline(found.file_id) is not None
            assert [version.number for version in store.versions(found.file_id)] == [1]
    rated = maps[RATED]
    users = {user.name: user.id for user in store.users()}
    votes = [store.vote_of(rated.file_id, users[one.name]) for one in people]
    counted = (votes.count(Vote.UP), votes.count(Vote.DOWN))
    assert (rated.thumbs_up, rated.thumbs_down) == counted
    for one, vote in zip(people, votes, strict=True):
        # The stored vote is the last acknowledged one, or the one after it.
        last = VOTES[(one.votes - 1) % len(VOTES)] if one.votes else Vote.NONE
        assert vote in (last, VOTES[one.votes % len(VOTES)])
