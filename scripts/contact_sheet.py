"""Makes a contact sheet: a picture with the thumbnails of many maps.

No test can decide whether pictures of maps look good. This script draws the maps of a folder side
by side, as the service would, so that you can judge a change of the layout on many maps at once::

    python scripts/contact_sheet.py ../shared/corpus/dev sheet.png --count 100

With ``--previews``, it draws only maps with a preview in the file, from each folder in turn, each
to the right of that preview: are they recognisably the same map? ``--each`` sets the number of maps
on a sheet, and makes several numbered sheets::

    python scripts/contact_sheet.py FOLDER sheet.png --previews --count 60 --each 8 --columns 4
"""

import argparse
import base64
import contextlib
import random
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

import resvg_py

from mapshelf.errors import UnreadableFile
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Outline
from mapshelf.readers import Limits, preview_png, read_content
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.sheets import sound_sheets
from mapshelf.readers.parsing.topic_ids import assign_topic_ids
from mapshelf.render.font_fallback import FOLDERS, SystemFonts
from mapshelf.render.image_worker import image_in_topic
from mapshelf.render.render_request import WIDTHS, RenderRequest, height
from mapshelf.render.render_worker import MOST_PICTURES
from mapshelf.render.themes import THEMES
from mapshelf.render.thumbnail import shown_pictures, thumbnail

GAP: Final = 12
PICTURE_WIDTH: Final = 320  # pixels
GROUND: Final = "#cfd6de"


def main() -> int:
    """Draw the sheet."""
    given = _arguments()
    fonts = SystemFonts(tuple(given.fonts) or FOLDERS)
    pictures: list[bytes] = []
    drawn, spent = 0, 0.0
    paths = _paths(given.paths, given.seed)
    for path in _in_turn(paths) if given.previews else paths:
        if drawn == given.count:
            break
        read_map = _read(path)
        if read_map is None or (given.previews and not read_map.outline.picture):
            continue
        if given.previews:
            preview = _preview(read_map, given.width)
            if preview is None:
                continue
            pictures.append(preview)
        request = RenderRequest(
            encode_outline(read_map.outline), path.stem, "", "", given.width, given.theme, "png"
        )
        before = time.process_time()
        shown = tuple(_pictures(read_map, shown_pictures(request)))
        pictures.append(thumbnail(replace(request, pictures=shown), fonts))
        spent += time.process_time() - before
        drawn += 1
        print(f"{drawn:4} {path}")
    each = given.each * (1 + given.previews) or max(1, len(pictures))
    for number, start in enumerate(range(0, len(pictures), each), 1):
        name = f"{given.sheet.stem}-{number}" if given.each else given.sheet.stem
        sheet = _sheet(pictures[start : start + each], given.width, given.columns)
        given.sheet.with_stem(name).write_bytes(sheet)
    print(f"{drawn} thumbnails in {spent:.1f} s of processor time")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="folders or map files")
    parser.add_argument("sheet", type=Path, help="the PNG to write")
    parser.add_argument("--count", type=int, default=100, help="number of maps")
    parser.add_argument("--seed", type=int, default=1, help="for choosing maps; 0: the first ones")
    parser.add_argument("--width", type=int, default=320, choices=WIDTHS)
    parser.add_argument("--theme", default="light", choices=THEMES)
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--previews", action="store_true", help="draw next to previews in files")
    parser.add_argument("--each", type=int, default=0, help="maps per sheet; default: all")
    parser.add_argument("--fonts", action="append", default=[], help="folder of system fonts")
    return parser.parse_args()


def _paths(given: list[Path], seed: int) -> list[Path]:
    found: list[Path] = []
    for path in given:
        found.extend(sorted(path.rglob("*.*")) if path.is_dir() else [path])
    if seed:
        random.Random(seed).shuffle(found)  # noqa: S311
    return found


def _in_turn(paths: list[Path]) -> list[Path]:
    """Return ``paths`` in an order that takes one from each folder in turn."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        folders.setdefault(path.parent, []).append(path)
    return [path for turn in zip_longest(*folders.values()) for path in turn if path]


class ReadMap(NamedTuple):
    """A map file, its outline, and the pictures in its topics by digest."""

    path: Path
    data: bytes
    outline: Outline
    images: Mapping[str, bytes]


def _read(path: Path) -> ReadMap | None:
    data = path.read_bytes()
    try:
        content = Content(data, Limits(), path.name)
        outline = read_content(content)
    except UnreadableFile:
        return None
    assign_topic_ids(outline)
    return ReadMap(path, data, sound_sheets(outline), content.images.found)  # as imports keep it


def _preview(read_map: ReadMap, width: int) -> bytes | None:
    size = (width, height(width))
    digest = read_map.outline.picture
    try:
        return preview_png(read_map.data, digest, Limits(), size, read_map.path.name)
    except UnreadableFile:
        return None


def _pictures(read_map: ReadMap, shown: list[str]) -> Iterator[tuple[str, bytes]]:
    for digest in shown[:MOST_PICTURES]:
        with contextlib.suppress(UnreadableFile):
            yield digest, image_in_topic(read_map.images[digest], PICTURE_WIDTH)


def _sheet(pictures: list[bytes], width: int, columns: int) -> bytes:
    down = height(width)
    rows = -(-len(pictures) // columns)
    images = []
    for number, picture in enumerate(pictures):
        x = GAP + number % columns * (width + GAP)
        y = GAP + number // columns * (down + GAP)
        data = base64.b64encode(picture).decode()
        images.append(
            f'<image x="{x}" y="{y}" width="{width}" height="{down}"'
            f' href="data:image/png;base64,{data}"/>'
        )
    return resvg_py.svg_to_bytes(
        svg_string=(
            '<svg xmlns="http://www.w3.org/2000/svg"'
            f' width="{GAP + columns * (width + GAP)}" height="{GAP + rows * (down + GAP)}">'
            f"{''.join(images)}</svg>"
        ),
        background=GROUND,
        skip_system_fonts=True,
    )


if __name__ == "__main__":
    sys.exit(main())
