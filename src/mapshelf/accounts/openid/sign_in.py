"""Finds, creates or links the account of a user whom an OpenID provider has authenticated.

Only the issuer and the subject identify the user. Names and e-mail addresses never link accounts,
because they can pass to others. A new account gets the name from the provider, changed until it is
free.
"""

import secrets
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from mapshelf.accounts.attempt_limits import attempt_key
from mapshelf.accounts.audit import registering
from mapshelf.accounts.names import is_lookalike, is_unusable, without_invisible
from mapshelf.accounts.openid.attempt import Attempt
from mapshelf.accounts.openid.provider import DENIED, Provider, ProviderUser
from mapshelf.accounts.sessions import Client, NewSession, begin_session
from mapshelf.accounts.throttle import Throttle
from mapshelf.errors import (
    AlreadyExists,
    Conflict,
    NotFound,
    ProviderRefusal,
    ProviderUnavailable,
    TooManyAttempts,
)
from mapshelf.model import MINUTE, SECOND, USER_NAME_LENGTH, SignInProof, User, is_user_name
from mapshelf.settings import ProviderSettings
from mapshelf.store.contract import Identities, SignIn

NUMBERED: Final = 9
"""If a name is taken, numbers up to this one are tried, and then a random one."""

LONGEST_NAME: Final = USER_NAME_LENGTH - len("-1234567")
"""Maximum characters of a name that leave room for a number."""

NAMELESS: Final = "user"
"""The username if the provider sends no usable name."""


ANSWERS_OF_ADDRESS: Final = 100
"""Invalid responses from an address before further ones are rejected for a minute: each check sends
a request to the provider, for which all other users wait."""


class IdentityStore(Identities, SignIn, Protocol):
    """The parts of the store that signing in by a provider needs."""


def identified(
    store: SignIn, provider: Provider, attempt: Attempt, answer: Mapping[str, str], client: Client
) -> ProviderUser:
    """Return the user whom the provider authenticated; see ``Provider.identify``.

    Raises:
        ProviderRefusal: the provider denied access, or its response fails verification.
        ProviderUnavailable: the provider does not respond, or its response is invalid.
        TooManyAttempts: too many forged responses came from this client's address.
        StoreUnavailable: the store cannot be reached.
    """
    now, key = client.now, attempt_key("answers from", client.address)
    throttle = Throttle(key, ANSWERS_OF_ADDRESS, MINUTE, MINUTE)
    spare = throttle.spare_key(now)
    failures = store.failures((key, spare), now)
    if throttle.refused_until(failures, now) > now:
        raise TooManyAttempts(MINUTE // SECOND)
    if throttle.needs_spare(failures, now) and store.note_failure((spare,), now):
        raise TooManyAttempts(MINUTE // SECOND)
    try:
        return provider.identify(attempt, answer)
    except (ProviderRefusal, ProviderUnavailable) as error:
        cancelled = isinstance(error, ProviderRefusal) and error.reason == DENIED
        if not cancelled:  # by the user
            store.note_failure((key,), now)
        raise


def sign_in_by_provider(
    store: IdentityStore, settings: ProviderSettings, who: ProviderUser, client: Client
) -> NewSession:
    """Begin a session for a provider's user; create an account if that is enabled.

    Raises:
        ProviderRefusal: no account is linked to this user, or it may not sign in.
        StoreUnavailable: the store cannot be reached.
    """
    user = store.user_of_identity(who.issuer, who.subject)
    if user is None and settings.auto_create:
        user = _registered(store, who, client)
    if user is None:
        raise ProviderRefusal("unlinked", settings.name)
    try:
        return begin_session(store, user, client, SignInProof(identity=(who.issuer, who.subject)))
    except (NotFound, Conflict) as error:
        raise ProviderRefusal("disabled", settings.name) from error


def link_to_provider(
    store: Identities, settings: ProviderSettings, who: ProviderUser, user: User
) -> None:
    """Link the signed-in user to a provider's user.

    Raises:
        ProviderRefusal: another account is linked to the provider's user, or this one cannot be.
        StoreUnavailable: the store cannot be reached.
    """
    try:
        store.link_identity(user.id, who.issuer, who.subject, shown_name(who.name))
    except AlreadyExists as error:
        raise ProviderRefusal("taken", settings.name) from error
    except (NotFound, Conflict) as error:
        raise ProviderRefusal("disabled", settings.name) from error


def shown_name(name: str) -> str:
    """Return a name in displayable form: printable, and not too long."""
    return "".join(letter for letter in name if letter.isprintable())[:USER_NAME_LENGTH].strip()


def user_name_for(name: str) -> str:
    """Return a username derived from the name that a provider sends.

    It consists of visible letters of any script, digits, and a few signs between them. Everything
    after an @ is dropped: usernames are public, and must not reveal an address.
    """
    plain = unicodedata.normalize("NFKC", name[: 4 * USER_NAME_LENGTH]).partition("@")[0]
    kept = "".join(letter for letter in without_invisible(plain) if _may_be_in_name(letter))
    # Removing characters may have brought a letter and its combining accent together.
    kept = unicodedata.normalize("NFC", kept)
    found = " ".join(kept.split()).strip(" ._-")[:LONGEST_NAME].strip(" ._-")
    usable = is_user_name(found) and not is_lookalike(found) and not is_unusable(found)
    return found if usable else NAMELESS


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
