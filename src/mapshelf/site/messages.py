"""All messages of the pages, in one place, ready to be translated.

A translation is another mapping with these keys. Messages with a number have two forms, for one and
for any other number. The messages of the scripts are here, too; pages pass them on as data.
"""

from collections.abc import Mapping
from typing import Final

ENGLISH: Final[Mapping[str, str]] = {
    "language": "en",
    "site": "Mapshelf",
    "tagline": "A shelf of mind maps to browse, search and read",
    "skip": "Skip to the content",
    "home": "Library",
    "search": "Search",
    "search.label": "Search maps and everything in them",
    "search.hint": "Words, “a phrase”, -not this",
    "search.clear": "Clear the search",
    "filters": "Filters",
    "filters.active": "Shown are only",
    "filter.remove": "Remove the filter {name}",
    "facet.category": "Categories",
    "facet.software": "Made with",
    "facet.owner": "Owners",
    "facet.more": "More",
    "templates": "Templates",
    "order": "Order",
    "order.relevance": "Best match",
    "order.date": "Newest",
    "order.alpha": "A to Z",
    "order.rating": "Best rated",
    "order.views": "Most viewed",
    "order.downloads": "Most downloaded",
    "maps.one": "{count} map",
    "maps.other": "{count} maps",
    "maps.all": "All maps",
    "maps.of": "Maps of {name}",
    "maps.in": "{name}",
    "maps.for": "Maps about “{text}”",
    "corrected": "Nothing matches “{asked}”. Here is what matches “{meant}”.",
    "none": "No map matches.",
    "none.hint": "Try fewer or other words, or remove a filter.",
    "empty": "This shelf is still empty.",
    "empty.hint": "Maps appear here as soon as they are imported.",
    "feed": "Feed",
    "pages": "Pages",
    "page.of": "Page {page} of {pages}",
    "page.previous": "Previous",
    "page.next": "Next",
    "failed": "The search could not be made. Press Enter to try again.",
    "by": "by",
    "in": "in",
    "picture": "The shape of the map “{title}”",
    "topics.one": "{count} topic",
    "topics.other": "{count} topics",
    "levels.one": "{count} level",
    "levels.other": "{count} levels",
    "views.one": "{count} view",
    "views.other": "{count} views",
    "downloads.one": "{count} download",
    "downloads.other": "{count} downloads",
    "thumbs.one": "{count} thumbs up",
    "thumbs.other": "{count} thumbs up",
    "map": "Map",
    "map.about": "About this map",
    "map.added": "Added",
    "map.owner": "Owner",
    "map.category": "Category",
    "map.software": "Made with",
    "map.licence": "Licence",
    "map.copyright": "Copyright",
    "map.size": "Size",
    "map.size.kb": "{size} KB",
    "map.contents": "Contents",
    "map.elsewhere": "Its page elsewhere",
    "map.download": "Download",
    "map.original": "Original file",
    "map.preview": "Picture in the file",
    "map.preview.alt": "The map “{title}” as the program that wrote its file showed it",
    "map.outline": "Everything in this map",
    "map.linked": "Linked from",
    "map.linked.more.one": "and {count} more map",
    "map.linked.more.other": "and {count} more maps",
    "map.related": "Maps like this one",
    "map.untitled": "(a topic without words)",
    "map.sheet": "Sheet {number}",
    "map.no_outline": "Only the title of this map is known here, not its topics.",
    "map.embed": "Embed",
    "map.embed.hint": "Copy this into a page of yours:",
    "map.open": "Open in {site}",
    "map.floating": "Beside the map",
    "map.summary": "Summary",
    "map.boundaries": "Boundaries",
    "map.relationships": "Relationships",
    "picture.missing": "A picture that is not in the file: {name}",
    "picture.unnamed": "a picture",
    "links": "Links",
    "attributes": "Attributes",
    "attachments": "Files in the map",
    "task": "Task",
    "task.state": "State",
    "task.progress": "Progress",
    "task.priority": "Priority",
    "task.start": "Start",
    "task.due": "Due",
    "task.resources": "Resources",
    "task.todo": "to do",
    "task.started": "started",
    "task.paused": "paused",
    "task.done": "done",
    "task.cancelled": "cancelled",
    "note": "Note",
    "reference": "The HTTP API",
    "reference.hint": "Press Authorize and paste an access token to try it from here. "
    "For programs there is",
    "reference.script": "This page is drawn by a script, which your browser does not run.",
    "error.title": "This does not work",
    "error.404": "There is nothing here",
    "error.404.hint": "The map may have been removed, or the address is mistyped.",
    "error.400": "This address asks for something we do not have",
    "error.503": "The catalogue is being prepared",
    "error.503.hint": "Try again in a moment.",
    "error.500": "Something went wrong on our side",
    "error.home": "To the library",
}
"""The messages of the pages."""

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
    "sheet": "Sheet",
    "folded": "{count} topics folded",
    "level": "Level {level}",
}
"""The messages of the script that shows a map."""


def say(key: str, **values: object) -> str:
    """Return the message ``key`` with ``values`` filled in."""
    # Not str.format: the values are untrusted and may contain braces.
    pieces = ENGLISH[key].split("{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}")
        filled.append(f"{values[name]}{rest}")
    return "".join(filled)


def counted(key: str, count: int) -> str:
    """Return the message ``key`` for this count."""
    return say(f"{key}.one" if count == 1 else f"{key}.other", count=f"{count:,}")
