"""Convert a single topic to XMind's JSON, without its children."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from mapshelf.formats.marker_emoji import marker_emoji
from mapshelf.formats.xmind_ids import XMIND_IDS
from mapshelf.model import Marker, Outline, Style, Task, Topic
from mapshelf.writers.facts import beside_text, with_lines
from mapshelf.writers.pictures import Pictures, Shown, shown_in
from mapshelf.writers.plain import one_line, safe_links, sound
from mapshelf.writers.rich_text import Run, runs_of

_SHAPES: Final = {
    "rectangle": "rect",
    "rounded": "roundedRect",
    "ellipse": "ellipse",
    "underline": "underline",
    "diamond": "diamond",
    "hexagon": "hexagon",
    "cloud": "cloud",
    "none": "noBorder",
}
_MARKS: Final = {
    "bold": ("fo:font-weight", "bold"),
    "italic": ("fo:font-style", "italic"),
    "underline": ("fo:text-decoration", "underline"),
    "struck": ("fo:text-decoration", "line-through"),
}
_STATES: Final = {"done": "task-done", "paused": "task-pause"}
_OWN: Final = "XMind"


class TopicWriter:
    """Writes the topics of one map, each with a unique id."""

    def __init__(self, outline: Outline, pictures: Pictures) -> None:
        self._own_markers = outline.software == _OWN
        self._taken = {topic.id for _, topic in outline.topics()}
        self._pictures = pictures
        self._unnamed = 0

    def members(self, topic: Topic) -> dict[str, object]:
        """Return the members of the object for ``topic``."""
        name = sound(topic.id) or self._unused()
        members: dict[str, object] = {
            "id": name,
            "class": "topic",
            "title": sound(topic.text or topic.formula),
        }
        if runs := runs_of(topic):
            members["attributedTitle"] = list(map(_run, runs))
        if topic.style:
            members["style"] = {"id": f"{name}-style", "properties": _look(topic.style)}
        members.update(_present(self._attached(topic)))
        return members

    def _attached(self, topic: Topic) -> dict[str, object]:
        markers, labels = self._markers(topic)
        images = list(shown_in(topic, self._pictures)) if topic.images else []
        return {
            "image": _image(images[0]) if images else None,
            "markers": [{"markerId": marker} for marker in markers],
            "labels": [*map(one_line, topic.tags), *labels],
            "notes": _notes(topic, images[1:]),
            "href": "".join(map(_address, safe_links(topic.links)[:1])),
            "extensions": list(_extensions(topic)),
            "branch": "folded" if topic.folded and topic.children else "",
            "position": dict(zip("xy", topic.position, strict=True)) if topic.position else None,
        }

    def _unused(self) -> str:
        name = ""
        while not name or name in self._taken:
            self._unnamed += 1
            name = f"topic-{self._unnamed}"
        return name

    def _markers(self, topic: Topic) -> tuple[list[str], list[str]]:
        """Return the ids of markers, and labels for markers that XMind lacks."""
        ids: dict[str, None] = {}
        labels: dict[str, None] = {}
        for marker in topic.markers:
            if self._own_markers and marker.original:
                ids[sound(marker.original)] = None
            elif found := XMIND_IDS.get(marker.name):
                ids[found] = None
            else:
                labels[_word(marker)] = None
        if topic.task:
            for group, found in _task_markers(topic.task):
                if not any(name.startswith(group) for name in ids):
                    ids[found] = None
        return list(ids), [label for label in labels if label]


def _word(marker: Marker) -> str:
    return marker_emoji(marker.name) or one_line(
        marker.original if marker.name.startswith("other-") else marker.name
    )


def _task_markers(task: Task) -> Iterator[tuple[str, str]]:
    """Yield XMind's markers for a task, each with the prefix of its marker group."""
    if task.priority:
        yield "priority-", f"priority-{task.priority}"
    if task.state in _STATES:
        yield "task-", _STATES[task.state]
    elif found := XMIND_IDS.get(f"progress-{task.progress}"):
        yield "task-", found


def member_of(image: Shown) -> str:
    """Return the archive member name of an image."""
    return f"resources/{image.digest}.png"


def _image(image: Shown) -> dict[str, object]:
    size = {"width": image.width, "height": image.height} if image.scaled else {}
    return {"src": f"xap:{member_of(image)}", **size}


def _notes(topic: Topic, images: Sequence[Shown]) -> dict[str, object]:
    lines = [*map(one_line, safe_links(topic.links)[1:]), *_facts(topic)]
    plain = with_lines(sound(topic.note), lines)
    if not plain and not images:
        return {}
    notes: dict[str, object] = {"plain": {"content": plain}}
    if images:
        parts: list[object] = [{"image": f"xap:{member_of(image)}"} for image in images]
        operations = [f"{plain}\n", *parts, "\n"]
        notes["ops"] = {"ops": [{"insert": operation} for operation in operations]}
    if topic.note_html:
        further = "".join(f"<p>{escape(line, quote=False)}</p>" for line in lines)
        notes["realHTML"] = {"content": sound(topic.note_html) + further}
    return notes


def _facts(topic: Topic) -> list[str]:
    bare = Topic("", attributes=topic.attributes, attachments=topic.attachments)
    return beside_text(bare)


def _address(link: str) -> str:
    link = one_line(link)
    return f"xmind:{link}" if link.startswith("#") else link


def _extensions(topic: Topic) -> Iterator[dict[str, object]]:
    if topic.task:
        task = topic.task
        facts = {
            "status": "doing" if task.state == "started" else task.state,
            "progress": "" if task.progress is None else str(task.progress),
            "priority": "" if task.priority is None else str(task.priority),
            "start-date": task.start.replace("T", " "),
            "end-date": task.due.replace("T", " "),
            "assigned-to": ",".join(map(one_line, task.resources)),
        }
        content = [{"name": name, "content": value} for name, value in facts.items() if value]
        if content:
            yield {"provider": "org.xmind.ui.taskInfo", "content": content}
    if topic.formula:
        content_of = {"content": sound(topic.formula)}
        yield {"provider": "org.xmind.ui.mathJax", "content": content_of}


def _look(style: Style) -> dict[str, str]:
    shape = _SHAPES.get(style.shape, "")
    properties = {
        "svg:fill": style.fill,
        "fo:color": style.text,
        "line-color": style.line,
        "border-line-color": style.border,
        "fo:font-weight": "bold" if style.bold else "",
        "fo:font-style": "italic" if style.italic else "",
        "fo:font-size": f"{style.size:g}pt" if style.size else "",
        "line-width": f"{style.line_width:g}pt" if style.line_width else "",
        "shape-class": f"org.xmind.topicShape.{shape}" if shape else "",
    }
    return {name: value for name, value in properties.items() if value}


def _run(run: Run) -> dict[str, str]:
    marks = dict(_MARKS[mark] for mark in sorted(run.marks) if mark in _MARKS)
    return {"text": run.text, **marks}


def _present(members: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in members.items() if value}
