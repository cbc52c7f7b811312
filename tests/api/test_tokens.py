"""Tokens while the service runs: refused within a second of their end, and never logged."""

import asyncio
import gc
import logging
import re
import time
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

import pytest

from mapshelf.api import auth, rsgi
from mapshelf.api.auth import Authenticator
from mapshelf.errors import InvalidToken
from mapshelf.tokens import MAPS, new_token, token_digest
from tests.api.rsgi import Answer, Scope
from tests.databases import KIND, kept_bytes
from tests.harness import READER, Service, Shelf, serve

PROMISE: Final = {"sqlite": 1.0, "postgres": 2.5}[KIND]
"""Seconds within which a token that has lost its force is refused."""

SLACK: Final = 0.25
"""Seconds more, for a request in flight and a busy machine."""


def now() -> int:
    return time.time_ns() // 1_000_000


def refused_after(service: Service, since: float) -> float:
    """Keep using the token until it is refused; return how long that took."""
    while (response := service.get("/users/me")).status_code == 200:
        assert time.monotonic() - since < PROMISE + SLACK, "the token is still accepted"
        service.run(asyncio.sleep(0.01))
    assert response.status_code == 401
    return time.monotonic() - since


def revoke(shelf: Shelf) -> None:
    for token in shelf.store.tokens(READER):
        shelf.store.revoke_token(token.id)


def disable(shelf: Shelf) -> None:
    shelf.store.disable_user(READER)


@pytest.mark.slow
@pytest.mark.parametrize("lose", [revoke, disable])
def test_token_in_use_is_refused_within_a_second(
    shelf: Shelf, live: Service, lose: Callable[[Shelf], None]
) -> None:
    assert live.get("/users/me").status_code == 200
    lose(shelf)
    assert refused_after(live, time.monotonic()) < PROMISE + SLACK
    assert live.get("/maps").status_code == 401


@pytest.mark.slow
def test_token_in_use_is_refused_within_a_second_of_its_end(shelf: Shelf, live: Service) -> None:
    end = now() + 1500
    live.token = shelf.token(expires=end)
    assert live.get("/users/me").status_code == 200
    since = time.monotonic() + (end - now()) / 1000
    assert refused_after(live, since) < PROMISE + SLACK
    assert now() >= end


@pytest.mark.parametrize("lose", [revoke, disable])
def test_token_not_seen_before_is_refused_at_once(
    shelf: Shelf, live: Service, lose: Callable[[Shelf], None]
) -> None:
    lose(shelf)
    assert live.get("/maps").status_code == 401


def test_token_that_has_expired_is_refused_at_once(shelf: Shelf, live: Service) -> None:
    live.token = shelf.token(expires=now())
    assert live.get("/maps").status_code == 401


def test_revoking_one_token_leaves_the_others(shelf: Shelf, live: Service) -> None:
    other = shelf.token()
    first, *_ = shelf.store.tokens(READER)
    shelf.store.revoke_token(first.id)
    assert live.get("/maps").status_code == 401
    live.token = other
    assert live.get("/maps").status_code == 200


def test_new_token_is_accepted_at_once_even_if_it_was_refused_before(
    shelf: Shelf, live: Service
) -> None:
    live.token = new_token()
    assert live.get("/maps").status_code == 401
    digest = token_digest(live.token)
    shelf.store.add_token(READER, digest, label="", scopes="read", expires=None)
    assert live.get("/maps").status_code == 200


def test_the_last_use_of_a_token_is_noted(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "USE_NOTED_EVERY", 0.05)
    before = now()
    with serve(shelf) as service:
        assert service.get("/maps").status_code == 200
        deadline = time.monotonic() + 30
        while (found := last_uses(shelf)) == [] and time.monotonic() < deadline:
            service.run(asyncio.sleep(0.02))
    assert len(found) == 1
    assert before <= found[0] <= now()


def last_uses(shelf: Shelf) -> list[int]:
    return [one.last_used for one in shelf.store.tokens(READER) if one.last_used is not None]


@pytest.mark.parametrize("form", ["Bearer {}", "bearer  {}", " BEARER {} ", "{}", "Bearer{:>400}"])
def test_a_token_is_accepted_in_any_form(live: Service, form: str) -> None:
    for _ in range(3):
        response = live.request("GET", "/maps", headers={"Authorization": form.format(live.token)})
        assert response.status_code == 200


@pytest.mark.parametrize(
    "form", ["Bearer {:>600}", "Bearer {:<600}", "{:>600}", "Bearer {}{:a>999}"]
)
def test_a_header_longer_than_any_of_ours_is_refused(live: Service, form: str) -> None:
    assert live.get("/maps").status_code == 200
    response = live.request("GET", "/maps", headers={"Authorization": form.format(live.token, "")})
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].endswith('error="invalid_token"')


