"""Make Minder open maps and save them in its own format, with key presses, as a person does.

Minder 1.14 (Debian 12) opens FreeMind's ``.mm``, OPML and both kinds of ``.xmind``. It has no
command to convert a map and offers no actions on D-Bus, so the script presses Ctrl-S.
"""

import time
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from desktop import Desktop, TooSlow, end, wait_for
from mapshelf.model import Attachment, Boundary, Outline, Relationship, Sheet, Task, Topic
from mapshelf.readers import Limits
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml

_PROGRAM: Final = "com.github.phase1geo.minder"
_SETTLED: Final = 1.5
"""Seconds that Minder takes from opening its window until it can save the map."""


def save_again(desktop: Desktop, path: Path) -> bytes:
    """Return the map at ``path`` as Minder saves it.

    Raises:
        TooSlow: it does not save the map; most likely it has ended.
    """
    written = path.with_name("saved.minder")
    program = desktop.start([_PROGRAM, str(path)], path.with_suffix(".log"))

    def alive(title: str) -> list[str]:
        if program.poll() is not None:
            raise TooSlow(f"the program has ended ({program.returncode})")
        return desktop.windows(title)

    try:
        window = wait_for(lambda: alive("Minder"), 30)[-1]
        time.sleep(_SETTLED)
        desktop.press(window, "ctrl+s")
        dialog = wait_for(lambda: alive("Save File"), 60)[-1]
        desktop.type(dialog, str(written))
        wait_for(lambda: _is_whole(written), 60)
    finally:
        end(program)
    return written.read_bytes()


def _is_whole(written: Path) -> bool:
    return written.is_file() and written.read_bytes().rstrip().endswith(b"</minder>")


def read_again(data: bytes) -> Outline:
    """Return the map in a file of Minder: each of its trees is a sheet."""
    document = parse_xml(data.decode(), Limits())
    roots = grow(document.findall("nodes/node"), _topic, _below, Limits())
    arrows = tuple(
        Relationship(arrow.get("from_id", ""), arrow.get("to_id", ""), arrow.findtext("title", ""))
        for arrow in document.iterfind("connections/connection")
    )
    around = [[node] for node in document.iter("node") if node.get("group") == "true"]
    around += [list(group.iter("node")) for group in document.iterfind("groups/group")]
    lines = (Boundary(tuple(node.get("id", "") for node in nodes)) for nodes in around)
    sheets = [Sheet(root) for root in roots]
    sheets[0] = Sheet(roots[0], relationships=arrows, boundaries=tuple(lines))
    return Outline(tuple(sheets))


def _topic(node: Element) -> Topic:
    text = node.find("nodename/text")
    link = node.find("nodelink")
    done = node.get("task")
    return Topic(
        "" if text is None else text.get("data", ""),
        node.get("id", ""),
        note=node.findtext("nodenote", ""),
        links=() if link is None else (link.get("url") or f"#{link.get('id', '')}",),
        folded=node.get("fold") == "true",
        task=None if done is None else Task("done" if done == "1" else "todo"),
        attachments=() if node.find("nodeimage") is None else (Attachment("picture"),),
    )


def _below(node: Element) -> list[Element]:
    return node.findall("nodes/node")
