"""Words of the pages that publish maps, and of lists of one's own."""

from collections.abc import Mapping
from typing import Final

PUBLISHING: Final[Mapping[str, str]] = {
    "publish": "Publish",
    "publish.title": "Publish maps",
    "publish.hint": "Choose map files. You can check them before anyone else sees them.",
    "publish.files": "Map files",
    "publish.files.hint": "Up to {most} files of up to {megabytes} megabytes each: FreeMind, "
    "Freeplane, XMind, MindManager, OPML and others.",
    "publish.together": "At most {megabytes} megabytes in all.",
    "publish.continue": "Upload and preview",
    "publish.sent": "Your files",
    "publish.off": "Files cannot be uploaded to this catalogue.",
    "publish.more": "Publish more maps",
    "preview.title": "Check your maps",
    "preview.hint": "Nobody else can see them until you publish them. If you leave this page, they "
    "stay in “My maps” as private maps.",
    "preview.whole": "Open the whole map",
    "preview.publish": "Publish",
    "preview.publish.all": "Publish all {count} maps",
    "preview.discard": "Discard this map",
    "preview.discard.name": "Discard “{title}”",
    "preview.others": "You have already published these files",
    "published.title": "Your maps are ready",
    "contents.large": "Many topics",
    "refused.one": "One file was refused",
    "refused.other": "{count} files were refused",
    "file.unnamed": "A file without a name",
    "field.title": "Title",
    "field.description": "Description",
    "field.licence.none": "Not stated",
    "field.tags": "Tags",
    "field.tags.hint": "Separated by commas",
    "field.template": "This is a template",
    "field.template.hint": "for others to start their own maps from",
    "field.visibility": "Who can see it",
    "field.from_file": "The title of this map comes from its file.",
    "remove.of": "Remove “{title}”",
    "remove.sure": "Remove this map?",
    "remove.hint": "Nobody will find it any more. You can restore it from “My maps” within 30 "
    "days.",
    "remove.hint.folder": "Nobody will find it any more. Its file stays in the folder. You can "
    "restore the map from “My maps” within 30 days.",
    "remove.do": "Remove",
    "remove.keep": "Keep it",
    "mine.none": "You have no maps here.",
    "removed": "Removed maps",
    "removed.hint": "You can restore a removed map within 30 days.",
    "removed.by": "Removed by {name}",
    "removed.undo": "Restore",
    "removed.undo.name": "Restore “{title}”",
}
