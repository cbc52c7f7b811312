"""Read Mindomo ``.mom``: an archive with XML of topics nested in ``subTopics``.

Mindomo publishes no description of the format. This module reads what published programs of others
read (versions 2.7 and 3.6 of the format): ``map`` with ``name``, ``author``, ``creationDate``,
``modificationDate`` and ``topics``; ``topic`` with ``id``, ``text`` and ``subTopics``, some of them
marked as deleted. The names of notes and links are unknown, so they are not read.

* In the archives that those programs read, the XML is ``Document.xml``. MindManager uses the same
  name, so the namespace distinguishes the formats.
* Texts may be HTML.
* Each top-level topic is the central topic of a sheet.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.text_cleaning import html_to_text
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag

_MEMBERS: Final = ("Document.xml", "document.xml", "map.xml")
_NAMESPACE: Final = "schemas.mindomo.com/"
_MARKUP: Final = re.compile(
    r"</?(?:a|b|br|div|em|font|i|li|ol|p|span|strong|u|ul)\b[^<>]*>", re.IGNORECASE
)


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of Mindomo, in an archive or alone."""
    if content.archive is None:
        return _NAMESPACE in content.root_tag
    return bool(_document(content))


def read(content: Content) -> Outline:
    """Return the outline of a Mindomo map.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    document = parse_xml(_document(content), content.limits)
    topics = document.findall("topics/topic")
    author = document.findtext("author", "").strip()
    return Outline(
        sheets=sheets_of(grow(filter(_is_alive, topics), _topic, _children, content.limits)),
        software="Mindomo",
        # The author may be a number that only Mindomo understands.
        author="" if author.isdecimal() else author,
        created=milliseconds(document.findtext("creationDate", "")),
        modified=milliseconds(document.findtext("modificationDate", "")),
    )


def _document(content: Content) -> str:
    """Return the XML of the map, empty if it is not from Mindomo."""
    archive = content.archive
    if archive is None:
        return content.text
    for name in _MEMBERS:
        if name in archive.names:
            text = decode(archive.read(name))
            if _NAMESPACE in root_tag(text)[1]:
                return text
    return ""


def _children(topic: Element) -> list[Element]:
    return list(filter(_is_alive, topic.findall("subTopics/topic")))


def _is_alive(topic: Element) -> bool:
    return topic.get("deleted") in {None, "false", "0"}


def _topic(topic: Element) -> Topic:
    text = topic.findtext("text", "")
    return Topic(id=topic.get("id", ""), text=html_to_text(text) if _MARKUP.search(text) else text)
