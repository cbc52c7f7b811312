"""No acknowledged exchange of a code or a refresh token is lost, whenever the service is killed.

One program exchanges codes, another refreshes tokens, and the service is killed at a random moment.
Afterwards, acknowledged tokens are valid, no code has given two grants, and a program that lost a
response can continue with the token that it has. ``MAPSHELF_KILL_ROUNDS=200 pytest
tests/service/test_kill_programs.py`` runs more rounds than the default.
"""

import os
import random
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from mapshelf.accounts.authorization import allow, read_request, read_return_address
from mapshelf.clock import milliseconds
from mapshelf.model import Program, User
from mapshelf.store import Store
from mapshelf.tokens import new_token, token_digest
from tests.api.oauth_programs import CALLBACK, SECRET, VERIFIER, challenge_of, registered
from tests.cli.process import Mapshelf, serving

pytestmark = pytest.mark.process

ROUNDS = int(os.environ.get("MAPSHELF_KILL_ROUNDS", "1"))
CODES = 20
"""Codes for a round; as many grants of a user are kept."""

STILL_GOOD = 50.0
"""Seconds for which codes and replaced tokens are good, and some more. On a machine so busy that a
restart takes as long, what was on its way is not asked for."""

PATIENCE = 30.0
"""Seconds for the first exchange, which takes far less on a machine that is not busy."""


def code_of(store: Store, program: Program, user: User, issuer: str) -> str:
    """Return an authorization code that the user has agreed to."""
    asked = {
        "client_id": program.id,
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope": "account maps",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
    }
    found, back = read_return_address(store, asked)
    address = allow(store, read_request(found, back, asked), user, issuer, milliseconds())
    return httpx.URL(address).params["code"]


@dataclass(slots=True)
class Exchanging:
    """A program that exchanges codes or refresh tokens until the service is gone.

    Attributes:
        program: its registration.
        codes: codes that it has not sent yet, or has no response for.
        granted: the response for each code.
        refreshed: the last response for a refresh token.
    """

    program: Program
    codes: list[str] = field(default_factory=list)
    granted: dict[str, dict[str, Any]] = field(default_factory=dict)
    refreshed: dict[str, Any] = field(default_factory=dict)
    refreshes: int = 0

    def exchange(self, url: str) -> None:
        """Exchange the codes."""
        try:
            with httpx.Client(base_url=url, timeout=20) as client:
                for code in self.codes:
                    answer = token(client, self.program, for_code(code))
                    assert answer.status_code == 200, answer.text
                    self.granted[code] = answer.json()
        except httpx.TransportError:
            return

    def refresh(self, url: str) -> None:
        """Refresh again and again."""
        try:
            with httpx.Client(base_url=url, timeout=20) as client:
                while True:
                    answer = token(client, self.program, for_refresh(self.refreshed))
                    assert answer.status_code == 200, answer.text
                    self.refreshed = answer.json()
                    self.refreshes += 1
        except httpx.TransportError:
            return


def for_code(code: str) -> dict[str, str]:
    return {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }


def for_refresh(found: dict[str, Any]) -> dict[str, str]:
    return {"grant_type": "refresh_token", "refresh_token": found["refresh_token"]}


def token(client: httpx.Client, program: Program, form: dict[str, str]) -> httpx.Response:
    who = {"client_id": program.id, "client_secret": SECRET}
    return client.post("/oauth/token", data={**who, **form})


def test_no_acknowledged_token_is_lost(tmp_path: Path) -> None:
    moments = random.Random(9700)
    mapshelf = Mapshelf(tmp_path / "data")
    mapshelf.run("user", "add", "owner")
    own = new_token()
    with closing(mapshelf.store()) as store:
        store.add_token("owner", token_digest(own), label="", scopes="maps", expires=None)
        web, lasting = registered(store), registered(store, "Lasting")
        long_user = store.add_user("lasting")
    refreshing = Exchanging(lasting)
    exchanged = 0
    for number in range(ROUNDS):
        with closing(mapshelf.store()) as store:
            user = store.add_user(f"user{number}")
        with serving(mapshelf, token=own) as service:
            service.wait_until_ready()
            made = time.monotonic()
            with closing(mapshelf.store()) as store:
                codes = [code_of(store, web, user, service.url) for _ in range(CODES)]
                first = code_of(store, lasting, long_user, service.url)
            if not refreshing.refreshed:
                with httpx.Client(base_url=service.url, timeout=60) as client:
                    refreshing.refreshed = token(client, lasting, for_code(first)).json()
            exchanging = Exchanging(web, codes)
            refreshes = refreshing.refreshes
            works = (exchanging.exchange, refreshing.refresh)
            threads = [threading.Thread(target=work, args=(service.url,)) for work in works]
            for thread in threads:
                thread.start()
            deadline = time.monotonic() + PATIENCE
            while not (exchanging.granted and refreshing.refreshes > refreshes):
                assert time.monotonic() < deadline, "nothing was exchanged"
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.15))
            service.kill()
            for thread in threads:
                thread.join(30)
                assert not thread.is_alive()
        assert "damaged" not in mapshelf.run("check").stderr
        with serving(mapshelf, token=own) as service:
            service.wait_until_ready()
            with closing(mapshelf.store()) as store:
                check_acknowledged(store, service.url, user, exchanging, refreshing)
                if time.monotonic() - made < STILL_GOOD:
                    check_others(store, service.url, user, exchanging, refreshing)
                else:
                    refreshing.refreshed = {}
        exchanged += len(exchanging.granted)
    print(f"{ROUNDS} rounds, {exchanged} codes, {refreshing.refreshes} refreshes")


def check_acknowledged(
    store: Store, url: str, user: User, exchanging: Exchanging, refreshing: Exchanging
) -> None:
    """Check that all acknowledged tokens are valid."""
    grants = len(store.grants(user.id, milliseconds()))
    # At most the last one exists without an acknowledgement.
    assert grants - len(exchanging.granted) in (0, 1)
    with httpx.Client(base_url=url, timeout=20) as client:
        for found in (*exchanging.granted.values(), refreshing.refreshed):
            headers = {"Authorization": f"Bearer {found['access_token']}"}
            assert client.get("/maps?limit=0", headers=headers).status_code == 200


def check_others(
    store: Store, url: str, user: User, exchanging: Exchanging, refreshing: Exchanging
) -> None:
    """Check the exchanges that were under way."""
    grants = len(store.grants(user.id, milliseconds()))
    with httpx.Client(base_url=url, timeout=20) as client:
        # Its last response may be lost: the token that it has is still valid for a minute.
        answer = token(client, refreshing.program, for_refresh(refreshing.refreshed))
        assert answer.status_code == 200, answer.text
        refreshing.refreshed = answer.json()
        sent = [code for code in exchanging.codes if code not in exchanging.granted]
        for code in sent[:1]:
            answer = token(client, exchanging.program, for_code(code))
            given = answer.status_code == 200
            assert given == (grants == len(exchanging.granted)), answer.text
        for code in sent[1:2]:
            assert token(client, exchanging.program, for_code(code)).status_code == 200
