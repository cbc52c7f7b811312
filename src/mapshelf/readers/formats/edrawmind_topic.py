"""Read a topic of EdrawMind: the content of its shape, except the text.

* Marks and images are shapes inside it; its note refers to images by name.
* Colours begin with the opacity. All shapes have colours, mostly from the theme.
* Task times are in seconds; 0 means not set, also for priorities.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.model import Image, Style, Task, Topic
from mapshelf.readers.formats.edrawmind_icons import icon
from mapshelf.readers.parsing.colours import colour
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.numbers import number

Pictures = Callable[[str, float, float], Image]
"""Returns the image with a name, for display at a width and height in pixels."""

_LONGEST_NAME: Final = 100
_NO: Final = frozenset({"", "0", "false", "False"})


def value(element: Element, path: str) -> str:
    """Return the attribute ``V`` of the element at ``path``: EdrawMind stores most values there."""
    found = element.find(path)
    return "" if found is None else found.get("V", "")


def words(part: Element | None) -> str:
    """Return the text in ``part``: paragraphs (``pp``) of text runs (``tp``)."""
    if part is None:
        return ""
    paragraphs = part.findall("TextBlock/Text/pp")
    return "\n".join("".join(paragraph.itertext()).strip() for paragraph in paragraphs)


def complete(topic: Topic, shape: Element, line: Element | None, pictures: Pictures) -> None:
    """Add the content of a topic's shape, and the colour of the line to its parent."""
    topic.style = _style(shape, line)
    _add_note(topic, shape, pictures)
    _add_inner(topic, shape.findall(".//Shape"), pictures)
    topic.links = tuple(value(link, "Address") for link in shape.iter("HyperLink"))
    task = shape.find(".//TaskInfo")
    if task is not None:
        topic.task = _task(task)
    if shape.find("LevelData/SubLevel") is not None:
        fold = shape.find("Layout/Toggler")
        topic.folded = fold is not None and fold.get("V", "1") not in _NO


def _add_note(topic: Topic, shape: Element, pictures: Pictures) -> None:
    own = shape.find("Note")
    comments = list(shape.iter("Comment"))
    if own is None and not comments:
        return
    note = Note()
    if own is not None:
        note.add_text(words(own))
        topic.images += tuple(
            pictures(image.get("Name", ""), 0.0, 0.0) for image in own.iter("Image")
        )
    for comment in comments:
        text = comment.get("Text") or value(comment, "Text") or words(comment)
        author = comment.get("Name", "")
        note.add_text(f"{author}: {text}" if author and text else text)
    topic.note = note.plain


def _add_inner(topic: Topic, shapes: list[Element], pictures: Pictures) -> None:
    """Add the marks and images inside a topic."""
    topic.markers += tuple(
        icon(*names) for shape in shapes if any(names := _names(shape.find("MarkData")))
    )
    topic.images += tuple(
        pictures(
            picture.get("Res", ""),
            _number(value(shape, "Transform/Width")),
            _number(value(shape, "Transform/Height")),
        )
        for shape in shapes
        if (picture := shape.find("Data[@Res]")) is not None and shape.get("Type") == "Image"
    )


def _names(mark: Element | None) -> tuple[str, str]:
    """Return the names of the group and of the mark, empty if there is no mark."""
    if mark is None:
        return "", ""
    return mark.get("GroupName", "")[:_LONGEST_NAME], mark.get("Name", "")[:_LONGEST_NAME]


def _style(shape: Element, line: Element | None) -> Style | None:
    looks = shape.find("ShapeFormat")
    face = shape.find("Text/TextBlock/Character")
    style = Style(
        text=_colour(face.get("Color")) if face is not None else "",
        fill=_colour(value(looks, "FillFormat[@Type='Solid']/Color")) if looks is not None else "",
        border=_line(looks),
        line=_line(line.find("ShapeFormat")) if line is not None else "",
        bold=face is not None and face.get("Bold", "") not in _NO,
        italic=face is not None and face.get("Italic", "") not in _NO,
        size=_number(face.get("Size", "")) if face is not None else 0.0,
        line_width=_number(value(line, "ShapeFormat/LineFormat/LineWeight"))
        if line is not None
        else 0.0,
    )
    return style if style != Style() else None


def _line(looks: Element | None) -> str:
    found = looks.find("LineFormat/LineFill[@Type='Solid']") if looks is not None else None
    return _colour(value(found, "Color")) if found is not None else ""


def _colour(text: str | None) -> str:
    return colour(text, alpha_first=True)


def _task(task: Element) -> Task:
    progress = _first(task, "Progress", "Percent", "Complete")
    priority = _number(_first(task, "Priority"))
    return Task(
        progress=int(_number(progress)) if progress else None,
        priority=int(priority) or None,
        start=_date(_first(task, "StartDate")),
        due=_date(_first(task, "FinishDate", "EndDate", "DueDate")),
        resources=tuple(_first(task, "Resource", "Resources").split(";")),
    )


def _first(element: Element, *names: str) -> str:
    return next((found for name in names if (found := element.get(name))), "")


def _number(text: str) -> float:
    """Return a number that a task or a size can have, 0 if there is none."""
    found = number(text[:20])
    return found if 0 < found < 1e6 else 0.0


def _date(seconds: str) -> str:
    moment = milliseconds(seconds)
    if moment is None:
        return ""
    date = datetime.fromtimestamp(moment // 1000, UTC).isoformat()[:16]
    return date.removesuffix("T00:00")
