"""From somebody whom the provider knows to an account here.

The issuer and the subject say who it is; names and addresses link nobody, because others may come
by them. A new account has the name that the provider says, changed until it is free.
"""

import secrets
import unicodedata
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final, Protocol

from mapshelf.accounts.audit import registering
from mapshelf.accounts.names import without_invisible
from mapshelf.accounts.openid.attempt import Attempt
from mapshelf.accounts.openid.provider import DENIED, Provider, ProviderUser
from mapshelf.accounts.sessions import Client, NewSession, begin_session
from mapshelf.errors import (
    AlreadyExists,
    Conflict,
    NotFound,
    ProviderRefusal,
    TooManyAttempts,
)
from mapshelf.model import USER_NAME_LENGTH, PasswordRecord, User, is_user_name
from mapshelf.settings import ProviderSettings
from mapshelf.store.contract import Identities, SignIn

NUMBERED: Final = 9
"""A name that is taken is tried with numbers up to this one, and then with one at random."""

LONGEST_NAME: Final = USER_NAME_LENGTH - len("-1234567")
"""Most characters of a name that leave room for a number."""

SECOND: Final = 1000
MINUTE: Final = 60 * SECOND
"""In milliseconds."""

NAMELESS: Final = "user"
"""The name of who has none that can be used."""


ANSWERS_OF_ADDRESS: Final = 100
"""Answers of the provider from an address that turn out to be none, until more are not looked at
for a minute: looking takes a request to the provider, which all others wait for."""


class IdentityStore(Identities, SignIn, Protocol):
    """What signing in by a provider takes."""


def identified(
    store: SignIn, provider: Provider, attempt: Attempt, answer: Mapping[str, str], client: Client
) -> ProviderUser:
    """Return whom the provider sends back; see ``Provider.identify``.

    Raises:
        ProviderRefusal: it does not let them in, or what it says cannot be believed.
        ProviderUnavailable: the provider does not answer, or not as one.
        TooManyAttempts: somebody at the address of the client makes answers up.
        StoreUnavailable: the store cannot be reached.
    """
    key = sha256(b"answers from " + client.address.encode()).digest()
    before = store.failures((key,), client.now).get(key)
    if before and before.count >= ANSWERS_OF_ADDRESS and client.now < before.last + MINUTE:
        raise TooManyAttempts(MINUTE // SECOND)
    try:
        return provider.identify(attempt, answer)
    except ProviderRefusal as refusal:
        if refusal.reason != DENIED:  # somebody has thought better of it
            store.note_failure((key,), client.now)
        raise


def sign_in_by_provider(
    store: IdentityStore, settings: ProviderSettings, who: ProviderUser, client: Client
) -> NewSession:
    """Begin a session for whom the provider knows; make an account if that is allowed.

    Raises:
        ProviderRefusal: nobody here is linked to them, or they may not sign in here.
        StoreUnavailable: the store cannot be reached.
    """
    user = store.user_of_identity(who.issuer, who.subject)
    if user is None and settings.auto_create:
        user = _registered(store, who, client)
    if user is None:
        raise ProviderRefusal("unlinked", settings.name)
    try:
        return begin_session(store, PasswordRecord(user, None), client)
    except (NotFound, Conflict) as error:
        raise ProviderRefusal("disabled", settings.name) from error


def link_to_provider(
    store: Identities, settings: ProviderSettings, who: ProviderUser, user: User
) -> None:
    """Link who is signed in to somebody whom the provider knows.

    Raises:
        ProviderRefusal: another user is linked to them, or this user cannot be.
        StoreUnavailable: the store cannot be reached.
    """
    try:
        store.link_identity(user.id, who.issuer, who.subject, shown_name(who.name))
    except AlreadyExists as error:
        raise ProviderRefusal("taken", settings.name) from error
    except (NotFound, Conflict) as error:
        raise ProviderRefusal("disabled", settings.name) from error


def shown_name(name: str) -> str:
    """Return a name as it can be shown: printable, and not too long."""
    return "".join(letter for letter in name if letter.isprintable())[:USER_NAME_LENGTH].strip()


def user_name_for(name: str) -> str:
    """Return a username like the name that a provider says.

    It has letters that can be seen, digits and a few signs between them, whatever the script. What
    follows an @ is left out: others see usernames, and need not see an address.
    """
    plain = unicodedata.normalize("NFKC", name[: 4 * USER_NAME_LENGTH]).partition("@")[0]
    kept = "".join(letter for letter in without_invisible(plain) if _may_be_in_name(letter))
    # What is left out may have kept a letter and its accent apart.
    kept = unicodedata.normalize("NFC", kept)
    found = " ".join(kept.split()).strip(" ._-")[:LONGEST_NAME].strip(" ._-")
    return found if is_user_name(found) else NAMELESS


def _may_be_in_name(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "LMN" or letter in " ._-"


def _registered(store: IdentityStore, who: ProviderUser, client: Client) -> User | None:
    for name in _names(user_name_for(who.name)):
        try:
            with store.auditing(registering(name, client.address)):
                return store.register_by_identity(
                    name, who.issuer, who.subject, shown_name(who.name)
                )
        except AlreadyExists:
            continue
    return None


def _names(name: str) -> Iterator[str]:
    yield name
    for number in range(2, NUMBERED + 1):
        yield f"{name}-{number}"
    for _ in range(NUMBERED):
        yield f"{name}-{secrets.randbelow(9_000_000) + 1_000_000}"
