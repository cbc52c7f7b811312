"""Convert errors to messages for forms, with the texts of ``messages``."""

from typing import Final

from mapshelf.api.upload_reader import REFUSED
from mapshelf.errors import (
    AlreadyExists,
    BodyTooLarge,
    CannotWrite,
    CollectionHidden,
    Conflict,
    CrossSiteRequest,
    Forbidden,
    FormOutdated,
    InvalidParameter,
    LastAdministrator,
    LastWayToSignIn,
    LengthRequired,
    MalformedRequest,
    MapHidden,
    NotAMap,
    NotFound,
    Overloaded,
    ProviderRefusal,
    ProviderUnavailable,
    SessionTooOld,
    StoreUnavailable,
    TooLarge,
    TooManyAttempts,
    TooManyCollections,
    TooManyReports,
    TooManySearches,
    TooManyTokens,
    TooManyUploads,
    UnacceptablePassword,
    UnreadableFile,
    UnsupportedMediaType,
    UnusableName,
    WrongCredentials,
    WrongPasskey,
)
from mapshelf.site.messages import counted, say

FORM_ERRORS: Final = (
    AlreadyExists,
    Conflict,
    CrossSiteRequest,
    InvalidParameter,
    Overloaded,
    ProviderRefusal,
    ProviderUnavailable,
    StoreUnavailable,
    TooManyAttempts,
    WrongCredentials,
    WrongPasskey,
)
"""Errors that are shown above the form, so that the user can try again."""

ALL_FORM_ERRORS: Final = (
    *FORM_ERRORS,
    BodyTooLarge,
    CannotWrite,
    Forbidden,
    LengthRequired,
    MalformedRequest,
    TooManyUploads,
    UnreadableFile,
    UnsupportedMediaType,
)
"""The same for forms that send files or change maps, which can fail in more ways."""

SECONDS_PER_MINUTE: Final = 60


def failure(error: Exception, invalid: str) -> str:
    """Return the message for an error; ``invalid`` is the message key if no other one fits."""
    if isinstance(error, UnacceptablePassword):
        return say(f"password.{error.rule}")
    if isinstance(error, ProviderRefusal | ProviderUnavailable):
        return _of_provider(error)
    if isinstance(error, TooManyAttempts | TooManyUploads):
        key = "attempts" if isinstance(error, TooManyAttempts) else "uploads"
        return say(f"failure.{key}", wait=waiting(error.retry_after))
    if isinstance(error, UnreadableFile):
        return _of_file(error)
    if isinstance(error, Forbidden | TooManyCollections | TooManySearches):
        return forbidden(error) if isinstance(error, Forbidden) else _too_many(error)
    return say(next((key for kind, key in _MESSAGES if isinstance(error, kind)), invalid))


def waiting(seconds: int) -> str:
    """Return a waiting time in words: in seconds below two minutes, otherwise in minutes."""
    if seconds < 2 * SECONDS_PER_MINUTE:
        return counted("seconds", seconds)
    return counted("minutes", -(-seconds // SECONDS_PER_MINUTE))


def forbidden(error: Forbidden) -> str:
    """Return the message for a forbidden action."""
    facts = {name: f"{number:,}" for name, number in error.facts.items()}
    return say(f"forbidden.{error.reason}", **facts)


def _too_many(error: TooManyCollections | TooManySearches) -> str:
    key = f"collections.{error.what}" if isinstance(error, TooManyCollections) else "searches"
    return say(f"failure.{key}", most=f"{error.most:,}")


def _of_file(error: UnreadableFile) -> str:
    """Return the message for a rejected file, which includes the message of the file's parser."""
    key = next((key for kind, key in _FILES if isinstance(error, kind)), "failure.file.broken")
    return say(key, reason=str(error).removeprefix(REFUSED).removesuffix("."))


def _of_provider(error: ProviderRefusal | ProviderUnavailable) -> str:
    reason = error.reason if isinstance(error, ProviderRefusal) else "away"
    return say(f"{'provider' if error.provider else 'proxy'}.{reason}", name=error.provider)


_FILES: Final[tuple[tuple[type[UnreadableFile], str], ...]] = (
    (NotAMap, "failure.file.no_map"),
    (TooLarge, "failure.file.too_large"),
)

_MESSAGES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (WrongCredentials, "failure.credentials"),
    (SessionTooOld, "failure.session_old"),
    (MapHidden, "failure.hidden"),
    (CollectionHidden, "failure.hidden.collection"),
    (LastAdministrator, "failure.last_administrator"),
    (TooManyReports, "failure.reports"),
    (WrongPasskey, "failure.passkey"),
    (AlreadyExists, "failure.name.taken"),
    (UnusableName, "failure.name.unusable"),
    (LastWayToSignIn, "failure.last_way"),
    (TooManyTokens, "failure.too_many"),
    (FormOutdated, "failure.outdated"),
    (Conflict, "failure.changed"),
    (CrossSiteRequest, "failure.form"),
    (BodyTooLarge, "failure.large"),
    (CannotWrite, "failure.store"),
    (Overloaded, "failure.busy"),
    (StoreUnavailable, "failure.store"),
    (NotFound, "failure.link"),
)
