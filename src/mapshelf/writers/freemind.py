"""FreeMind's ``.mm``, which FreeMind 1.0, Freeplane and most other programs open.

* The file is ASCII, with references for other characters, as FreeMind writes it. Only so do all
  versions read it the same way: some assume the encoding of their country.
* A note with formatting is XHTML. A plain note is marked as plain in the way of Freeplane, so that
  its lines are kept; FreeMind shows the words.
* A text that begins like an HTML document would be read as one, and is therefore written as one.
* A topic can have one link. Further ones become attributes named ``link``, which both programs show
  next to the topic.
* A map has one central topic: several sheets are attached to one that names them.
* The dates of the map are those of the central topic. The format has no place for author,
  copyright, program and whether it is a template.
"""

import re
from typing import Final

from mapshelf.model import Outline, Topic
from mapshelf.writers.markup import attribute, escaped, xhtml
from mapshelf.writers.nesting import steps, under_one_root
from mapshelf.writers.plain import one_line, sound

_LIKE_HTML: Final = re.compile(r"\s*<html[\s>]", re.IGNORECASE)


def write(outline: Outline) -> bytes:
    """Return ``outline`` as a FreeMind map."""
    root = under_one_root(outline)
    pieces = ['<map version="1.0.1">\n']
    for beginning, topic in steps((root,)):
        if not beginning:
            pieces.append("</node>\n")
            continue
        dates = _dates(outline) if topic is root else ""
        pieces.append(f"<node{_attributes(topic)}{dates}>\n{_inside(topic)}")
    pieces.append("</map>\n")
    return "".join(pieces).encode("ascii", "xmlcharrefreplace")


def _dates(outline: Outline) -> str:
    dates = {"CREATED": outline.created, "MODIFIED": outline.modified}
    return "".join(attribute(name, str(when)) for name, when in dates.items() if when is not None)


def _attributes(topic: Topic) -> str:
    text = sound(topic.text)
    attributes = attribute("ID", topic.id) if topic.id else ""
    if not _LIKE_HTML.match(text):
        attributes += attribute("TEXT", text)
    if topic.links:
        attributes += attribute("LINK", topic.links[0])
    return attributes


def _inside(topic: Topic) -> str:
    inside = ""
    if _LIKE_HTML.match(sound(topic.text)):
        lines = "".join(f"<p>{escaped(line)}</p>" for line in topic.text.splitlines())
        inside += _rich("NODE", lines)
    if topic.note_html:
        inside += _rich("NOTE", xhtml(topic.note_html))
    elif topic.note:
        inside += (
            '<richcontent CONTENT-TYPE="plain/auto" TYPE="NOTE"><text>'
            f"{escaped(topic.note)}</text></richcontent>\n"
        )
    for link in topic.links[1:]:
        inside += f'<attribute NAME="link"{attribute("VALUE", one_line(link))}/>\n'
    return inside


def _rich(kind: str, body: str) -> str:
    # No white space may be added, because it would become part of the note.
    return (
        f'<richcontent TYPE="{kind}"><html><head></head><body>{body}</body></html></richcontent>\n'
    )
