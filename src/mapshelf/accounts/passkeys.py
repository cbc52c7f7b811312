"""Passkeys (WebAuthn Level 3): adding them to accounts, and signing in with them.

Only this module uses ``webauthn``. The authenticator signs our challenge, which is valid once,
within ``CHALLENGE_LIFETIME``, for one purpose and one browser. The browser adds the origin of the
page, which must be that of the base URL. A passkey replaces a password, so the authenticator must
verify its user by a PIN or a fingerprint.
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
from mapshelf.model import MINUTE, AuditEvent, Passkey, SignInProof, User
from mapshelf.store.contract import Passkeys, SignIn

T = TypeVar("T")

CHALLENGE_LIFETIME: Final = 5 * MINUTE
"""Milliseconds within which the authenticator must be used."""

NAME_LENGTH: Final = 100
LONGEST_ID: Final = 1023
"""Maximum bytes of a passkey id (section 4)."""

SITE_NAME: Final = "Mapshelf"

_ADD: Final = b"add"
_SIGN_IN: Final = b"sign in"


class PasskeyStore(Passkeys, SignIn, Protocol):
    """The parts of the store that signing in with a passkey needs."""


def begin_adding(store: Passkeys, party: RelyingParty, user: User, secret: str, now: int) -> str:
    """Return the options with which a browser creates a passkey, as JSON.

    Args:
        store: stores the challenge.
        party: our relying party.
        user: the owner of the new passkey.
        secret: the secret of the session.
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
    """Add the passkey that a browser created.

    Args:
        store: stores passkeys.
        party: our relying party.
        user: the owner.
        secret: the secret of the session that called ``begin_adding``.
        credential: the response of the browser, as JSON.
        name: the name that the owner gives it.
        client: the browser.

    Raises:
        WrongPasskey: the response does not answer a recent challenge of ours.
        InvalidParameter: the name is invalid.
        AlreadyExists: the passkey is already registered.
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
        id=verified.credential_id,
        public_key=verified.credential_public_key,
        sign_count=verified.sign_count,
        name=called,
        created=client.now,
        last_used=None,
    )
    with store.auditing(done_by(user, client.address, AuditEvent.PASSKEY_ADDED)):
        store.add_passkey(user.id, added)


def begin_signing_in(store: Passkeys, party: RelyingParty, secret: str, now: int) -> str:
    """Return the options with which a browser uses a passkey, as JSON.

    They list no passkeys: the authenticator finds those for our site. ``secret`` is the browser's
    CSRF secret; see ``begin_adding`` for the other arguments.
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
    """Begin a session for the owner of a passkey.

    Args:
        store: stores passkeys and sessions.
        party: our relying party.
        secret: the browser's CSRF secret, as in ``begin_signing_in``.
        credential: the response of the browser, as JSON.
        client: the browser.

    Raises:
        WrongPasskey: the passkey is unknown, the response does not answer a recent challenge of
            ours, or the owner may not sign in.
        StoreUnavailable: the store cannot be reached.
    """
    now = client.now
    used = _translated(lambda: parse_authentication_credential_json(credential))
    challenge = _used_challenge(store, _SIGN_IN, secret, used.response.client_data_json, now)
    found = store.find_passkey(used.raw_id)
    if found is None:
        raise WrongPasskey
    passkey, user = found
    # The user is unknown until now, so the response must name them (section 7.2, step 6).
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
        return begin_session(store, user, client, SignInProof(passkey=passkey.id))
    except (NotFound, Conflict) as error:
        raise WrongPasskey from error


def _handle(user: User) -> bytes:
    """Return the user handle for authenticators: no name, because they may show it to anybody."""
    return user.id.to_bytes(8)


def _new_challenge(store: Passkeys, purpose: bytes, secret: str, now: int) -> bytes:
    challenge = secrets.token_bytes(32)
    store.add_challenge(_digest(purpose, secret, challenge), now, now + CHALLENGE_LIFETIME)
    return challenge


def _used_challenge(
    store: Passkeys, purpose: bytes, secret: str, client_data: bytes, now: int
) -> bytes:
    """Return the challenge that was signed, and use it up.

    Raises:
        WrongPasskey: the challenge is not ours or has expired, or a page of another site embedded
            ours in a frame.
    """
    signed = _translated(lambda: parse_client_data_json(client_data))
    challenge = signed.challenge
    if signed.cross_origin:
        raise WrongPasskey
    if not store.use_challenge(_digest(purpose, secret, challenge), now, CHALLENGE_LIFETIME):
        raise WrongPasskey
    return challenge


def _digest(purpose: bytes, secret: str, challenge: bytes) -> bytes:
    return sha256(b"\0".join((purpose, sha256(secret.encode()).digest(), challenge))).digest()


def _translated(work: Callable[[], T]) -> T:
    """Run ``work`` on data from a client, and translate the errors of the library.

    Raises:
        WrongPasskey: the data is invalid.
    """
    try:
        return work()
    except Exception as error:
        # The library parses untrusted JSON, CBOR and certificates. It raises its own exceptions,
        # and lets those of its dependencies through.
        raise WrongPasskey from error
