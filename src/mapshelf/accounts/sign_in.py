"""Signing in with a password, choosing a password by a link, and registering.

Failed attempts are throttled: after some failures, further attempts are refused for a time that
doubles with each failure. Failures are counted

* for one account from one address;
* from one address for all accounts, against trying one password on many accounts;
* for one account from all addresses: addresses new to the account then have fewer attempts.

The last two do not apply to addresses from which the account has been signed in to before, so that
an attacker elsewhere cannot lock the owner out. A one-time link works despite any failures.

A failure is counted before the password is verified, and removed if the password is right, so that
concurrent attempts get no extra tries. Unknown names are treated the same, and take as long.
"""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from mapshelf.accounts.attempt_limits import AttemptLimit
from mapshelf.accounts.audit import changing_password, done_by, registering
from mapshelf.accounts.names import has_invisible, is_lookalike, is_unusable
from mapshelf.accounts.one_time_links import link_with
from mapshelf.accounts.passwords import hash_password, verify
from mapshelf.accounts.sessions import Client, NewSession, begin_session
from mapshelf.accounts.throttle import Throttle
from mapshelf.errors import (
    Conflict,
    InvalidParameter,
    NotFound,
    StoreError,
    TooManyAttempts,
    UnusableName,
    WrongCredentials,
)
from mapshelf.model import (
    MINUTE,
    SECOND,
    Access,
    AuditEntry,
    AuditEvent,
    Failures,
    LinkKind,
    PasswordRecord,
    SignInProof,
    User,
    composed_name,
    is_user_name,
    name_key,
)
from mapshelf.store.contract import SignIn
from mapshelf.tokens import LINK_PREFIX, is_well_formed, token_digest

FREE_TRIES: Final = 5
"""Failures of an account from an address until attempts are refused."""

FREE_TRIES_UNDER_ATTACK: Final = 1
ATTACK: Final = 50
"""The limit for an address that is new to an account with this many failures in total."""

FREE_TRIES_OF_ADDRESS: Final = 100
"""Failures from an address before attempts are refused. Many people may share an address."""

FIRST_WAIT: Final = 5 * SECOND
LONGEST_WAIT: Final = 15 * MINUTE
LONGEST_WAIT_OF_ADDRESS: Final = MINUTE
"""How long attempts are refused: the first time doubles with each failure, up to the longest."""


REGISTRATIONS: Final = 100
"""Maximum open registrations from an address in a day. Many people may share an address."""

