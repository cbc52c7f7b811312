"""MindManager: an archive with ``Document.xml``, or only that XML (``.xmmap``).

* The root element of a template is ``MapTemplate`` instead of ``Map``.
* Floating topics are attached to a topic or its boundary, next to the ordinary children, and are
  children here too. Those on a relationship between topics become children of the central topic.
* Links are in the topic (older versions) or in a group (newer ones).
* What describes the whole map (subject, comments, keywords) is added to the note of the central
  topic; task data and text labels are added to the note of their topic. Icons, relationships,
  pictures and attachments are not read.
* ``Version`` counts revisions of the document; the file does not contain the program's version.
* With a password the document is ``Document.xml.zencr``, which only MindManager can read.
"""

from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import BrokenFile
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml, root_tag

_DOCUMENT: Final = "Document.xml"
_LOCKED: Final = "Document.xml.zencr"
_TEMPLATE: Final = "MapTemplate"
_ROOTS: Final = frozenset({"Map", _TEMPLATE})
_NAMESPACE: Final = "schemas.mindjet.com/MindManager"
_BELOW: Final = (
    "SubTopics/Topic",
    "FloatingTopics/Topic",
    "OneBoundary/Boundary/FloatingTopics/Topic",
)
_ON_RELATIONSHIPS: Final = "Relationships/Relationship/FloatingTopics/Topic"
_PRIORITY: Final = "urn:mindjet:Prio"


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map or template of MindManager, in an archive or alone."""
    archive = content.archive
    if archive is None:
        return content.root_name in _ROOTS and _NAMESPACE in content.root_tag
    if _DOCUMENT not in archive.names:
        return _LOCKED in archive.names
    return root_tag(decode(archive.read(_DOCUMENT)))[0] in _ROOTS


def read(content: Content) -> Outline:
    """Return the outline of a MindManager map or template.

    Raises:
        BrokenFile: it is damaged, protected by a password, or has no topic.
        TooLarge: it exceeds a limit.
    """
    document = parse_xml(_text(content), content.limits)
    facts = document.find("DocumentGroup")
    facts = Element("DocumentGroup") if facts is None else facts
    central = document.find("OneTopic/Topic")

    def topic_of(topic: Element) -> Topic:
        return _topic(topic, facts if topic is central else None)

    def children_of(topic: Element) -> list[Element]:
        below = [child for path in _BELOW for child in topic.findall(path)]
        return below + document.findall(_ON_RELATIONSHIPS) if topic is central else below

    roots = grow(document.findall("OneTopic/Topic"), topic_of, children_of, content.limits)
    return Outline(
        sheets=sheets_of(roots),
        software="MindManager",
        template=document.tag == _TEMPLATE,
        author=_at(facts, "Author", "UserName") or _at(facts, "Creator", "UserName"),
        created=milliseconds(_at(facts, "DateTimeStamps", "Created")),
        modified=milliseconds(_at(facts, "DateTimeStamps", "LastModified")),
    )


def _text(content: Content) -> str:
    if content.archive is None:
        return content.text
    if _DOCUMENT not in content.archive.names:
        raise BrokenFile("it is protected by a password; save it without one")
    return decode(content.archive.read(_DOCUMENT))


def _topic(topic: Element, facts: Element | None) -> Topic:
    note = Note()
    body = topic.find("NotesGroup/NotesXhtmlData")
    if body is not None:
        if len(body):
            note.add_element(body)
        else:
            note.add_html(body.get("PreviewPlainText", ""))
    for name, value in _task(topic.find("Task")):
        note.add_fact(name, (value,))
    labels = topic.findall("TextLabels/TextLabel")
    note.add_fact("Labels", (label.get("TextLabelName", "") for label in labels))
    if facts is not None:
        note.add_text(_at(facts, "Description", "Subject"))
        note.add_text(_at(facts, "Description", "Comments"))
        note.add_fact("Keywords", (_at(facts, "Keywords", "Keywords"),))
    return Topic(
        id=topic.get("OId", ""),
        text=_at(topic, "Text", "PlainText"),
        note=note.plain,
        note_html=note.html,
        links=tuple(_links(topic)),
    )


def _task(task: Element | None) -> Iterator[tuple[str, str]]:
    if task is None:
        return
    yield "Priority", task.get("TaskPriority", "").removeprefix(_PRIORITY)
    yield "Progress", _percent(task.get("TaskPercentage", ""))
    yield "Start", task.get("StartDate", "")
    yield "Deadline", task.get("DeadlineDate", "")
    yield "Resources", task.get("Resources", "")


def _percent(number: str) -> str:
    return f"{number} %" if number else ""


def _links(topic: Element) -> Iterator[str]:
    for link in (*topic.findall("Hyperlink"), *topic.findall("HyperlinkGroup/IndexedHyperlink")):
        yield link.get("Url", "")


def _at(parent: Element, path: str, attribute: str) -> str:
    found = parent.find(path)
    return "" if found is None else found.get(attribute, "")
