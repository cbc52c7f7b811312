r"""Write the outline as JSON: the complete content of a map in a stable, documented form.

    {
      "format": "mapshelf-outline",
      "version": 2,
      "software": "XMind",           program that wrote the file; empty if unknown
      "software_version": "23.05",
      "template": false,             whether the file is a template
      "author": "",
      "copyright": "",
      "created": "2024-01-31T23:59:59.000Z",   UTC; null if unknown
      "modified": null,
      "language": "en",              a guess, ISO 639-1; empty if unsure
      "topic_count": 2,              in all sheets together
      "depth": 2,                    levels of topics, the central ones counting as one
      "sheets": [
        {
          "title": "",
          "background": "#ffffff",   only if the author set one
          "relationships": [{"from": "a1", "to": "b2", "text": "leads to", "color": "#cc0000",
                             "point": [-60, 10],      leads not to a topic, but to a place: pixels
                                                      from the edge of the topic
                             "heads": "both"}],       if not only at the end: start, both, none
          "boundaries": [{"topics": ["a1"], "text": "", "color": "#cc0000"}],
          "summaries": [{"topics": ["a1", "b2"], "topic": {...}}],
          "floating": [{...}],
          "root": {
            "id": "a1",
            "text": "Plan",
            "text_html": "<b>Plan</b>",     if it has formatting, safe to show
            "kind": "callout",              if it is not just a branch
            "note": "Mind the cost",        plain text
            "note_html": "",                the same with formatting, safe to show
            "links": [{"target": "https://example.org/", "kind": "web", "map": ""}],
            "markers": ["priority-1", "flag-red"],
            "tags": ["work"],
            "task": {"state": "started", "progress": 50, "priority": 1, "start": "2026-01-31",
                     "due": "2026-02-28", "resources": ["Ann"]},
            "attributes": [["cost", "100"]],
            "shown_attributes": ["cost"],   names of those that the program shows in the topic
            "details": "Mind",              the part of the note that it shows there
            "number": "2.1",                automatic number that it shows before the text
            "images": [{"url": "https://…", "width": 80, "height": 60, "alt": "",
                        "below": true}],    if it is below the text
            "attachments": [{"name": "plan.pdf", "size": 1024}],
            "formula": "e^{i\pi}",
            "style": {"text": "#000000", "fill": "#ffffff", "line": "#ff0000", "border": "#000000",
                      "bold": true, "italic": true, "size": 12, "shape": "ellipse",
                      "line_width": 2, "line_hidden": true},
            "folded": true,
            "side": "left",
            "position": [100, -20],         pixels from the middle of the central topic; of a
                                            callout, from the middle of its parent
            "children": []                  topics again
          }
        }
      ]
    }

The metadata, the keys of a sheet except ``background``, and ``id``, ``text`` and ``children`` of a
topic are always present; other keys are omitted if empty. Later versions may add keys; ``version``
changes when a key is removed or changes its meaning. The JSON is nested as deep as the map (up to
256 levels of topics). It is written in pieces, because the encoder stops at 254 levels, as most
decoders do by default.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

import orjson

from mapshelf.formats.links import TargetKind, target_kind
from mapshelf.model import Image, Outline, Sheet, Task, Topic, TopicKind
from mapshelf.writers.nesting import steps
from mapshelf.writers.plain import sound

FORMAT: Final = "mapshelf-outline"
VERSION: Final = 2

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Catalogue(NamedTuple):
    """Catalogue data that the output refers to.

    Attributes:
        pictures: base URL of the map's images, with a trailing slash.
        maps: ids of the linked maps, by link.
    """

    pictures: str
    maps: Mapping[str, str]


def write(
    outline: Outline, pictures: str = "images/", maps: Mapping[str, str] = MappingProxyType({})
) -> bytes:
    """Return ``outline`` as JSON in UTF-8; see ``Catalogue`` for the other arguments."""
    catalogue = Catalogue(pictures, maps)
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "software": sound(outline.software),
        "software_version": sound(outline.software_version),
        "template": outline.template,
        "author": sound(outline.author),
        "copyright": sound(outline.copyright),
        "created": _moment(outline.created),
        "modified": _moment(outline.modified),
        "language": sound(outline.language),
        "topic_count": outline.topic_count,
        "depth": outline.depth,
    }
    pieces = [_opened(facts, "sheets")]
    for place, sheet in enumerate(outline.sheets):
        pieces.append(b"," * (place > 0))
        pieces.extend(_sheet(sheet, catalogue))
    return b"".join((*pieces, b"]}\n"))


def _sheet(sheet: Sheet, catalogue: Catalogue) -> Iterator[bytes]:
    known = {topic.id for tree in sheet.trees() for _, topic in tree.walk()}
    background = {"background": sheet.background} if sheet.background else {}
    beside: dict[str, object] = {
        "title": sound(sheet.title),
        **background,
        "relationships": [
            {
                "from": sound(arrow.start),
                "to": sound(arrow.end),
                "text": sound(arrow.text),
                **_coloured(arrow.colour),
                **({"point": arrow.point} if arrow.point else {}),
                **({"heads": arrow.heads} if arrow.heads != "end" else {}),
            }
            for arrow in sheet.relationships
        ],
        "boundaries": [
            {"topics": list(map(sound, topics)), "text": sound(text), **_coloured(colour)}
            for topics, text, colour in sheet.boundaries
        ],
    }
    yield _opened(beside, "summaries")
    for place, summary in enumerate(sheet.summaries):
        yield b"," * (place > 0)
        yield orjson.dumps({"topics": list(map(sound, summary.topics))})[:-1] + b',"topic":'
        yield from _trees([summary.topic], known, catalogue)
        yield b"}"
    yield b'],"floating":['
    yield from _trees(sheet.floating, known, catalogue)
    yield b'],"root":'
    yield from _trees([sheet.root], known, catalogue)
    yield b"}"


def _trees(trees: Iterable[Topic], known: Container[str], catalogue: Catalogue) -> Iterator[bytes]:
    follows = False
    for beginning, topic in steps(trees):
        if beginning:
            yield b"," * follows + _opened(_topic(topic, known, catalogue), "children")
        else:
            yield b"]}"
        follows = not beginning


def _topic(topic: Topic, known: Container[str], catalogue: Catalogue) -> dict[str, object]:
    members: dict[str, object] = {
        "text_html": sound(topic.text_html),
        "kind": topic.kind.value if topic.kind is not TopicKind.ATTACHED else "",
        "note": sound(topic.note),
        "note_html": sound(topic.note_html),
        "links": [_link(link, known, catalogue.maps) for link in topic.links],
        "markers": [sound(marker.name) for marker in topic.markers],
        "tags": list(map(sound, topic.tags)),
        "task": _task(topic.task) if topic.task else None,
        "attributes": [[sound(name), sound(value)] for name, value in topic.attributes],
        "shown_attributes": list(map(sound, topic.shown_attributes)),
        "details": sound(topic.details),
        "number": topic.number,
        "images": [_image(image, catalogue.pictures) for image in topic.images],
        "attachments": [{"name": sound(name), "size": size} for name, size in topic.attachments],
        "formula": sound(topic.formula),
        "style": _present(asdict(topic.style)) if topic.style else None,
        "folded": topic.folded,
        "side": topic.side,
        "position": topic.position,
    }
    return {"id": sound(topic.id), "text": sound(topic.text), **_present(members)}


def _link(link: str, known: Container[str], maps: Mapping[str, str]) -> dict[str, str]:
    public_id = maps.get(link, "")
    kind = TargetKind.MAP if public_id else target_kind(link, known)
    return {"target": sound(link), "kind": kind.value, "map": public_id}


def _task(task: Task) -> dict[str, object]:
    facts = asdict(task) | {"resources": list(map(sound, task.resources))}
    return {name: value for name, value in facts.items() if value not in ("", None, [])}


def _image(image: Image, pictures: str) -> dict[str, object]:
    return _present(
        {
            "url": f"{pictures}{image.digest}.png" if image.digest else "",
            "width": image.width,
            "height": image.height,
            "alt": sound(image.alt),
            "below": image.below,
        }
    )


def _present(members: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in members.items() if value}


def _coloured(colour: str) -> dict[str, str]:
    return {"color": colour} if colour else {}


def _opened(members: dict[str, object], last: str) -> bytes:
    """Return the start of an object, up to the opening bracket of its last member, an array."""
    return orjson.dumps(members)[:-1] + b',"%s":[' % last.encode()


def _moment(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
