"""Messages of collections and saved searches."""

from collections.abc import Mapping
from typing import Final

COLLECTIONS: Final[Mapping[str, str]] = {
    "collections": "Collections",
    "collections.all": "All collections",
    "collections.of": "Collections of {name}",
    "collections.own": "My collections",
    "collections.hint": "Maps that people have gathered, in an order they chose.",
    "collections.none": "Nobody has published a collection yet.",
    "collections.one": "{count} collection",
    "collections.other": "{count} collections",
    "collection.by": "Collection by",
    "collection.title": "Title",
    "collection.text": "What is it about?",
    "collection.maps": "Maps",
    "collection.new": "New collection",
    "collection.new.hint": "Only you can see it until you publish it.",
    "collection.make": "Create collection",
    "collection.doing": "Actions for this collection",
    "collection.edit": "Edit",
    "collection.edit.of": "Edit the collection {title}",
    "collection.remove": "Delete",
    "collection.remove.hint": "The collection is deleted for good. Its maps stay where they are.",
    "collection.pin": "Pin to the first page",
    "collection.unpin": "Unpin from the first page",
    "collection.pin.hint": "Pinned collections appear on the first page of the library while they "
    "are published.",
    "collection.feed": "Feed readers get this collection at {address}, with your secret address "
    "instead of “…”:",
    "collection.back": "Back to the collection",
    "collection.empty": "This collection has no maps yet.",
    "collection.hidden": "An administrator has hidden this collection. It stays private until an "
    "administrator shows it again.",
    "collection.hidden.one": "{count} map in it is not shown, because you cannot see it.",
    "collection.hidden.other": "{count} maps in it are not shown, because you cannot see them.",
    "collection.hidden.out": "Remove what is not shown",
    "collection.seen_by.unlisted": "This collection is unlisted: only people with its link can "
    "find it.",
    "collection.seen_by.private": "This collection is private: only its owner and administrators "
    "can see it.",
    "collection.first": "To the beginning",
    "collection.up": "Up",
    "collection.down": "Down",
    "collection.last": "To the end",
    "collection.first.name": "Move {title} to the beginning",
    "collection.up.name": "Move {title} up",
    "collection.down.name": "Move {title} down",
    "collection.last.name": "Move {title} to the end",
    "collection.out": "Remove",
    "collection.out.name": "Remove {title}",
    "collection.add": "Add a map",
    "collection.add.hint": "The address of its page, or its ID.",
    "collect": "Add to a collection",
    "collect.which": "Collection",
    "collect.add": "Add",
    "collect.first": "Title of a new collection",
    "collect.new": "Or a new collection called",
    "searches": "Saved searches",
    "searches.hint": "To add one, choose “Save this search” in a list. Each has a feed, whose "
    "address stays the same when you change the search. Anyone with that address can read it.",
    "searches.private": "A feed reader needs your secret address instead of “…”:",
    "searches.none": "You have no saved searches yet.",
}
