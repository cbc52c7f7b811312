"""Makes a contact sheet: the thumbnails of many maps on one picture, to be looked at.

No test can tell whether pictures of maps are good. This draws those of a folder as the service
would, side by side, so that a change of the layout can be judged by eye on many maps at once::

    python scripts/contact_sheet.py ../shared/corpus/dev sheet.png --count 100
"""

import argparse
import base64
import random
import sys
import time
from pathlib import Path
from typing import Final

import resvg_py

from mapshelf.errors import UnreadableFile
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Outline
from mapshelf.readers import READERS, read
from mapshelf.readers.parsing.limits import Limits
from mapshelf.render.font_fallback import FOLDERS, SystemFonts
from mapshelf.render.render_request import WIDTHS, RenderRequest
from mapshelf.render.themes import THEMES
from mapshelf.render.thumbnail import thumbnail

GAP: Final = 12
GROUND: Final = "#cfd6de"


def main() -> int:
    """Draw the sheet."""
    given = _arguments()
    fonts = SystemFonts(tuple(given.fonts) or FOLDERS)
    pictures: list[bytes] = []
    spent = 0.0
    for path in _paths(given.paths, given.seed):
        if len(pictures) == given.count:
            break
        outline = _outline(path)
        if outline is None:
            continue
        request = RenderRequest(
            encode_outline(outline), path.stem, "", "", given.width, given.theme, "png"
        )
        before = time.process_time()
        pictures.append(thumbnail(request, fonts))
        spent += time.process_time() - before
        print(f"{len(pictures):4} {path}")
    given.sheet.write_bytes(_sheet(pictures, given.width, given.columns))
    print(f"{len(pictures)} thumbnails in {spent:.1f} s of processor time")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="folders or map files")
    parser.add_argument("sheet", type=Path, help="the PNG to write")
    parser.add_argument("--count", type=int, default=100, help="of maps")
    parser.add_argument("--seed", type=int, default=1, help="which maps; 0: the first ones")
    parser.add_argument("--width", type=int, default=320, choices=WIDTHS)
    parser.add_argument("--theme", default="light", choices=THEMES)
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--fonts", action="append", default=[], help="folder of system fonts")
    return parser.parse_args()


def _paths(given: list[Path], seed: int) -> list[Path]:
    found: list[Path] = []
    for path in given:
        found.extend(sorted(path.rglob("*.*")) if path.is_dir() else [path])
    if seed:
        random.Random(seed).shuffle(found)  # noqa: S311
    return found


def _outline(path: Path) -> Outline | None:
    try:
        return read(path.read_bytes(), Limits(), READERS, path.name)
    except UnreadableFile:
        return None


def _sheet(pictures: list[bytes], width: int, columns: int) -> bytes:
    height = width * 3 // 4
    rows = -(-len(pictures) // columns)
    images = []
    for number, picture in enumerate(pictures):
        x = GAP + number % columns * (width + GAP)
        y = GAP + number // columns * (height + GAP)
        data = base64.b64encode(picture).decode()
        images.append(
            f'<image x="{x}" y="{y}" width="{width}" height="{height}"'
            f' href="data:image/png;base64,{data}"/>'
        )
    return resvg_py.svg_to_bytes(
        svg_string=(
            '<svg xmlns="http://www.w3.org/2000/svg"'
            f' width="{GAP + columns * (width + GAP)}" height="{GAP + rows * (height + GAP)}">'
            f"{''.join(images)}</svg>"
        ),
        background=GROUND,
        skip_system_fonts=True,
    )


if __name__ == "__main__":
    sys.exit(main())
