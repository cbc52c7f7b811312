"""Make VYM open maps and save them in its own format, over D-Bus, as its scripts do.

VYM 2.6.11 (Debian 12) opens FreeMind's ``.mm``. None of its commands saves an archive, but
``exportXML`` writes the XML file of one.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from desktop import Desktop, TooSlow, end, wait_for
from mapshelf.model import Outline, Topic
from mapshelf.readers import Limits, read

_HELPERS: Final = 2
"""VYM puts the topics on each side below an additional topic without text: two in total."""

_MESSAGE: Final = re.compile(r"(?i)warning|error|critical|question")

_METHOD: Final = "org.insilmaril.vym.model.adaptor.execute"


def save_again(desktop: Desktop, path: Path) -> bytes:
    """Return the map at ``path`` as VYM saves it.

    Raises:
        TooSlow: it does not answer; most likely it shows a message.
    """
    out = path.with_name("vym")
    out.mkdir()
    written = out / "map.xml"
    # Without -t it saves open maps automatically. It does not know the language "C".
    desktop.environment["LANG"] = "en"
    program = desktop.start(["vym", "-t", str(path)], path.with_suffix(".log"))
    target = ["--session", "--dest", f"org.insilmaril.vym-{program.pid}"]
    command = ["--object-path", "/vymmodel_1", "--method", _METHOD]

    def answer() -> str:
        return desktop.said("gdbus", "call", *target, *command, "getMapTitle()")

    try:
        wait_for(answer, 60)
        if messages := [title for title in _titles(desktop) if _MESSAGE.search(title)]:
            raise TooSlow(messages[0])
        desktop.said("gdbus", "call", *target, *command, f'exportXML("{out}","{written}")')
        wait_for(lambda: _is_whole(written), 60)
    except TooSlow:
        raise TooSlow(", ".join(_titles(desktop))) from None
    finally:
        end(program)
    return written.read_bytes()


def _is_whole(written: Path) -> bool:
    return written.is_file() and written.read_bytes().rstrip().endswith(b"</vymmap>")


def _titles(desktop: Desktop) -> Iterator[str]:
    for window in desktop.windows("."):
        yield desktop.said("xdotool", "getwindowname", window)


def read_again(data: bytes) -> Outline:
    """Return the map that VYM wrote, without what it adds to every FreeMind map."""
    outline = read(data, Limits(), name="map.vym")
    (sheet,) = outline.sheets
    children = []
    for place, child in enumerate(sheet.root.children):
        helps = place < _HELPERS and not child.text and child.children
        children += child.children if helps else [child]
    root = replace(sheet.root, children=children)
    return replace(outline, sheets=(replace(sheet, root=root),))


def as_ordered(root: Topic) -> Topic:
    """Return ``root`` with its branches in the order of VYM: first those on the left.

    A branch without a side is on the side of the branch before it.
    """
    sides: dict[str, list[Topic]] = {"left": [], "right": [], "": []}
    side = ""
    for child in root.children:
        side = child.side or side
        sides[side].append(child)
    return replace(root, children=[child for group in sides.values() for child in group])
