"""The exception hierarchy: every error that Mapshelf raises deliberately.

Third-party exceptions are translated at the boundary: those of ``apsw`` in ``store/sqlite/``, of
``psycopg`` in ``store/postgres/``, of ``tantivy`` in ``snapshot/format/text_fields.py``, of parsers
in ``readers/``. Each message is one line for the person who caused the error. Only
``api/errors.py`` decides what clients see over HTTP.
"""


class MapshelfError(Exception):
    """The base class of every error that Mapshelf raises deliberately."""


class InvalidRequest(MapshelfError):
    """A request that the interface does not support; the message is for the client."""


class InvalidParameter(InvalidRequest):
    """A request parameter has an invalid value."""


class UnusableName(InvalidParameter):
    """No new user may have this name."""

    def __init__(self) -> None:
        super().__init__(
            "This username cannot be used: it needs more than dots and slashes, must not have two"
            ' spaces in a row, and must not read like "deleted user 1".'
        )


class UnacceptablePassword(InvalidParameter):
    """A new password breaks a rule: one of ``accounts.passwords.RULES``, or ``differ``.

    ``differ`` means that the two entries of the new password do not match.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


class MalformedRequest(InvalidRequest):
    """A request violates a rule of HTTP that the server does not check."""


class UnknownPath(InvalidRequest):
    """No resource exists at the path of a request."""


class MethodNotAllowed(InvalidRequest):
    """The path does not support this method; ``allowed`` lists those it supports."""

    def __init__(self, allowed: tuple[str, ...]) -> None:
        super().__init__(f"This address takes {', '.join(allowed)} only.")
        self.allowed = allowed


class AddressTooLong(InvalidRequest):
    """The query string is longer than any valid one."""


class BodyTooLarge(InvalidRequest):
    """The body of a request, or a part of it, is larger than the operation accepts."""


class BodyTimeout(InvalidRequest):
    """A client started to send a body, and then sent nothing for too long."""


class LengthRequired(InvalidRequest):
    """A request has a body, but no ``Content-Length``."""


class UnsupportedMediaType(InvalidRequest):
    """The operation does not accept the media type or encoding of the request body."""


class CrossSiteRequest(InvalidRequest):
    """A request with our cookie fails the check that one of our pages sent it."""


class InvalidToken(MapshelfError):
    """The access token is missing, malformed, unknown, expired or revoked, or its user is disabled.

    ``sent`` is whether the client sent a token at all.
    """

    def __init__(self, *, sent: bool) -> None:
        super().__init__("The access token is not valid.")
        self.sent = sent


class WrongCredentials(MapshelfError):
    """The name or the password is wrong; clients do not learn which."""

    def __init__(self) -> None:
        super().__init__("Wrong username or password.")


class SessionTooOld(MapshelfError):
    """The session is too old to prove who is using it; the user must sign in again."""


class WrongPasskey(MapshelfError):
    """A passkey is unknown, or does not answer a recent challenge; clients do not learn which."""

    def __init__(self) -> None:
        super().__init__("This passkey cannot be used.")


class ProviderUnavailable(MapshelfError):
    """The OpenID provider does not respond, or not validly; ``provider`` is its name."""

    def __init__(self, provider: str) -> None:
        super().__init__("The provider cannot be reached now; try again soon.")
        self.provider = provider


class ProviderRefusal(MapshelfError):
    """A user sent by an OpenID provider or a proxy cannot be signed in.

    Attributes:
        reason: ``denied``: by the provider; ``attempt``: this browser has no attempt, or an expired
            one; ``failed``: the response fails verification; ``unlinked``: no account is linked;
            ``taken``: another account is linked; ``disabled``: the account may not sign in;
            ``unusable``: no new account may have this name.
        provider: the name of the provider, empty for a proxy.
    """

    def __init__(self, reason: str, provider: str) -> None:
        super().__init__("The provider did not sign you in.")
        self.reason = reason
        self.provider = provider


class TooManyAttempts(MapshelfError):
    """Too many attempts, such as to sign in; the next is allowed in ``retry_after`` seconds."""

    def __init__(
        self,
        retry_after: int,
        message: str = "Too many failed attempts to sign in; try again later.",
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyRequests(MapshelfError):
    """A client exceeded its rate limit; the next request is allowed in ``retry_after`` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("You have sent too many requests; try again later.")
        self.retry_after = retry_after


class InsufficientScope(MapshelfError):
    """The access token is valid, but does not have the ``scope`` that the operation needs."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"The access token does not have the scope {scope}.")
        self.scope = scope


class OAuthRefusal(MapshelfError):
    """A program is refused access, for a reason defined by OAuth 2.

    Attributes:
        reason: the ``error`` code, as in RFC 6749, sections 4.1.2.1 and 5.2, and in RFC 8628,
            section 3.5.
        basic: whether the program used HTTP Basic authentication.
    """

    def __init__(self, reason: str, message: str, *, basic: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.basic = basic


class Forbidden(MapshelfError):
    """The user may see an object, but not perform this operation; the message is for the client.

    Attributes:
        reason: selects the message on pages: the end of a key of ``site.messages``.
        facts: the numbers in that message.
    """

    def __init__(self, reason: str, message: str, **facts: int) -> None:
        super().__init__(message)
        self.reason = reason
        self.facts = facts


class TooManyUploads(MapshelfError):
    """The user reached the hourly upload limit; the next is allowed in ``retry_after`` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("You have uploaded too many files in the last hour; try again later.")
        self.retry_after = retry_after


