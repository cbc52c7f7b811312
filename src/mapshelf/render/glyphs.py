"""Choose the shape and colour of icons, for the whole marker vocabulary of ``model.markers``.

The shapes are Material Design Icons, on a square of 24 by 24. Pie charts for progress are computed.
A marker without a name in our vocabulary gets a plain dot. An emoji is drawn as text. Colours are
halfway between black and white, so that icons are visible on light and on dark backgrounds.
"""

import re
from functools import cache
from math import cos, pi, sin
from typing import Final, NamedTuple

from mapshelf.model import Marker, Topic

BOX: Final = 24.0
"""Side of the square on which shapes are drawn."""

COLOURS: Final = {
    "red": "#d9453d",
    "orange": "#dd7414",
    "yellow": "#eab308",
    "green": "#2f9e58",
    "blue": "#3b7de0",
    "purple": "#9160d8",
    "pink": "#d9539d",
    "brown": "#a0714f",
    "grey": "#7d8896",
    "black": "#4a5563",
    "white": "#f4f6f8",
}
"""The colours of markers, by the names in ``model.markers.COLOURS``."""

EDGED: Final = ("yellow", "white")
"""Colours that need an outline on a light background."""

EDGE: Final = "#7d8896"
"""Colour of that outline."""


class Glyph(NamedTuple):
    """An icon.

    Attributes:
        path: its shape, as SVG path data on a square with side ``BOX``.
        colour: the name of its colour in ``COLOURS``.
        text: text drawn on it, empty if none.
    """

    path: str
    colour: str
    text: str = ""


MARKS: Final = {
    "note": "text-box-outline",
    "link": "link-variant",
    "attachment": "paperclip",
    "picture": "image-off-outline",
}
"""Shapes of the marks after the text, for notes, links, files and missing images."""

_FACES: Final = {
    "happy": "emoticon-happy",
    "laughing": "emoticon-lol",
    "wink": "emoticon-wink",
    "neutral": "emoticon-neutral",
    "sad": "emoticon-sad",
    "crying": "emoticon-cry",
    "angry": "emoticon-angry",
    "surprised": "emoticon-excited",
    "confused": "emoticon-confused",
    "cool": "emoticon-cool",
    "love": "emoticon-kiss",
    "sick": "emoticon-sick",
    "afraid": "emoticon-frown",
    "tired": "emoticon-dead",
}
_COLOURED: Final = {
    "flag": ("flag", "red"),
    "star": ("star", "yellow"),
    "person": ("account", "blue"),
    "group": ("account-group", "blue"),
    "pin": ("pin", "red"),
    "circle": ("circle", "grey"),
    "square": ("square", "grey"),
    "tag": ("tag", "blue"),
    "heart": ("heart", "red"),
    "hat": ("hat-fedora", "black"),
}
_ARROWS: Final = {
    "up": "arrow-up-bold",
    "down": "arrow-down-bold",
    "left": "arrow-left-bold",
    "right": "arrow-right-bold",
    "up-left": "arrow-top-left-thick",
    "up-right": "arrow-top-right-thick",
    "down-left": "arrow-bottom-left-thick",
    "down-right": "arrow-bottom-right-thick",
    "left-right": "arrow-left-right-bold",
    "up-down": "arrow-up-down-bold",
    "refresh": "refresh",
}
_TASKS: Final = {
    "todo": ("checkbox-blank-outline", "grey"),
    "started": ("checkbox-intermediate", "blue"),
    "paused": ("pause-box-outline", "orange"),
    "done": ("checkbox-marked", "green"),
    "cancelled": ("close-box-outline", "grey"),
}
_PRIORITIES: Final = ("grey", "red", "orange", "yellow", "green", "blue", "purple")
"""Colours of priorities 0 to 6; all further ones are grey."""

_SYMBOLS: Final = {
    name: (shape, colour)
    for name, shape, colour in (
        row.split()
        for row in """
        warning alert orange
        question help-circle blue
        exclamation exclamation-thick red
        info information blue
        idea lightbulb-on yellow
        yes check-bold green
        no close-thick red
        plus plus-thick green
        minus minus-thick red
        stop stop-circle red
        go play-circle green
        pause pause-circle orange
        play play blue
        bomb bomb black
        fire fire orange
        lock lock orange
        unlock lock-open-variant orange
        key key yellow
        home home brown
        pencil pencil orange
        search magnify blue
        link link-variant blue
        attachment paperclip grey
        bookmark bookmark red
        bell bell yellow
        clock clock-outline blue
        hourglass timer-sand brown
        calendar calendar blue
        phone phone green
        email email blue
        message message-text blue
        mailbox mailbox blue
        globe earth blue
        map map green
        book book-open-variant brown
        folder folder yellow
        document file-document blue
        list format-list-bulleted blue
        image image green
        music music purple
        camera camera black
        video video purple
        money cash green
        chart chart-bar blue
        trophy trophy yellow
        gift gift pink
        cup cup brown
        sun white-balance-sunny yellow
        moon weather-night purple
        cloud cloud blue
        rain weather-pouring blue
        lightning lightning-bolt yellow
        snow snowflake blue
        tree pine-tree green
        leaf leaf green
        flower flower pink
        apple food-apple red
        car car blue
        plane airplane blue
        ship ferry blue
        train train blue
        cart cart blue
        basket basket brown
        wizard wizard-hat purple
        penguin penguin black
        tools tools black
        gear cog grey
        computer laptop black
        printer printer black
        database database grey
        thumbs-up thumb-up green
        thumbs-down thumb-down red
        hand hand-back-right orange
        handshake handshake brown
        eye eye blue
        ribbon seal red
        target target red
        puzzle puzzle green
        brain brain pink
        speech account-voice blue
        quote format-quote-close grey
        female gender-female pink
        male gender-male blue
        family human-male-female-child blue
        doctor doctor blue
        business briefcase brown
        hat hat-fedora black
        crown crown yellow
        medal medal yellow
        rocket rocket-launch red
        magnet magnet red
        scissors content-cut black
        glasses glasses black
        bank bank brown
        coffee coffee brown
        food food orange
        drink glass-cocktail purple
        health heart-pulse red
        shield shield blue
        broken-line link-variant-off red
        launch open-in-new blue
        code code-tags grey
        signpost sign-direction brown
        """.strip().splitlines()
    )
}


