"""MindManager: ``Document.xml`` in an archive, or that XML alone.

``StyleGroup``, ``MarkersSetGroup`` and rules contain icons, tasks and pictures that belong to no
topic. They are outside of ``OneTopic``, and only direct children of topics count. Mapshelf refuses
the older dialect without a namespace (``Map/Topic@Text``), so it is not counted.
"""

from typing import Final
from xml.etree.ElementTree import Element

from feature_counts.raw_files import RawFile
from feature_counts.rich_text import different, has_words, pictures_in, words_in
from feature_counts.table import Format, RawMap, Rule, each, each_in, number_of_topics

_ROOTS: Final = frozenset({"Map", "MapTemplate"})
_ARCHIVED: Final = "mmarch://"
_SUMMARY: Final = "urn:mindjet:Summary"
_TASK: Final = (
    "TaskPriority",
    "TaskPercentage",
    "StartDate",
    "DeadlineDate",
    "DueDate",
    "Resources",
)
_NONE: Final = frozenset({"", "urn:mindjet:None"})


def _open(raw: RawFile) -> RawMap[Element] | None:
    root = raw.member_root("Document.xml") if raw.members else raw.root
    if root is None or root.tag not in _ROOTS:
        return None
    tops = root.findall("OneTopic/Topic")
    return RawMap(raw, root, tuple(topic for top in tops for topic in top.iter("Topic")))


def _has_note(topic: Element) -> bool:
    body = topic.find("NotesGroup/NotesXhtmlData")
    return body is not None and (
        bool(words_in(body)) or (len(body) == 0 and has_words(body.get("PreviewPlainText")))
    )


def _links(topic: Element) -> int:
    found = [*topic.findall("Hyperlink"), *topic.findall("HyperlinkGroup/IndexedHyperlink")]
    return different(link.get("Url", "") for link in found)


def _images(opened: RawMap[Element], topic: Element) -> int:
    own = [uri.text or "" for uri in topic.findall("OneImage/Image/ImageData/Uri")]
    rich = pictures_in(topic.find("NotesGroup/NotesXhtmlData"))
    names = [source.strip().removeprefix(_ARCHIVED) for source in own + rich]
    return sum(name in opened.raw.members for name in names)


def _relationships(opened: RawMap[Element]) -> list[Element]:
    ids = {topic.get("OId") for topic in opened.topics} - {None, ""}

    def ends(part: Element) -> set[str | None]:
        return {
            end.get("OIdRef") for end in part.findall("ConnectionGroup/Connection/ObjectReference")
        }

    found = opened.document.findall("Relationships/Relationship")
    return [part for part in found if len(ends(part) & ids) == 2]


def _label(relationship: Element) -> str:
    text = relationship.find("FloatingTopics/Topic/Text")
    return "" if text is None else text.get("PlainText", "")


def _boundaries(topic: Element) -> list[Element]:
    return topic.findall("OneBoundary/Boundary")


def _is_summary(boundary: Element) -> bool:
    shape = boundary.find("BoundaryShape")
    return shape is not None and shape.get("BoundaryShape", "").startswith(_SUMMARY)


def _floating(opened: RawMap[Element]) -> int:
    return len(opened.document.findall("OneTopic/Topic/FloatingTopics/Topic"))


def _callouts(opened: RawMap[Element]) -> int:
    central = set(opened.document.findall("OneTopic/Topic"))
    beside = sum(
        len(topic.findall("FloatingTopics/Topic"))
        for topic in opened.topics
        if topic not in central
    )
    at_boundaries = sum(
        len(boundary.findall("FloatingTopics/Topic"))
        for topic in opened.topics
        for boundary in _boundaries(topic)
        if not _is_summary(boundary)
    )
    return beside + at_boundaries


def _is_task(topic: Element) -> bool:
    task = topic.find("Task")
    return task is not None and any(task.get(name, "") not in _NONE for name in _TASK)


def _is_folded(topic: Element) -> bool:
    views = [view for view in topic.findall("TopicViewGroup") if view.get("ViewIndex", "0") == "0"]
    folds = [fold.get("Collapsed") for view in views for fold in view.findall("Collapsed")]
    return "true" in folds and topic.find("SubTopics/Topic") is not None


def _is_coloured(topic: Element) -> bool:
    values = [
        part.get(name, "")
        for path, names in (("Color", ("FillColor", "LineColor")), ("Text/Font", ("Color",)))
        for part in topic.findall(path)
        for name in names
    ]
    return any(value and not (len(value) == 8 and value.startswith("00")) for value in values)


MINDMANAGER: Final = Format(
    "MindManager",
    _open,
    (
        Rule(
            "topics",
            "Topic within OneTopic/Topic, those at boundaries too; not those in a Relationship,"
            " which are its label",
            number_of_topics,
        ),
        Rule(
            "notes",
            "NotesGroup/NotesXhtmlData with words, or PreviewPlainText where it has no content;"
            " not Description@Comments",
            each(_has_note),
        ),
        Rule(
            "markers",
            "IconsGroup/Icons/*: stock and own icons; TaskPriority is a task",
            each(lambda topic: len(topic.findall("IconsGroup/Icons/*"))),
        ),
        Rule(
            "tags",
            "TextLabels/TextLabel@TextLabelName",
            each(
                lambda topic: different(
                    label.get("TextLabelName") for label in topic.findall("TextLabels/TextLabel")
                )
            ),
        ),
        Rule("links", "Hyperlink@Url, HyperlinkGroup/IndexedHyperlink@Url", each(_links)),
        Rule(
            "images",
            "OneImage/Image/ImageData/Uri and img in notes, if the archive has the member",
            each_in(_images),
        ),
        Rule(
            "attachments",
            "AttachmentGroup/AttachmentData (from converters; not seen)",
            each(lambda topic: len(topic.findall("AttachmentGroup/AttachmentData"))),
        ),
        Rule(
            "relationships",
            "Relationship whose two ObjectReference@OIdRef are topics",
            lambda opened: len(_relationships(opened)),
        ),
        Rule(
            "relationship_labels",
            "text of the Topic in the Relationship's FloatingTopics",
            lambda opened: sum(has_words(_label(part)) for part in _relationships(opened)),
        ),
        Rule(
            "boundaries",
            "OneBoundary/Boundary, but for BoundaryShape Summary..",
            each(lambda topic: sum(not _is_summary(part) for part in _boundaries(topic))),
        ),
        Rule(
            "summaries",
            "OneBoundary/Boundary with BoundaryShape urn:mindjet:Summary..",
            each(lambda topic: sum(map(_is_summary, _boundaries(topic)))),
        ),
        Rule("floating", "FloatingTopics/Topic of the central topic", _floating),
        Rule(
            "callouts",
            "FloatingTopics/Topic of another topic, or of a boundary that is no summary",
            _callouts,
        ),
        Rule(
            "task",
            "Task with a priority, percentage, date or resource; urn:mindjet:None is none",
            each(_is_task),
        ),
        Rule(
            "folded",
            "TopicViewGroup (ViewIndex 0)/Collapsed true, with SubTopics (it stands on leaves too)",
            each(_is_folded),
        ),
        Rule(
            "colours",
            "Color@FillColor/LineColor, Text/Font@Color (ARGB) of the topic; alpha 00 is none",
            each(_is_coloured),
        ),
    ),
)