class TooManyReports(MapshelfError):
    """The user reached the daily report limit; the next is allowed in ``retry_after`` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("You have reported too many maps in the last day; try again later.")
        self.retry_after = retry_after


class StoreError(MapshelfError):
    """The store refused or failed."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or is busy; the same call may work later."""


class StoreMissing(StoreError):
    """No catalogue exists, and the caller did not ask to create one."""


class StoreDamaged(StoreError):
    """The content of the store is not what was written to it."""


class UnusableBackup(StoreError):
    """A file cannot be restored: it is not a backup, is damaged, or is from a newer version."""


class HistoryLost(StoreError):
    """The store has discarded the changes that were being followed; read all of them again."""


class Conflict(StoreError):
    """A write contradicts what is stored; nothing was written."""


class FormOutdated(Conflict):
    """A form does not say what was changed in it, because it was opened before an update."""


class AlreadyExists(Conflict):
    """A name that must be unique is taken."""


class TooManyTokens(Conflict):
    """The user has the maximum number of personal tokens."""


class TooManyPrograms(Conflict):
    """The maximum number of programs have registered themselves."""


class MapHidden(Conflict):
    """Administrators have hidden this map, so only they can change its visibility."""


class MapDeleted(Conflict):
    """Administrators have deleted this map, so only they can restore it."""


class CollectionHidden(Conflict):
    """Administrators have hidden this collection, so only they can change its visibility."""


class TooManyCollections(Conflict):
    """A limit on collections, or on the maps in one, is reached.

    Attributes:
        what: ``own`` collections, ``maps`` in one, or ``pinned`` collections.
        most: the limit.
    """

    def __init__(self, what: str, most: int) -> None:
        said = {
            "own": f"You already have {most} collections, the most you can have; remove some.",
            "maps": f"A collection can have at most {most} maps.",
            "pinned": f"{most} collections are already pinned, the most there can be.",
        }
        super().__init__(said[what])
        self.what = what
        self.most = most


class TooManySearches(Conflict):
    """The user has the maximum number of saved searches, which is ``most``."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"You already have {most} saved searches, the most you can have; remove some."
        )
        self.most = most


class AlreadyDecided(Conflict):
    """The decision about a map, a collection or a user has already been made, or is obsolete."""


class LastAdministrator(Conflict):
    """The change would leave no administrator who can sign in."""


class LastWayToSignIn(Conflict):
    """The change would remove the user's last way to sign in."""


class NotFound(MapshelfError):
    """The user, token or map does not exist."""


class SnapshotError(MapshelfError):
    """A snapshot cannot be used."""


class SnapshotMissing(SnapshotError):
    """No snapshot has been published yet."""


class SnapshotDamaged(SnapshotError):
    """A snapshot is incomplete, altered, or was written by another version."""


class SnapshotUnavailable(SnapshotError):
    """The system lacks the resources to open a snapshot now: descriptors, memory, disk space.

    The snapshot may be intact, and opening it may work later.
    """


class InvalidRecord(MapshelfError):
    """A record does not have the form that ``docs/operating.md`` describes."""


class UnreadableFile(MapshelfError):
    """A map file is refused; the message says why."""


class NotAMap(UnreadableFile):
    """The file is something other than a mind map."""


class BrokenFile(UnreadableFile):
    """The file is a mind map that is damaged or violates the rules of its format."""


class TooSlow(UnreadableFile):
    """Parsing a file took more processor time than is allowed."""


class ReadingEnded(UnreadableFile):
    """Parsing a file was ended from outside, or the system did not give it; it may work later."""


class TooLarge(UnreadableFile):
    """The file exceeds one of the limits for untrusted files."""


class PreviewChanged(MapshelfError):
    """The picture in a map file is not the requested one: the map is being replaced."""


class Overloaded(MapshelfError):
    """The server has too much work; the same request may succeed in a moment.

    ``retry_after`` is when, in seconds; 0 if that is unknown.
    """

    def __init__(self, message: str, retry_after: int = 0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ClientDisconnected(MapshelfError):
    """The client of a request disconnected before the response."""


class Ending(MapshelfError):
    """The service is shutting down and refuses requests that another node can answer."""


class CannotWrite(MapshelfError):
    """A file that the user asked for cannot be written."""


class CannotListen(MapshelfError):
    """The address to serve at is in use, or does not belong to this machine."""


class FolderInUse(MapshelfError):
    """Another service uses the data folder."""


class TooFewDescriptors(MapshelfError):
    """The system limits this process to too few open files and connections."""


class InvalidSetting(MapshelfError):
    """A command-line option or environment variable has an invalid value."""