REGISTRATION_WAIT: Final = 60 * MINUTE
"""The ``retry_after`` at that limit."""


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys under which the store counts an attempt.

    They are digests, so that the table of failures reveals no names and addresses.
    """

    pair: bytes
    address: bytes
    account: bytes

    @property
    def others(self) -> tuple[bytes, bytes]:
        return self.address, self.account


def sign_in(store: SignIn, name: str, password: str, client: Client) -> NewSession:
    """Begin a session for a user with a password. This is slow, because it verifies a hash.

    Args:
        store: stores passwords, sessions and failures.
        name: the username, in any case.
        password: the password, as entered.
        client: the browser.

    Raises:
        WrongCredentials: the name or the password is wrong, or the user may not sign in.
        TooManyAttempts: too many attempts failed; this one was not verified.
        Overloaded: there is not enough memory for the hash.
        StoreUnavailable: the store cannot be reached.
    """
    record = verified(store, name, password, client)
    try:
        return begin_session(store, record.user, client, SignInProof(record.encoded))
    except (NotFound, Conflict) as error:  # changed or disabled concurrently
        raise WrongCredentials from error


def verified(store: SignIn, name: str, password: str, client: Client) -> PasswordRecord:
    """Return the user with this name if the password is right.

    Raises:
        WrongCredentials: the name or the password is wrong, or the user may not sign in.
        TooManyAttempts: too many attempts failed; this one was not verified.
        Overloaded: there is not enough memory for the hash.
        StoreUnavailable: the store cannot be reached.
    """
    now, keys = client.now, _keys(name, client)
    known = store.is_known_address(keys.pair, now)
    spares = [one.spare_key(now) for one in _throttles({}, keys, known=known)]
    failures = store.failures((keys.pair, *keys.others, *spares), now)
    throttles = _throttles(failures, keys, known=known)
    _refuse_too_many(throttles, failures, now)
    claimed = [one.spare_key(now) for one in throttles if one.needs_spare(failures, now)]
    before = store.note_failure((keys.pair, *keys.others, *claimed), now)
    _refuse_too_many(_throttles(before, keys, known=known), before, now, claimed)
    record = _record(store, name)
    usable = record is not None and not record.user.disabled
    right = verify(password, record.encoded if record and usable else None)
    if record is None or not right:
        _note_failure(store, record.user if record else None, client)
        raise WrongCredentials
    store.note_success(keys.pair, keys.others, now)
    return record


def choose_password(
    store: SignIn, secret: str, password: str, client: Client, ending: Collection[Access] = ()
) -> NewSession:
    """Choose a password by a one-time link, and sign in.

    Args:
        store: stores passwords and sessions.
        secret: the secret of the link, which stays valid if the password is rejected.
        password: the new password.
        client: the browser.
        ending: which other credentials end, in addition to the sessions of the user.

    Raises:
        NotFound: the link is unknown, used or expired.
        UnacceptablePassword: the password breaks a rule.
        Overloaded: there is not enough memory for the hash.
        StoreUnavailable: the store cannot be reached.
    """
    digest = _digest_of_link(secret)
    found = link_with(store, digest, client.now)
    if found is None or found.user is None:
        raise NotFound("this link no longer works")
    encoded = hash_password(password, found.user.name)
    with store.auditing(*changing_password(found.user, client.address, ending)):
        user = store.use_link(digest, encoded, client.now, ending)
    return _first_session(store, user, encoded, client)


def register(
    store: SignIn, secret: str | None, name: str, password: str, client: Client
) -> NewSession:
    """Register a member, and sign in.

    Args:
        store: stores users and sessions.
        secret: the secret of the invitation, which stays valid if this fails; ``None`` where
            registration is open, which the caller must check.
        name: the new username, stored in the Unicode form NFC.
        password: the new password.
        client: the browser.

    Raises:
        NotFound: the invitation is unknown, used or expired.
        InvalidParameter: the name is invalid.
        UnacceptablePassword: the password breaks a rule.
        AlreadyExists: the name is taken, or looks like one that is.
        TooManyAttempts: too many people registered from this address without invitations.
        Overloaded: there is not enough memory for the hash.
        StoreUnavailable: the store cannot be reached.
    """
    digest = None
    if secret is not None:
        digest = _digest_of_link(secret)
        found = link_with(store, digest, client.now)
        if found is None or found.kind is not LinkKind.INVITATION:
            raise NotFound("this invitation no longer works")
    name = composed_name(name)
    if not is_user_name(name) or has_invisible(name):
        raise InvalidParameter("A username is one printable line without spaces around it.")
    if is_unusable(name):
        raise UnusableName
    if is_lookalike(name):
        raise InvalidParameter("A username has letters of one alphabet in a word.")
    too_many = TooManyAttempts(REGISTRATION_WAIT // SECOND)
    limit = AttemptLimit(_key(b"register", client.address.encode()), REGISTRATIONS, too_many)
    if digest is None:
        limit.check(store, client.now)
    encoded = hash_password(password, name)
    if digest is None:
        limit.count(store, client.now)
    with store.auditing(registering(name, client.address)):
        user = store.register(digest, name, encoded, client.now)
    return _first_session(store, user, encoded, client)


def _first_session(store: SignIn, user: User, encoded: str, client: Client) -> NewSession:
    keys = _keys(user.name, client)
    store.note_success(keys.pair, (), client.now)
    return begin_session(store, user, client, SignInProof(encoded))


def _note_failure(store: SignIn, user: User | None, client: Client) -> None:
    """Log a failed attempt to sign in, with the account if it exists.

    Unknown names are not logged: people type their passwords there by mistake.
    """
    failed = AuditEvent.SIGN_IN_FAILED
    if user is None:
        entry = AuditEntry(failed, address=client.address)
    else:
        entry = done_by(user, client.address, failed)
    try:
        store.add_audit_entry(entry)
    except StoreError as error:
        log.warning("a failed sign-in could not be recorded: %s", error)


def _record(store: SignIn, name: str) -> PasswordRecord | None:
    """Return the user with this name."""
    return store.password_of(name) if is_user_name(name.strip()) else None


def _throttles(failures: Mapping[bytes, Failures], keys: _Keys, *, known: bool) -> list[Throttle]:
    """Return the throttles of an attempt.

    Args:
        failures: the earlier failures, by key.
        keys: the keys of the attempt.
        known: whether the account has been signed in to from this address before.
    """
    if known:
        return [Throttle(keys.pair, FREE_TRIES, FIRST_WAIT, LONGEST_WAIT)]
    of_account = failures.get(keys.account)
    attacked = of_account is not None and of_account.count >= ATTACK
    free = FREE_TRIES_UNDER_ATTACK if attacked else FREE_TRIES
    return [
        Throttle(keys.pair, free, FIRST_WAIT, LONGEST_WAIT),
        Throttle(keys.address, FREE_TRIES_OF_ADDRESS, FIRST_WAIT, LONGEST_WAIT_OF_ADDRESS),
    ]


def _refuse_too_many(
    throttles: Collection[Throttle],
    failures: Mapping[bytes, Failures],
    now: int,
    claimed: Collection[bytes] | None = None,
) -> None:
    """Reject an attempt for a while after too many ``failures``; see ``Throttle``.

    Raises:
        TooManyAttempts: a limit is reached.
    """
    until = max(one.refused_until(failures, now, claimed) for one in throttles)
    if until > now:
        raise TooManyAttempts(-((now - until) // SECOND))


def _keys(name: str, client: Client) -> _Keys:
    account = name_key(composed_name(name)).encode("utf-8", "surrogatepass")
    address = client.address.encode()
    return _Keys(
        pair=_key(b"pair", account, address),
        address=_key(b"address", address),
        account=_key(b"account", account),
    )


def _key(kind: bytes, *facts: bytes) -> bytes:
    return sha256(b"\0".join((kind, *(sha256(fact).digest() for fact in facts)))).digest()


def _digest_of_link(secret: str) -> bytes:
    if not is_well_formed(secret, LINK_PREFIX):
        raise NotFound("there is no such link")
    return token_digest(secret)
