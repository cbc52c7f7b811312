"""The outline as JSON, for programs: everything Mapshelf knows about it, in a stable form.

    {
      "format": "mapshelf-outline",
      "version": 1,
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
      "topics": [                    the central topics, one for each sheet
        {
          "id": "a1",                may be empty
          "text": "Plan",
          "note": "Mind the cost",   plain text
          "note_html": "",           the same with formatting, safe to show; empty if it is plain
          "links": ["https://example.org/"],
          "children": []             topics again
        }
      ]
    }

All keys are always present. Later versions may add keys; ``version`` changes when a key is removed
or changes its meaning. The nesting is as deep as the map (256 at most), so it is written in pieces:
the encoder, like most decoders by default, stops at 254 levels.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import orjson

from mapshelf.model import Outline, Topic
from mapshelf.writers.nesting import steps
from mapshelf.writers.plain import sound

FORMAT: Final = "mapshelf-outline"
VERSION: Final = 1

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def write(outline: Outline) -> bytes:
    """Return ``outline`` as JSON in UTF-8."""
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
    pieces = [_opened(facts, "topics")]
    follows = False
    for beginning, topic in steps(outline.roots):
        if beginning:
            pieces.append(b"," * follows + _opened(_topic(topic), "children"))
        else:
            pieces.append(b"]}")
        follows = not beginning
    return b"".join((*pieces, b"]}\n"))


def _topic(topic: Topic) -> dict[str, object]:
    return {
        "id": sound(topic.id),
        "text": sound(topic.text),
        "note": sound(topic.note),
        "note_html": sound(topic.note_html),
        "links": [sound(link) for link in topic.links],
    }


def _opened(members: dict[str, object], last: str) -> bytes:
    """Return an object up to the beginning of its last member, an array."""
    return orjson.dumps(members)[:-1] + b',"%s":[' % last.encode()


def _moment(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