def test_two_tokens_are_refused_even_for_cached_responses(live: Service) -> None:
    """Over RSGI, as Granian calls it: the first of two headers must not count alone."""
    application = rsgi.RSGIApplication(live.application.application)
    good, other = f"Bearer {live.token}", f"Bearer {new_token()}"

    def status(authorization: str) -> int:
        answer, scope = Answer(), Scope("/maps", "limit=1", {"Authorization": authorization})
        live.run(application.__rsgi__(scope, answer))
        return answer.status

    assert [status(good) for _ in range(3)] == [200] * 3
    assert status(f"{good}\n{other}") == 401
    assert status(f"{other}\n{good}") == 401
    assert status(f"{good}\n{good}") == 401
    assert status(good) == 200


@pytest.mark.slow
def test_token_headers_take_no_memory(shelf: Shelf) -> None:
    """A token is cached once, whatever else is in its header."""
    token = shelf.token()

    async def use(sizes: Iterable[int]) -> None:
        authenticator = Authenticator(shelf.store, shelf.settings.tokens_version)
        await authenticator.user(f"Bearer {token}".encode(), MAPS)
        tracemalloc.start()
        try:
            for size in sizes:
                with suppress(InvalidToken):
                    await authenticator.user(f"Bearer{' ' * size}{token}".encode(), MAPS)
            gc.collect()
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert kept < 1 << 20, f"{kept} bytes are kept"

    asyncio.run(use(range(350_000, 350_100)))
    asyncio.run(use(range(1, 1000)))


def test_one_token_does_not_evict_others_from_the_cache(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "MOST_CACHED_TOKENS", 5)
    token, other = shelf.token(), shelf.token()

    async def use() -> None:
        authenticator = Authenticator(shelf.store, shelf.settings.tokens_version)
        await authenticator.user(other.encode(), MAPS)
        for size in range(1, 100):
            await authenticator.user(f"Bearer{' ' * size}{token}".encode(), MAPS)
        shelf.store.close()
        await authenticator.user(other.encode(), MAPS)  # it is still cached

    asyncio.run(use())


def test_last_use_is_noted(shelf: Shelf) -> None:
    used, unused = shelf.token(), shelf.token()
    authenticator = Authenticator(shelf.store, shelf.settings.tokens_version)
    before = now()
    user = asyncio.run(authenticator.user(f"Bearer {used}".encode(), MAPS))
    assert user.name == READER
    assert [token.last_used for token in shelf.store.tokens(READER)] == [None, None]
    authenticator.write_use()
    first, second = shelf.store.tokens(READER)
    assert first.last_used is not None
    assert before <= first.last_used <= now()
    assert second.last_used is None
    with pytest.raises(InvalidToken):
        asyncio.run(authenticator.user(f"Bearer {unused}0".encode(), MAPS))


def test_last_use_is_noted_when_the_service_stops(shelf: Shelf, live: Service) -> None:
    live.get("/maps")
    live.stop()
    (token,) = shelf.store.tokens(READER)
    assert token.last_used is not None
    assert abs(now() - token.last_used) < 10_000


def test_last_use_that_cannot_be_noted_is_logged_and_forgotten(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    token = shelf.token()
    authenticator = Authenticator(shelf.store, shelf.settings.tokens_version)
    asyncio.run(authenticator.user(token.encode(), MAPS))
    shelf.store.close()
    authenticator.write_use()
    assert "not noted" in caplog.text


@pytest.mark.slow
def test_token_is_never_logged_or_sent(
    shelf: Shelf, live: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="mapshelf")
    secret = live.token.removeprefix("msh_")
    told = []
    for path in ("/maps", "/maps?limit=x", f"/maps?query={live.token}", "/users/me", "/nothing"):
        response = live.get(path)
        told.append(re.sub(r"[?&]query=\w+", "", str(response.headers) + response.text))
    revoke(shelf)
    refused_after(live, time.monotonic())
    live.token += "x"
    response = live.get("/maps")
    assert response.status_code == 401
    told.append(str(response.headers) + response.text)
    live.stop()
    assert secret not in "".join(told)
    assert secret not in caplog.text


def test_token_is_not_kept_in_clear(shelf: Shelf, live: Service) -> None:
    live.get("/maps")
    live.stop()
    secret = live.token.removeprefix("msh_").encode()
    assert not any(secret in content for content in kept_bytes(shelf.settings.data))
