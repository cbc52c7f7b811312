"""Messages of the scripts, which pages pass on as data."""

from collections.abc import Mapping
from typing import Final

SCRIPT_ENGLISH: Final[Mapping[str, str]] = {
    "stage": "Interactive map. Arrow keys go from topic to topic, Space folds and unfolds, "
    "plus and minus zoom, 0 shows everything, slash searches. All of it follows as text.",
    "zoomIn": "Zoom in",
    "zoomOut": "Zoom out",
    "fit": "Show everything",
    "unfold": "Unfold everything",
    "fold": "Fold everything",
    "fullscreen": "Full screen",
    "colours": "Colours of the author",
    "find": "Find in this map",
    "found": "{at} of {count}",
    "notFound": "Not found",
    "link": "Copy link",
    "copied": "Copied",
    "close": "Close",
    "detail": "About this topic",
    "relationships": "Relationships",
    "sheet": "Sheets",
    "folded": "{count} topics folded",
    "level": "Level {level}",
}
"""The messages of the script that shows a map."""


PUBLISH_ENGLISH: Final[Mapping[str, str]] = {
    "drop": "Drop files here, or choose them",
    "choose": "Choose files",
    "waiting": "Waiting",
    "sending": "Sending",
    "reading": "Reading",
    "ready": "Ready",
    "large": "This file is larger than {megabytes} megabytes.",
    "many": "Too many files at once.",
    "failed": "The upload failed. Try again.",
    "counted": "Ready: {ready}. Refused: {refused}.",
    "goOn": "Check the others",
}
"""The messages of the script that uploads files."""
