"""Every error Mapshelf raises on purpose, in one tree.

    MapshelfError
    ├── InvalidRequest         a request the interface does not offer
    │   ├── InvalidParameter   a parameter has such a value
    │   ├── MalformedRequest   it is not sound HTTP
    │   ├── UnknownPath        nothing is at this address
    │   ├── MethodNotAllowed   something is, but not for this method
    │   ├── AddressTooLong     its query string is longer than any we understand
    │   └── BodyTooLarge       it brings a body, where none is expected
    ├── InvalidToken           no token, or one that is not valid
    ├── StoreError             the store refused or failed
    │   ├── StoreUnavailable   it cannot be reached now; later may work
    │   ├── StoreMissing       there is none, and none was to be made
    │   ├── HistoryLost        its changes are not those that were followed
    │   ├── StoreDamaged       what it holds is not what was written
    │   └── Conflict           the write contradicts what is stored
    │       └── AlreadyExists  a name that must be unique is taken
    ├── NotFound               the thing named is not there
    ├── SnapshotError          a snapshot cannot be used
    │   ├── SnapshotMissing    there is none yet
    │   ├── SnapshotDamaged    there is one, but it is broken or of another version
    │   └── SnapshotUnavailable  the system lacks what it takes to open it now
    ├── InvalidRecord          a line of an NDJSON file is not a record
    ├── UnreadableFile         a map file is refused
    │   ├── NotAMap            it is something else
    │   ├── BrokenFile         it is a map, but damaged or not as its format says
    │   └── TooLarge           it is over one of the limits for untrusted files
    ├── PreviewChanged         a map file carries another picture than was asked for
    ├── Overloaded             there is more to do than can be done soon
    ├── ClientDisconnected     the client of a request hung up before it was answered
    ├── Ending                 the service is about to end
    ├── CannotWrite            a file that was asked for cannot be written
    ├── CannotListen           the address to serve at cannot be had
    ├── FolderInUse            another service has the data folder
    ├── TooFewDescriptors      the system allows too few open files to serve
    └── InvalidSetting         a command-line option or environment variable is wrong

Foreign exceptions are translated into these where they enter: ``apsw`` in ``store/sqlite/``,
``psycopg`` in ``store/postgres/``, ``tantivy`` in ``snapshot/format/text_fields.py``, parsers in
``readers/``. The message of each is one line for the person who caused it. What clients see over
HTTP is decided in ``api/errors.py`` alone.
"""


class MapshelfError(Exception):
    """The root of the tree: catch this to catch everything Mapshelf raises on purpose."""


class InvalidRequest(MapshelfError):
    """A request asks for something the interface does not offer; the message is for the client."""


class InvalidParameter(InvalidRequest):
    """A request parameter has a value the interface does not offer."""


class MalformedRequest(InvalidRequest):
    """A request breaks a rule of HTTP that the server leaves to us."""


class UnknownPath(InvalidRequest):
    """Nothing is at the address of a request."""


class MethodNotAllowed(InvalidRequest):
    """The address does not take this method; ``allowed`` are those it takes."""

    def __init__(self, allowed: tuple[str, ...]) -> None:
        super().__init__(f"This address takes {', '.join(allowed)} only.")
        self.allowed = allowed


class AddressTooLong(InvalidRequest):
    """The query string is longer than any we understand."""


class BodyTooLarge(InvalidRequest):
    """A request brings a body where none is expected."""


class InvalidToken(MapshelfError):
    """The access token is missing, malformed, unknown, expired, revoked, or its user disabled.

    ``sent`` tells whether the client sent anything as a token.
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
    """What the store holds is not what was written to it."""


class HistoryLost(StoreError):
    """Changes that were followed never happened any more: only all of them again make sense."""


class Conflict(StoreError):
    """A write contradicts what is stored; nothing of it was kept."""


class AlreadyExists(Conflict):
    """A name that must be unique is taken."""


class NotFound(MapshelfError):
    """The user, token or map named is not there."""


class SnapshotError(MapshelfError):
    """A snapshot cannot be used."""


class SnapshotMissing(SnapshotError):
    """No snapshot has been published yet."""


class SnapshotDamaged(SnapshotError):
    """A snapshot is incomplete, altered, or was written by another version."""


class SnapshotUnavailable(SnapshotError):
    """The system lacks what it takes to open a snapshot now: descriptors, memory, room on the disk.

    That says nothing about the snapshot; later may work.
    """


class InvalidRecord(MapshelfError):
    """A record does not have the shape that ``docs/operating.md`` gives."""


class UnreadableFile(MapshelfError):
    """A map file is refused; the message says what is wrong with it."""


class NotAMap(UnreadableFile):
    """The file is something other than a mind map."""


class BrokenFile(UnreadableFile):
    """The file is a mind map that is damaged or breaks its format's rules."""


class TooLarge(UnreadableFile):
    """The file exceeds one of the limits for untrusted files."""


class PreviewChanged(MapshelfError):
    """A map file carries another picture than was asked for: the map is being replaced."""


class Overloaded(MapshelfError):
    """There is more to do than can be done soon; the same request may be answered in a moment."""


class ClientDisconnected(MapshelfError):
    """The client of a request hung up before it was answered."""


class Ending(MapshelfError):
    """The service is about to end, and takes no more requests that another node could."""


class CannotWrite(MapshelfError):
    """A file that was asked for cannot be written."""


class CannotListen(MapshelfError):
    """The address to serve at is taken, or not one of this machine."""


class FolderInUse(MapshelfError):
    """Another service uses the data folder."""


class TooFewDescriptors(MapshelfError):
    """The system allows this process too few open files and connections."""


class InvalidSetting(MapshelfError):
    """A command-line option or environment variable has a value that cannot be used."""
