"""The exception hierarchy: every error that Mapshelf raises deliberately, and what it means.

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


class UnacceptablePassword(InvalidParameter):
    """A new password breaks a rule: one of ``accounts.passwords.RULES``, or ``differ``.

    The latter is broken if somebody who types it twice types two passwords.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


class MalformedRequest(InvalidRequest):
    """A request violates a rule of HTTP that the server does not check."""


class UnknownPath(InvalidRequest):
    """There is nothing at the path of a request."""


class MethodNotAllowed(InvalidRequest):
    """The path does not support this method; ``allowed`` are those it supports."""

    def __init__(self, allowed: tuple[str, ...]) -> None:
        super().__init__(f"This address takes {', '.join(allowed)} only.")
        self.allowed = allowed


class AddressTooLong(InvalidRequest):
    """The query string is longer than any valid one."""


class BodyTooLarge(InvalidRequest):
    """The body of a request, or a part of it, is larger than the operation takes."""


class BodyTimeout(InvalidRequest):
    """A client began to send a body, and then sent nothing for too long."""


class LengthRequired(InvalidRequest):
    """A request has a body, but no ``Content-Length``."""


class UnsupportedMediaType(InvalidRequest):
    """The body of a request is of a media type or encoding that the operation does not take."""


class CrossSiteRequest(InvalidRequest):
    """A request with a cookie of ours, for which no page of ours was asked just before."""


class InvalidToken(MapshelfError):
    """The access token is missing, malformed, unknown, expired, revoked, or its user disabled.

    ``sent`` is whether the client sent anything as a token.
    """

    def __init__(self, *, sent: bool) -> None:
        super().__init__("The access token is not valid.")
        self.sent = sent


class WrongCredentials(MapshelfError):
    """The name or the password is not right; nobody outside learns which."""

    def __init__(self) -> None:
        super().__init__("Wrong username or password.")


class SessionTooOld(MapshelfError):
    """The session does not show any longer who somebody is, so they have to sign in again."""


class WrongPasskey(MapshelfError):
    """A passkey is not known, or was not used for us just now; nobody outside learns which."""

    def __init__(self) -> None:
        super().__init__("This passkey cannot be used.")


class ProviderUnavailable(MapshelfError):
    """The OpenID provider does not answer, or not as one; ``provider`` is its name."""

    def __init__(self, provider: str) -> None:
        super().__init__("The provider cannot be reached now; try again soon.")
        self.provider = provider


class ProviderRefusal(MapshelfError):
    """Somebody comes from an OpenID provider or a proxy, and is not signed in.

    Attributes:
        reason: ``denied`` by the provider; ``attempt``: nothing was begun in this browser, or too
            long ago; ``failed``: the answer cannot be believed; ``unlinked``: no account is linked;
            ``taken``: another account is; ``disabled``: the account may not sign in.
        provider: the name of the provider, empty for a proxy.
    """

    def __init__(self, reason: str, provider: str) -> None:
        super().__init__("The provider did not sign you in.")
        self.reason = reason
        self.provider = provider


class TooManyAttempts(MapshelfError):
    """Somebody tried too often, as to sign in; one may again in ``retry_after`` seconds."""

    def __init__(
        self,
        retry_after: int,
        message: str = "Too many failed attempts to sign in; try again later.",
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyRequests(MapshelfError):
    """A client sent more requests than it may; one more is possible in ``retry_after`` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("You have sent too many requests; try again later.")
        self.retry_after = retry_after


class InsufficientScope(MapshelfError):
    """The access token is valid, but does not have the ``scope`` that the operation needs."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"The access token does not have the scope {scope}.")
        self.scope = scope


class OAuthRefusal(MapshelfError):
    """A program is refused access, for a reason that OAuth 2 has a name for.

    Attributes:
        reason: the name, one of ``error`` in RFC 6749, sections 4.1.2.1 and 5.2, and in RFC 8628,
            section 3.5.
        basic: whether the program authenticated by HTTP Basic.
    """

    def __init__(self, reason: str, message: str, *, basic: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.basic = basic


class Forbidden(MapshelfError):
    """The user may see something, but not do this with it; the message is for the client.

    Attributes:
        reason: what pages say instead of the message: the end of a key of ``site.messages``.
        facts: the numbers in it.
    """

    def __init__(self, reason: str, message: str, **facts: int) -> None:
        super().__init__(message)
        self.reason = reason
        self.facts = facts


class TooManyUploads(MapshelfError):
    """The user uploaded as many files as an hour allows; one may in ``retry_after`` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("You have uploaded too many files in the last hour; try again later.")
        self.retry_after = retry_after


class TooManyReports(MapshelfError):
    """The user reported as many maps as a day allows; one may in ``retry_after`` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("You have reported too many maps in the last day; try again later.")
        self.retry_after = retry_after


class StoreError(MapshelfError):
    """The store refused or failed."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or is busy; the same call may work later."""


class StoreMissing(StoreError):
    """There is no catalogue, and the caller did not want a new one."""


class StoreDamaged(StoreError):
    """The content of the store is not what was written to it."""


class UnusableBackup(StoreError):
    """A file cannot be restored: it is no backup, a damaged one, or of a newer version."""


class HistoryLost(StoreError):
    """The store no longer has the changes that were followed; read all changes again."""


class Conflict(StoreError):
    """A write contradicts what is stored; nothing was written."""


class AlreadyExists(Conflict):
    """A name that must be unique is taken."""


class TooManyTokens(Conflict):
    """A user has as many personal tokens as one may make."""


class MapHidden(Conflict):
    """Administrators have hidden this map, so nobody else decides who sees it."""


class MapDeleted(Conflict):
    """Administrators have deleted this map, so nobody else brings it back."""


class CollectionHidden(Conflict):
    """Administrators have hidden this collection, so nobody else decides who sees it."""


class TooManyCollections(Conflict):
    """There are as many collections, or maps in one, as there may be.

    Attributes:
        what: ``own`` collections, ``maps`` in one, or ``pinned`` collections.
        most: how many of these there may be.
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
    """A user has as many saved searches as one may have; ``most`` says how many these are."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"You already have {most} saved searches, the most you can have; remove some."
        )
        self.most = most


class AlreadyDecided(Conflict):
    """Somebody else has decided the same about a map in this moment."""


class LastAdministrator(Conflict):
    """There would be no administrator left who can sign in."""


class LastWay(Conflict):
    """Without this, a user could not sign in any longer."""


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
    """A map file is refused; the message says what is wrong with it."""


class NotAMap(UnreadableFile):
    """The file is something other than a mind map."""


class BrokenFile(UnreadableFile):
    """The file is a mind map that is damaged or violates the rules of its format."""


class TooLarge(UnreadableFile):
    """The file exceeds one of the limits for untrusted files."""


class PreviewChanged(MapshelfError):
    """A map file contains another picture than was requested: the map is being replaced."""


class Overloaded(MapshelfError):
    """There is more work than can be done soon; the same request may succeed in a moment.

    ``retry_after`` has the seconds after which it may, if that is known, else 0.
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
    """The address to serve at is taken, or not one of this machine."""


class FolderInUse(MapshelfError):
    """Another service uses the data folder."""


class TooFewDescriptors(MapshelfError):
    """The system allows this process too few open files and connections."""


class InvalidSetting(MapshelfError):
    """A command-line option or environment variable has a value that cannot be used."""
