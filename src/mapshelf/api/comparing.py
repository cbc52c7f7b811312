"""``GET /maps/{ID}/diff/{OTHER}``: the differences between two maps, or two versions of one.

The client must be allowed to see both maps. Previous versions are available to those who may list
them; the file of one is parsed again, once (``former_outlines``). Two large maps are compared in
the sandboxed child that makes large documents (``documents``).
"""

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final

import orjson
import xxhash

from mapshelf.accounts.permissions import may_change
from mapshelf.api.compression import also_compressed
from mapshelf.api.context import Context
from mapshelf.api.current_snapshot import Deferred
from mapshelf.api.documents import Documents, Kind, Make, MapOutline, document_response
from mapshelf.api.former_outlines import FormerOutline, FormerOutlines
from mapshelf.api.http import CHECKED_EACH_TIME, Request, Response
from mapshelf.api.map_detail import encoded_outline
from mapshelf.api.uploads import no_version, version_content
from mapshelf.api.visible_maps import FoundMap, find_map, user_if_any
from mapshelf.api.work_queue import WorkQueue
from mapshelf.comparison import Branch, Change, Facts, Move, Spot, compare
from mapshelf.errors import InvalidParameter
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.formats.outline_size import is_large
from mapshelf.model import Outline, User, Version, Visibility
from mapshelf.query import number_up_to, read_parameters
from mapshelf.store import Store
from mapshelf.store.contract import Maps
from mapshelf.writers.plain import sound

PARAMETERS: Final = ("version", "other_version")
"""The parameters for the versions to compare, of the first map and of the other one."""

_MOST_VERSIONS: Final = 10**9
"""No map has that many versions."""

_KIND: Final = Kind(b"application/json", CHECKED_EACH_TIME)

_ORDER: Final = (Visibility.PUBLISHED, Visibility.UNLISTED, Visibility.PRIVATE)


class EncodedOutline(bytes):
    """An encoded outline, as a fact of a document, with a short ``repr``: outlines are large."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return a representation that identifies it."""
        return f"EncodedOutline({xxhash.xxh3_128_hexdigest(self)})"


@dataclass(frozen=True, slots=True)
class Side:
    """One of two maps to compare.

    Attributes:
        found: the map.
        version: the number of the version, 0 for the current one.
        outline: the outline of that version; ``None`` for the one in the store.
    """

    found: FoundMap
    version: int = 0
    outline: FormerOutline | None = None

    def encoded(self, store: Maps) -> bytes:
        """Return its encoded outline.

        Raises:
            NotFound: it has none.
            Overloaded: that of a former version was evicted from the cache meanwhile.
        """
        if self.outline is not None:
            return self.outline.encoded()
        return encoded_outline(store, self.found.record)


@dataclass(frozen=True, slots=True)
class Sides:
    """Two maps that the client may compare."""

    before: Side
    after: Side

    async def response(
        self, context: Context, request: Request, job: "Job", query_string: bytes = b""
    ) -> Response:
        """Return a document about both maps, with the stricter caching rules of the two.

        Args:
            context: the service.
            request: the request.
            job: how to make the document.
            query_string: what it depends on in addition to the maps and their versions.
        """
        before, after = self.before.found, self.after.found
        strictest = max(
            (before, after), key=lambda one: (not one.is_cached, _ORDER.index(one.visibility))
        )
        versions = self.before.version, self.after.version
        if any(versions):
            strictest = replace(strictest, visibility=Visibility.PRIVATE, is_cached=False)
        key = b"%d %d %b" % (*versions, query_string) if any(versions) else query_string
        queues = context.queues
        make = partial(_made, context.store.get(), context.documents, queues.comparisons, self, job)
        checked = before.checked(after.checked(make))
        return await strictest.response(request, queues.files, checked, key)


@dataclass(frozen=True, slots=True)
class Job:
    """How to make a document from two maps.

    Attributes:
        make: called with the outline before, the ``EncodedOutline`` after, and the facts.
        facts: further arguments.
        kind: the kind of the document.
    """

    make: Make
    facts: tuple[object, ...]
    kind: Kind


async def show_diff(context: Context, request: Request) -> Response:
    """Return the differences between two maps."""
    sides = await find_sides(context, request)
    return await sides.response(context, request, Job(diff_json, (), _KIND))


