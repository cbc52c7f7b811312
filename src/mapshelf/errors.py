"""The exception hierarchy: every error that Mapshelf raises deliberately.

    MapshelfError
    ├── InvalidRequest         a request the interface does not offer
    │   ├── InvalidParameter   a parameter has an invalid value
    │   ├── MalformedRequest   it is not valid HTTP
    │   ├── UnknownPath        nothing is at this address
    │   ├── MethodNotAllowed   something is, but not for this method
    │   ├── AddressTooLong     its query string is too long
    │   └── BodyTooLarge       its body is too large
    ├── InvalidToken           no token, or one that is not valid
    ├── StoreError             the store refused or failed
    │   ├── StoreUnavailable   it cannot be reached now; later may work
    │   ├── StoreMissing       there is none, and none was to be created
    │   ├── HistoryLost        its changes are not those that were followed
    │   ├── StoreDamaged       its content is not what was written
    │   └── Conflict           the write contradicts what is stored
    │       └── AlreadyExists  a name that must be unique is taken
    ├── NotFound               the thing named is not there
    ├── SnapshotError          a snapshot cannot be used
    │   ├── SnapshotMissing    there is none yet
    │   ├── SnapshotDamaged    there is one, but it is broken or of another version
    │   └── SnapshotUnavailable  the system lacks the resources to open it now
    ├── InvalidRecord          a line of an NDJSON file is not a record
    ├── UnreadableFile         a map file is refused
    │   ├── NotAMap            it is something else
    │   ├── BrokenFile         it is a map, but damaged or not as its format says
    │   └── TooLarge           it is over one of the limits for untrusted files
    ├── PreviewChanged         a map file contains another picture than was requested
    ├── Overloaded             there is more to do than can be done soon
    ├── ClientDisconnected     the client of a request disconnected before the response
    ├── Ending                 the service is shutting down
    ├── CannotWrite            a file cannot be written
    ├── CannotListen           the service cannot listen on its address
    ├── FolderInUse            another service has the data folder
    ├── TooFewDescriptors      the system allows too few open files to serve
    └── InvalidSetting         a command-line option or environment variable is wrong

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
    """A request declares a large body, though no operation expects one."""


class InvalidToken(MapshelfError):
    """The access token is missing, malformed, unknown, expired, revoked, or its user disabled.

    ``sent`` is whether the client sent anything as a token.
    """

    def __init__(self, *, sent: bool) -> None:
        super().__init__("The access token is not valid.")
        self.sent = sent


class StoreError(MapshelfError):
    """The store refused or failed."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or is busy; the same call may work later."""


class StoreMissing(StoreError):
    """There is no catalogue, and the caller did not want a new one."""


class StoreDamaged(StoreError):
    """The content of the store is not what was written to it."""


class HistoryLost(StoreError):
    """The store no longer has the changes that were followed; read all changes again."""


class Conflict(StoreError):
    """A write contradicts what is stored; nothing was written."""


class AlreadyExists(Conflict):
    """A name that must be unique is taken."""


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
    """There is more work than can be done soon; the same request may succeed in a moment."""


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
