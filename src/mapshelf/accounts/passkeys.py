"""Passkeys (WebAuthn Level 3): adding one to an account, and signing in with one.

Only this module uses ``webauthn``. An authenticator signs a challenge of ours, which is good once,
within ``CHALLENGE_LIFETIME``, for one purpose, and for the browser that asked for it. The browser
adds the origin of the page, which must be that of the base URL. A passkey stands for a password, so
the authenticator must have verified its user, by a PIN or a finger.
"""

import secrets
from collections.abc import Callable
from hashlib import sha256
from typing import Final, Protocol, TypeVar

import webauthn
from webauthn.helpers import (
    parse_authentication_credential_json,
    parse_client_data_json,
    parse_registration_credential_json,
)
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.relying_party import RelyingParty
from mapshelf.accounts.sessions import Client, NewSession, begin_session
from mapshelf.errors import Conflict, InvalidParameter, NotFound, WrongPasskey
from mapshelf.model import AuditEvent, Passkey, PasswordRecord, User
from mapshelf.store.contract import Passkeys, SignIn

T = TypeVar("T")

CHALLENGE_LIFETIME: Final = 5 * 60 * 1000
"""Milliseconds that somebody has to use the authenticator."""

NAME_LENGTH: Final = 100
LONGEST_ID: Final = 1023
"""Most bytes of the id of a passkey (section 4)."""

SITE_NAME: Final = "Mapshelf"

_ADD: Final = b"add"
_SIGN_IN: Final = b"sign in"


class PasskeyStore(Passkeys, SignIn, Protocol):
    """What signing in with a passkey takes."""


def begin_adding(store: Passkeys, party: RelyingParty, user: User, secret: str, now: int) -> str:
    """Return what a browser needs to make a passkey, as JSON.

    Args:
        store: keeps the challenge.
        party: what we are.
        user: whose passkey it will be.
        secret: of the session.
        now: milliseconds since 1970-01-01 UTC.
    """
    options = webauthn.generate_registration_options(
        rp_id=party.id,
        rp_name=SITE_NAME,
        user_name=user.name,
        user_id=_handle(user),
        challenge=_new_challenge(store, _ADD, secret, now),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[
            PublicKeyCredentialDescriptor(id=one.id) for one in store.passkeys(user.id)
        ],
    )
    return webauthn.options_to_json(options)


def add(  # noqa: PLR0913 - the facts of one passkey
    store: PasskeyStore,
    *,
    party: RelyingParty,
    user: User,
    secret: str,
    credential: str,
    name: str,
    client: Client,
) -> None:
    """Add the passkey that a browser has made.

    Args:
        store: keeps passkeys.
        party: what we are.
        user: whose it is.
        secret: of the session that began.
        credential: what the browser says of the passkey, as JSON.
        name: what its owner calls it.
        client: the browser.

    Raises:
        WrongPasskey: it was not made for us, just now.
        InvalidParameter: the name cannot be one.
        AlreadyExists: it is known.
        Conflict: the user cannot have another one.
        StoreUnavailable: the store cannot be reached.
    """
    called = name.strip()
    if not 0 < len(called) <= NAME_LENGTH or not called.isprintable():
        raise InvalidParameter("A passkey needs a name.")
    made = _translated(lambda: parse_registration_credential_json(credential))
    challenge = _used_challenge(store, _ADD, secret, made.response.client_data_json, client.now)
    verified = _translated(
        lambda: webauthn.verify_registration_response(
            credential=made,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    )
    if not 0 < len(verified.credential_id) <= LONGEST_ID:
        raise WrongPasskey
    added = Passkey(
        *(verified.credential_id, verified.credential_public_key, verified.sign_count),
        *(called, client.now, None),
    )
    with store.auditing(done_by(user, client.address, AuditEvent.PASSKEY_ADDED)):
        store.add_passkey(user.id, added)


def begin_signing_in(store: Passkeys, party: RelyingParty, secret: str, now: int) -> str:
    """Return what a browser needs to use a passkey, as JSON.

    It names no passkey: the authenticator knows those for us. ``secret`` is what the browser has
    for forms; see ``begin_adding`` for the others.
    """
    options = webauthn.generate_authentication_options(
        rp_id=party.id,
        challenge=_new_challenge(store, _SIGN_IN, secret, now),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return webauthn.options_to_json(options)


def sign_in_with_passkey(
    store: PasskeyStore, party: RelyingParty, secret: str, credential: str, client: Client
) -> NewSession:
    """Begin a session for who has used a passkey.

    Args:
        store: keeps passkeys and sessions.
        party: what we are.
        secret: what the browser has for forms, as when it began.
        credential: what the browser says of the use, as JSON.
        client: the browser.

    Raises:
        WrongPasskey: it is not known, was not used for us just now, or may not sign in.
        StoreUnavailable: the store cannot be reached.
    """
    now = client.now
    used = _translated(lambda: parse_authentication_credential_json(credential))
    challenge = _used_challenge(store, _SIGN_IN, secret, used.response.client_data_json, now)
    found = store.find_passkey(used.raw_id)
    if found is None:
        raise WrongPasskey
    passkey, user = found
    # Nobody has said who it is before, so the authenticator must (section 7.2, step 6).
    if used.response.user_handle != _handle(user):
        raise WrongPasskey
    verified = _translated(
        lambda: webauthn.verify_authentication_response(
            credential=used,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    )
    if not store.note_passkey_use(passkey.id, verified.new_sign_count, now):
        raise WrongPasskey
    try:
        return begin_session(store, PasswordRecord(user, None), client)
    except (NotFound, Conflict) as error:
        raise WrongPasskey from error


def _handle(user: User) -> bytes:
    """Return what authenticators call a user: no name, because they may show it to anybody."""
    return user.id.to_bytes(8)


def _new_challenge(store: Passkeys, purpose: bytes, secret: str, now: int) -> bytes:
    challenge = secrets.token_bytes(32)
    store.add_challenge(_digest(purpose, secret, challenge), now, now + CHALLENGE_LIFETIME)
    return challenge


def _used_challenge(
    store: Passkeys, purpose: bytes, secret: str, client_data: bytes, now: int
) -> bytes:
    """Return the challenge that was signed; it is used up.

    Raises:
        WrongPasskey: it is none of ours, or not good any longer, or a page of another site had ours
            in a frame.
    """
    signed = _translated(lambda: parse_client_data_json(client_data))
    challenge = signed.challenge
    if signed.cross_origin:
        raise WrongPasskey
    if not store.use_challenge(_digest(purpose, secret, challenge), now):
        raise WrongPasskey
    return challenge


def _digest(purpose: bytes, secret: str, challenge: bytes) -> bytes:
    return sha256(b"\0".join((purpose, sha256(secret.encode()).digest(), challenge))).digest()


def _translated(work: Callable[[], T]) -> T:
    """Return the result of work with what a client has sent.

    Raises:
        WrongPasskey: it is not as it should be.
    """
    try:
        return work()
    except Exception as error:
        # The boundary to a library that takes apart JSON, CBOR and certificates of anybody's: it
        # has errors of its own, and lets those of its own libraries through.
        raise WrongPasskey from error
