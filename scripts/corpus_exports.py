"""Export maps as the service does, for scripts that open the exports with other programs."""

from collections.abc import Iterator
from itertools import zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

from mapshelf.api.map_detail import FORMATS
from mapshelf.api.topic_pictures import MOST_PICTURES
from mapshelf.errors import UnreadableFile
from mapshelf.model import Outline
from mapshelf.readers import Limits, read_content
from mapshelf.readers.linked_images import linked_files
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.pictures import image_png
from mapshelf.readers.parsing.sheets import sound_sheets
from mapshelf.readers.parsing.svg_pictures import is_svg
from mapshelf.readers.parsing.topic_ids import assign_topic_ids
from mapshelf.render.image_worker import LARGEST_SIDE

_FEWEST: Final = 5
_MOST: Final = 1000
"""Maximum topics of a map that is opened in a window."""

_BESIDE: Final = ("relationships", "boundaries", "summaries", "floating")
_AT_TOPICS: Final = (
    *("note", "text_html", "links", "markers", "tags", "task", "images", "formula", "style"),
)


class Map(NamedTuple):
    """A map, and the pictures in it, as PNG by digest."""

    path: Path
    outline: Outline
    pictures: dict[str, bytes]

    def export(self, suffix: str) -> bytes:
        """Return the file that the service exports."""
        writer = FORMATS[suffix]
        return writer.write(self.outline, *([self.pictures] if writer.embeds_pictures else ()))


def read_map(path: Path) -> Map:
    """Return the map at ``path`` as an import keeps it.

    Raises:
        UnreadableFile: it is not a map.
    """
    limits = Limits()
    with linked_files(str(path.absolute()), str(path.absolute().parent), limits) as beside:
        content = Content(path.read_bytes(), limits, path.name, beside)
        outline = read_content(content)
    assign_topic_ids(outline)
    drawn = {digest: data for digest, data in content.images.found.items() if not is_svg(data)}
    pictures = {}
    for digest, data in list(drawn.items())[:MOST_PICTURES]:
        try:
            pictures[digest] = image_png(data, limits, LARGEST_SIDE, LARGEST_SIDE)
        except UnreadableFile:
            continue
    return Map(path, sound_sheets(outline), pictures)


def chosen(folder: Path, count: int) -> list[Map]:
    """Return ``count`` maps below ``folder``, from each format in turn, those with most in them."""
    formats: dict[str, list[tuple[int, Map]]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found = _map_at(path)
            if found and _FEWEST <= found.outline.topic_count <= _MOST:
                formats.setdefault(path.parent.name, []).append((_kinds(found.outline), found))
    for maps in formats.values():
        maps.sort(key=itemgetter(0), reverse=True)
    turns = zip_longest(*formats.values())
    return [entry[1] for turn in turns for entry in turn if entry][:count]


def _map_at(path: Path) -> Map | None:
    try:
        return read_map(path)
    except UnreadableFile:
        return None


def _kinds(outline: Outline) -> int:
    """Return how many kinds of features a map has."""
    return len(set(_things(outline)))


def _things(outline: Outline) -> Iterator[str]:
    for sheet in outline.sheets:
        yield from (part for part in _BESIDE if getattr(sheet, part))
    for _, topic in outline.topics():
        yield from (part for part in _AT_TOPICS if getattr(topic, part))
