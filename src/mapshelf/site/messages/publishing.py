"""Words of the pages that publish maps, and of lists of one's own."""

from collections.abc import Mapping
from typing import Final

PUBLISHING: Final[Mapping[str, str]] = {
    "publish": "Publish",
    "publish.title": "Publish maps",
    "publish.hint": "Choose files of maps. You see what is in them before anybody else does.",
    "publish.files": "Map files",
    "publish.files.hint": "Up to {most} files of up to {megabytes} megabytes each: FreeMind, "
    "Freeplane, XMind, MindManager, OPML and others.",
    "publish.together": "Together they may have {megabytes} megabytes.",
    "publish.continue": "Upload and look at them",
    "publish.sent": "Your files",
    "publish.off": "Files cannot be uploaded to this catalogue.",
    "publish.more": "Publish more maps",
    "preview.title": "Look at your maps",
    "preview.hint": "Nobody else sees them until you publish them. If you leave this page, they "
    "stay among your maps as private ones.",
    "preview.whole": "Open the whole map",
    "preview.publish": "Publish",
    "preview.publish.all": "Publish all {count} maps",
    "preview.discard": "Do not publish this one",
    "preview.discard.name": "Do not publish “{title}”",
    "preview.others": "You have published these files before",
    "published.title": "Your maps are there",
    "contents.large": "Many topics",
    "refused.one": "One file is refused",
    "refused.other": "{count} files are refused",
    "file.unnamed": "A file without a name",
    "field.title": "Title",
    "field.description": "Description",
    "field.licence.none": "Not stated",
    "field.tags": "Tags",
    "field.tags.hint": "With commas between them",
    "field.template": "It is a template",
    "field.template.hint": "for others to begin their own maps with",
    "field.visibility": "Who sees it",
    "field.from_file": "The title of this map comes from its file.",
    "remove.of": "Remove “{title}”",
    "remove.sure": "Remove this map?",
    "remove.hint": "Nobody finds it any longer. For 30 days you can bring it back, on the page of "
    "your maps.",
    "remove.hint.folder": "Nobody finds it any longer. Its file stays in the folder. For 30 days "
    "you can bring the map back, on the page of your maps.",
    "remove.do": "Remove the map",
    "remove.keep": "Keep it",
    "mine.none": "There are no maps of yours here.",
    "removed": "Removed maps",
    "removed.hint": "A removed map can be brought back for 30 days.",
    "removed.by": "Removed by {name}",
    "removed.undo": "Bring back",
    "removed.undo.name": "Bring “{title}” back",
}