async def find_sides(context: Context, request: Request, base_url: bytes | None = None) -> Sides:
    """Return the two maps in the path of a request.

    Raises:
        InvalidParameter: a version is not a number.
        NotFound: the client may see no such map or version.
        UnreadableFile: the file of a version can no longer be parsed.
    """
    values = read_parameters(request.query_string, PARAMETERS)
    numbers = [_number(name, values.get(name, "")) for name in PARAMETERS]
    before = await find_map(context, request, base_url)
    after = await find_map(context, request, base_url, public_id=request.parts["other"])
    ids = request.parts["id"], request.parts["other"]
    sides = [
        await _version(context, request, found, public_id, number) if number else Side(found)
        for found, public_id, number in zip((before, after), ids, numbers, strict=True)
    ]
    return Sides(*sides)


def _number(name: str, value: str) -> int:
    if not value:
        return 0
    number = number_up_to(value, _MOST_VERSIONS)
    if not number:
        raise InvalidParameter(f"The {name} value must be the number of a version.")
    return number


async def _version(
    context: Context, request: Request, found: FoundMap, public_id: str, number: int
) -> Side:
    """Return a previous version of a map that the client may see."""
    user = request.user or await user_if_any(context.sessions, request)
    if user is None:
        raise no_version()
    store, outlines = context.store.get(), context.former_outlines
    find = partial(_find_version, store, outlines, (public_id, number), user)
    # A unique key, since permissions may change. Only parsing is shared with other requests.
    file_id, version, outline = await context.queues.files.result(
        object(), find, request.disconnection, owner=request.owner
    )
    if outline is None and not version.current:
        read = partial(version_content, store, file_id, number)
        outline = await outlines.parsed(version, read, request)
    return Side(found, number, outline)


def _find_version(
    store: Store, outlines: FormerOutlines, wanted: tuple[str, int], user: User
) -> tuple[int, Version, FormerOutline | None]:
    """Return a version that the user may see, the id of its file, and its outline if it is kept."""
    public_id, number = wanted
    found = store.find_map(public_id)
    if found is None or not may_change(found, user):
        raise no_version()
    for version in store.versions(found.file_id):
        if version.number == number:
            outline = None if version.current else outlines.kept(version)
            return found.file_id, version, outline
    raise no_version()


def _made(
    store: Maps, documents: Documents, queue: WorkQueue, sides: Sides, job: Job
) -> Response | Deferred:
    before, after = sides.before.encoded(store), sides.after.encoded(store)
    if is_large(before) or is_large(after):
        make = partial(_made_large, store, documents, sides, job)
        return Deferred(queue, make, lasting=True)
    body = job.make(decode_outline(before), EncodedOutline(after), *job.facts)
    response = document_response(replace(job.kind, compress=False), body)
    return also_compressed(response) if job.kind.compress else response


def _made_large(store: Maps, documents: Documents, sides: Sides, job: Job) -> Response:
    # Read them again: holding them would use memory while the request waits in the queue.
    before, after = sides.before.encoded(store), sides.after.encoded(store)
    owners = [side.found.record.owner for side in (sides.before, sides.after)]
    outline = MapOutline(before, "\n".join(owners) if all(owners) else "")
    return documents.of_outline(job.make, outline, (EncodedOutline(after), *job.facts), job.kind)


def diff_json(before: Outline, after: EncodedOutline) -> bytes:
    """Return the differences between two maps as JSON."""
    found = compare(before, decode_outline(after))
    return orjson.dumps(
        {
            "added": list(map(_branch, found.added)),
            "removed": list(map(_branch, found.removed)),
            "moved": list(map(_move, found.moved)),
            "changed": list(map(_change, found.changed)),
        }
    )


def _branch(branch: Branch) -> dict[str, object]:
    return {"text": sound(branch.text), **_spot(branch.spot), "topics": branch.topics}


def _move(move: Move) -> dict[str, object]:
    return {
        "topic": sound(move.after.topic),
        "text": sound(move.text),
        "before": _spot(move.before),
        "after": _spot(move.after),
    }


def _change(change: Change) -> dict[str, object]:
    return {
        **_spot(change.spot),
        "before": {"topic": sound(change.was), **_facts(change.before)},
        "after": {"topic": sound(change.spot.topic), **_facts(change.after)},
    }


def _spot(spot: Spot) -> dict[str, object]:
    known: dict[str, object] = _sound(asdict(spot))
    return known


def _facts(facts: Facts) -> Facts:
    known: Facts = _sound(facts)
    return known


def _sound(value: Any) -> Any:
    """Return JSON without characters that are invalid in text."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, dict):
        return {name: _sound(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(one) for one in value]
    return value
