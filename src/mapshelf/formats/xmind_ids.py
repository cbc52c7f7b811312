"""Map markers to the ids that XMind uses.

Writers use this mapping. XMind supports only its own ids, so a marker without one is written as a
label, which remains visible.
"""

from typing import Final

_COLOURS: Final = {"grey": "gray"}
_FLAGS: Final = ("red", "orange", "yellow", "blue", "green", "purple", "grey")
_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
)
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ARROWS: Final = (
    *("up", "up-right", "right", "down-right", "down", "down-left", "left", "up-left", "refresh"),
)

XMIND_IDS: Final = {
    **{f"priority-{number}": f"priority-{number}" for number in range(1, 10)},
    "progress-0": "task-start",
    "progress-12": "task-oct",
    "progress-25": "task-quarter",
    "progress-37": "task-3oct",
    "progress-50": "task-half",
    "progress-62": "task-5oct",
    "progress-75": "task-3quar",
    "progress-87": "task-7oct",
    "progress-100": "task-done",
    "task-done": "task-done",
    "task-paused": "task-pause",
    **{
        f"{ours}-{colour}": f"{theirs}-{_COLOURS.get(colour, colour)}"
        for ours, theirs in (("flag", "flag"), ("star", "star"), ("person", "people"))
        for colour in _FLAGS
    },
    "flag": "flag-red",
    "star": "star-yellow",
    "person": "people-blue",
    **{f"arrow-{way}": f"arrow-{way}" for way in _ARROWS},
    "face-happy": "smiley-smile",
    "face-laughing": "smiley-laugh",
    "face-angry": "smiley-angry",
    "face-crying": "smiley-cry",
    "face-surprised": "smiley-surprise",
    "face-neutral": "smiley-boring",
    "face-confused": "smiley-embarrass",
    "plus": "symbol-plus",
    "minus": "symbol-minus",
    "question": "symbol-question",
    "exclamation": "symbol-exclam",
    "warning": "symbol-attention",
    "info": "symbol-info",
    "no": "symbol-wrong",
    "yes": "symbol-right",
    "stop": "symbol-no-entry",
    "idea": "other-lightbulb",
    "calendar": "other-calendar",
    "email": "other-email",
    "phone": "other-phone",
    "group": "other-people2",
    "clock": "other-clock",
    "bomb": "other-bomb",
    "lock": "other-lock",
    "unlock": "other-unlock",
    "document": "other-note",
    **{f"month-{number}": f"month-{month}" for number, month in enumerate(_MONTHS, 1)},
    **{f"weekday-{number}": f"week-{day}" for number, day in enumerate(_DAYS, 1)},
}
"""XMind ids by marker name."""
