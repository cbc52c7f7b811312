"""Secret feed addresses: a user has one, whatever happens at the same moment."""

from typing import Any

import pytest

from mapshelf.accounts.feed_addresses import feed_token, new_feed_secret
from mapshelf.model import Token
from mapshelf.store import Store
from mapshelf.tokens import token_digest


def test_of_two_addresses_made_at_the_same_moment_the_later_one_is_left(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = store.add_user("ann")
    first = new_feed_secret(store, ann, "192.0.2.1")
    add, made = store.add_token, []

    def add_second(*given: Any, **said: Any) -> Token:
        monkeypatch.undo()
        made.append(new_feed_secret(store, ann, "192.0.2.1"))
        return add(*given, **said)

    monkeypatch.setattr(store, "add_token", add_second)
    third = new_feed_secret(store, ann, "192.0.2.1")
    tokens = store.find_credentials([token_digest(one) for one in (first, *made, third)])
    left = [digest for digest, one in tokens.items() if one.token.revoked is None]
    assert (len(tokens), left) == (3, [token_digest(third)])
    token = feed_token(store, ann)
    assert token
    assert token.id == tokens[token_digest(third)].token.id
