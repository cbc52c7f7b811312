"""The table of permissions, for every kind of credential."""

import itertools
from dataclasses import replace

import pytest

from mapshelf.accounts.permissions import PERMISSIONS, allows
from mapshelf.model import Credential, Role, Token, TokenKind, User
from mapshelf.tokens import SCOPES

MEMBER = User(1, "ann", 0, disabled=False)
TOKEN = Token(1, "ann", "", "", created=0, expires=None, revoked=None, last_used=None)

READING = {"list maps", "search maps", "read a map", "list one's own maps", "list versions"}
READING |= {"list collections", "read a collection", "list saved searches"}
WRITING = {"publish a map", "change a map", "remove a map", "undo a removal"}
WRITING |= {"replace a file", "restore a version", "vote", "report a map"}
WRITING |= {"save a search", "report a collection"}
WRITING |= {"make a collection", "change a collection", "remove a collection"}
PUBLIC = {"sign in", "sign in by a provider", "choose a password by link", "register"}
PUBLIC |= {"see a picture", "ask about the service", "ask to be let in as a program"}
FEEDS_ONLY = {"read feeds by a secret address"}
ADMINISTRATION = {"make, list and withdraw invitations", "decide about reports"}
ADMINISTRATION |= {"see and dismiss refused files", "see duplicates", "rename tags"}
ADMINISTRATION |= {"pin a collection"}


def allowed(credential: Credential | None) -> set[str]:
    return {name for name, asked in PERMISSIONS.items() if allows(asked, credential)}


def test_no_credential_allows_only_public_operations() -> None:
    assert allowed(None) == PUBLIC


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(
    "scopes",
    [some for size in range(4) for some in itertools.combinations(SCOPES, size)],
)
def test_personal_tokens(role: Role, scopes: tuple[str, ...]) -> None:
    """They never allow changes of the account, whatever their scopes and whoever's they are."""
    credential = Credential(replace(TOKEN, scopes=" ".join(scopes)), replace(MEMBER, role=role))
    expected = set(PUBLIC)
    if "account" in scopes:
        expected.add("read the profile")
    if "maps" in scopes:
        expected |= READING
    if "maps:write" in scopes:
        expected |= WRITING
    assert allowed(credential) == expected


def test_tokens_from_before_there_were_scopes() -> None:
    old, new = (Credential(replace(TOKEN, scopes=one), MEMBER) for one in ("read", "account maps"))
    assert allowed(old) == allowed(new)


@pytest.mark.parametrize("role", Role)
def test_sessions(role: Role) -> None:
    session = replace(TOKEN, scopes=" ".join(SCOPES), kind=TokenKind.SESSION)
    refused = set(PERMISSIONS) - allowed(Credential(session, replace(MEMBER, role=role)))
    assert refused == FEEDS_ONLY | (set() if role is Role.ADMINISTRATOR else ADMINISTRATION)


def test_the_secret_of_feeds_allows_nothing_else() -> None:
    secret = Credential(replace(TOKEN, scopes="feeds"), replace(MEMBER, role=Role.ADMINISTRATOR))
    assert allowed(secret) == PUBLIC | FEEDS_ONLY