@cache
def glyph(name: str) -> Glyph | None:
    """Return the icon of a marker, ``None`` if it is an emoji, which is drawn as text."""
    kind, _, rest = name.partition("-")
    if kind == "emoji":
        return None
    if name in _SYMBOLS:
        shape, colour = _SYMBOLS[name]
        return Glyph(_path(shape), colour)
    made = _of_family(kind, rest)
    return made or Glyph(_path("circle-medium"), "grey")


def mark(name: str) -> str:
    """Return the SVG path data of one of ``MARKS``."""
    return _path(MARKS[name])


def said(marker: Marker) -> str:
    """Return the meaning of a marker in words, or the characters of an emoji."""
    kind, _, rest = marker.name.partition("-")
    if kind == "emoji":
        return emoji_text(marker.name)
    if kind == "other":
        return marker.original.strip() or rest.replace("-", " ")
    return f"progress {rest} %" if kind == "progress" else marker.name.replace("-", " ")


def emoji_text(name: str) -> str:
    """Return the characters of an emoji marker; invalid code points are skipped."""
    points = (int(point, 16) for point in re.findall("[0-9a-f]+", name.partition("-")[2]))
    return "".join(
        chr(point) for point in points if 0x20 < point < 0x110000 and not 0xD800 <= point < 0xE000
    )


def markers_of(topic: Topic) -> list[Marker]:
    """Return the markers of a topic, and markers for facts of its task that no marker shows."""
    markers = list(topic.markers)
    if task := topic.task:
        there = {marker.name.partition("-")[0] for marker in markers}
        facts = (
            ("priority", task.priority),
            ("task", task.state or None),
            ("progress", task.progress),
        )
        # Progress of 0 or 100 per cent gets no marker, because the state of the task shows it.
        markers += [
            Marker(f"{kind}-{value}", "")
            for kind, value in facts
            if value is not None
            and kind not in there
            and (kind, value) not in (("progress", 100), ("progress", 0))
        ]
    return markers


def _of_family(kind: str, rest: str) -> Glyph | None:
    """Return the icon of a marker whose name has a second part, such as a number or a colour.

    It is ``None`` if the name is not known.
    """
    shape = colour = text = ""
    if kind == "priority" and re.fullmatch("[0-9]", rest):
        number = int(rest)
        shape = f"numeric-{number}-circle"
        colour = _PRIORITIES[number] if number < len(_PRIORITIES) else "grey"
    elif kind == "progress" and re.fullmatch("[0-9]{1,3}", rest):
        return Glyph(_pie(min(100, int(rest)) / 100), "green" if rest == "100" else "blue")
    elif kind == "task":
        shape, colour = _TASKS.get(rest, ("", ""))
    elif kind in _COLOURED:
        shape, usual = _COLOURED[kind]
        colour = rest if rest in COLOURS else usual
    elif kind == "letter" and re.fullmatch("[a-z]", rest):
        shape, colour = f"alpha-{rest}-circle", "blue"
    elif kind in ("month", "weekday") and re.fullmatch("[0-9]{1,2}", rest):
        shape, colour, text = "calendar-blank", "blue" if kind == "month" else "purple", rest
    elif kind in ("face", "arrow"):
        shape = (_FACES if kind == "face" else _ARROWS).get(rest, "")
        colour = "yellow" if kind == "face" else "blue"
    return Glyph(_path(shape), colour, text) if shape else None


def _pie(share: float) -> str:
    """Return a ring with a pie chart in it, filled clockwise from the top.

    It is a tick in a circle if everything is filled.
    """
    ring = "M12 2A10 10 0 1 1 12 22A10 10 0 1 1 12 2ZM12 4A8 8 0 1 0 12 20A8 8 0 1 0 12 4Z"
    if share <= 0:
        return ring
    if share >= 1:
        return _path("check-circle")
    angle = 2 * pi * share
    x, y = 12 + 6.5 * sin(angle), 12 - 6.5 * cos(angle)
    return f"{ring}M12 12V5.5A6.5 6.5 0 {int(share > 0.5)} 1 {x:.2f} {y:.2f}Z"


@cache
def _path(shape: str) -> str:
    # Imported with the first marker, because most processes draw none.
    from material_design_icons_pack import get_icon  # noqa: PLC0415

    icon = get_icon(shape)
    assert icon is not None, shape
    (path,) = re.findall(r' d="([^"]+)"', icon.svg)
    return str(path)
