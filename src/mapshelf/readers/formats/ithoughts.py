"""iThoughts: an archive with ``mapdata.xml``, one ``topic`` element inside another.

* Notes are Markdown and kept as they were typed.
* Topics with only a picture have no text, but are topics too.
* Task data and the names of attachments are added to the note. Icons, relationships, colours and
  the pictures themselves are not read, nor ``author``, which is the name of a device.
"""

from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml

_MEMBER: Final = "mapdata.xml"
_ROOT: Final = "iThoughts"
_FACTS: Final = (
    ("Attachment", "att-name"),
    ("Priority", "task-priority"),
    ("Start", "task-start"),
    ("Due", "task-due"),
    ("Resources", "task-resources"),
)


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of iThoughts, in an archive or alone."""
    if content.archive is None:
        return content.root_name == _ROOT
    return _MEMBER in content.archive.names


def read(content: Content) -> Outline:
    """Return the outline of an iThoughts map; floating topics become further roots.

    Raises:
        BrokenFile: it is damaged or has no topic.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    text = content.text if archive is None else decode(archive.read(_MEMBER))
    document = parse_xml(text, content.limits)
    tops = document.findall("topics/topic")
    return Outline(
        sheets=sheets_of(grow(tops, _topic, lambda topic: topic.findall("topic"), content.limits)),
        software="iThoughts",
        software_version=document.get("app-version", ""),
        created=milliseconds(tops[0].get("created")),
        modified=milliseconds(document.get("modified")),
    )


def _topic(topic: Element) -> Topic:
    note = Note()
    note.add_text(topic.get("note", ""))
    for name, attribute in _FACTS:
        note.add_fact(name, (topic.get(attribute, ""),))
    return Topic(
        id=topic.get("uuid", ""),
        text=topic.get("text", ""),
        note=note.plain,
        links=(topic.get("link", ""),),
    )
