"""Map WiseMapping's icons to the common vocabulary of markers.

The name of an icon consists of its collection and the name in it: ``flag_blue``,
``sign_warning``, ``people_male1``. Newer versions write emoji instead, which need no table.
"""

import re
from functools import lru_cache
from typing import Final

from mapshelf.model import Marker
from mapshelf.model.markers import is_known, marker

_TABLE: Final = {
    "arrowc_rotate_anticlockwise": "arrow-refresh",
    "arrowc_rotate_clockwise": "arrow-refresh",
    "arrowc_turn_left": "arrow-left",
    "arrowc_turn_right": "arrow-right",
    "chart_bar": "chart",
    "chart_curve": "chart",
    "chart_line": "chart",
    "chart_organisation": "chart",
    "chart_pie": "chart",
    "conn_connect": "link",
    "conn_disconnect": "broken-line",
    "face_crying": "face-crying",
    "face_plain": "face-neutral",
    "face_smile": "face-happy",
    "face_smiley": "face-happy",
    "face_surprise": "face-surprised",
    "funy_glasses": "glasses",
    "hard_computer": "computer",
    "hard_microphone": "speech",
    "hard_printer": "printer",
    "hard_webcam": "camera",
    "mail_edit": "email",
    "mail_envelop": "email",
    "mail_envelope": "email",
    "mail_list": "email",
    "mail_mailbox": "mailbox",
    "money_coins": "money",
    "money_dollar": "money",
    "money_euro": "money",
    "money_money": "money",
    "money_pound": "money",
    "money_yen": "money",
    "object_clip": "attachment",
    "object_house": "home",
    "object_key": "key",
    "object_magnifier": "search",
    "object_music": "music",
    "object_pencil": "pencil",
    "object_rainbow": "sun",
    "object_star": "star",
    "onoff_add": "plus",
    "onoff_clock": "clock",
    "onoff_clock_red": "clock",
    "onoff_delete": "minus",
    "onoff_status_offline": "no",
    "onoff_status_online": "yes",
    "people_group": "group",
    "sign_cancel": "no",
    "sign_help": "question",
    "sign_info": "info",
    "sign_stop": "stop",
    "sign_warning": "warning",
    "soft_cursor": "arrow-up-left",
    "soft_database": "database",
    "soft_database_table": "database",
    "soft_folder_explore": "folder",
    "soft_penguin": "penguin",
    "things_address_book": "book",
    "things_bubbles": "speech",
    "things_pin": "pin",
    "things_wrench": "tools",
    "thumb_thumb_down": "thumbs-down",
    "thumb_thumb_up": "thumbs-up",
    "tick_cross": "no",
    "tick_tick": "yes",
    "time_calendar": "calendar",
    "time_clock": "clock",
    "time_hourglass": "hourglass",
}
_NUMBER: Final = re.compile(r"number_([0-9])")
_PROGRESS: Final = re.compile(r"task_(\d{1,3})")
_PERSON: Final = re.compile(r"people_(male|female)\d?")
_COLOURED: Final = re.compile(r"(flag|tag|bullet|ball)_(\w+)")
_ROUND: Final = frozenset({"bullet", "ball"})


@lru_cache(maxsize=512)  # few names, many times
def icon(original: str) -> Marker:
    """Return the marker for an icon of WiseMapping."""
    name = original.strip().lower()
    return marker(_TABLE.get(name) or _by_rule(name), original)


def _by_rule(name: str) -> str:
    if found := _NUMBER.fullmatch(name):
        return f"priority-{found[1]}"
    if found := _PROGRESS.fullmatch(name):
        guess = f"progress-{int(found[1])}"
    elif found := _PERSON.fullmatch(name):
        guess = found[1]
    elif found := _COLOURED.fullmatch(name):
        guess = f"{'circle' if found[1] in _ROUND else found[1]}-{found[2]}"
    else:
        guess = name.replace("_", "-")  # face_sad, arrow_up
    return guess if is_known(guess) else ""
