"""Messages for errors and refused actions."""

from collections.abc import Mapping
from typing import Final

FAILURES: Final[Mapping[str, str]] = {
    "failure.tag": "A tag is one or more words without commas, at most 50 characters in all.",
    "failure.tags": "Separate tags with commas. A map can have at most 20 tags of at most 50 "
    "characters each.",
    "failed": "The search failed. Press Enter to try again.",
    "error.title": "That did not work",
    "error.missing": "There is nothing here",
    "error.missing.hint": "The map may have been removed, or the address may be mistyped.",
    "error.invalid": "This address asks for something that does not exist",
    "error.invalid.hint": "One of its values is unknown or too long. Start from the library, or go "
    "back and choose something else.",
    "error.preparing": "The catalogue is being prepared",
    "error.overloaded": "The service is overloaded",
    "error.many": "Too many requests",
    "error.many.hint": "There have been too many requests from this address or account. Try again "
    "in {wait}.",
    "error.unavailable": "The service is not available right now",
    "error.again": "Try again in a moment.",
    "error.fault": "Something went wrong on our side",
    "error.private": "Sign in to see this",
    "error.private.hint": "This catalogue is only for people with an account.",
    "error.form": "This form cannot be used any more",
    "error.form.hint": "It is too old, or it came from another site. Go back, reload its page and "
    "fill it in again. Your browser must accept cookies from this site. If this happens every "
    "time, delete the cookies of this site and its domain.",
    "error.home": "Go to the library",
    "failure.collections.own": "You already have {most} collections, the most you can have. Delete "
    "some first.",
    "failure.collections.maps": "A collection can have at most {most} maps.",
    "failure.collections.pinned": "{most} collections are already pinned, the most there can be. "
    "Unpin one first.",
    "forbidden.collection": "Only its owner and administrators can do this with a collection.",
    "failure.collection": "A collection needs a title of at most 200 characters. Its text can have "
    "at most 5,000.",
    "failure.collection.map": "There is no such map.",
    "failure.search": "A saved search needs a name of at most 200 characters.",
    "failure.searches": "You already have {most} saved searches, the most you can have. Delete "
    "some first.",
    "failure.map.title": "A title must have 1 to {most} characters.",
    "failure.map.description": "A description can have at most {most} characters.",
    "failure.map.category": "There is no such category. Choose another.",
    "failure.map.licence": "There is no such licence. Choose another.",
    "failure.map.tags": "A map can have at most {most} tags, each of at most {longest} characters.",
    "failure.map.template": "A map is either a template or not.",
    "failure.map.visibility": "Choose who can see the map.",
    "failure.fields": "Not everything could be saved. Each problem is explained beside its field; "
    "the rest is as you typed it.",
    "failure.files": "Choose at least one file, and no more than are allowed.",
    "failure.file.no_map": "This is not a mind map, or it is from a program whose files cannot be "
    "read here. Choose the file that your program saves. ({reason})",
    "failure.file.broken": "This file cannot be read. Open it in the program that made it and save "
    "it again. ({reason})",
    "failure.file.too_large": "This file contains more than can be read here. Save it as several "
    "smaller maps. ({reason})",
    "failure.hidden": "An administrator has hidden this map, so you cannot change who can see it.",
    "failure.hidden.collection": "An administrator has hidden this collection, so you cannot "
    "change who can see it.",
    "forbidden.maps": "You have reached your limit of uploaded maps, {count}. Remove some first.",
    "forbidden.megabytes": "Your files can take up at most {count} megabytes in all, including "
    "their pictures and earlier versions. Remove some maps first.",
    "forbidden.kept": "Maps that you removed take up space for 30 days, while you can restore "
    "them. There is no room for this file yet. Try again later.",
    "forbidden.uploads": "Files cannot be uploaded to this catalogue.",
    "forbidden.owner": "Only its owner and administrators can do this with a map.",
    "forbidden.vote": "You cannot rate your own map.",
    "forbidden.report": "You cannot report your own map or collection.",
    "forbidden.removed": "An administrator removed this map, so only administrators can restore "
    "it.",
    "forbidden.deleted": "An administrator has deleted this map.",
    "failure.large": "This is too large.",
    "failure.uploads": "You have uploaded as many files as you can within an hour. Try again in "
    "{wait}.",
    "failure.device": "No device is waiting for this code. Check it, or have the program show a "
    "new one.",
    "failure.credentials": "Wrong username or password.",
    "failure.report": "A report needs a reason. Its note can have at most 1,000 characters.",
    "failure.reports": "You have reported as much as you can within a day. Try again tomorrow.",
    "failure.choice": "Choose what should happen to your maps.",
    "failure.session_old": "Sign out and in again, then try once more.",
    "failure.last_administrator": "You are the only administrator. Make somebody else an "
    "administrator first.",
    "failure.attempts": "Too many attempts. Try again in {wait}.",
    "failure.name": "A username must have 1 to 100 characters, all on one line, and each word"
    " in one alphabet.",
    "failure.name.unusable": "This username cannot be used. It needs more than dots and slashes, "
    "must not have two spaces in a row, and must not read like “deleted user 1”. Choose another.",
    "failure.name.taken": "This username is taken. Choose another.",
    "failure.last_way": "This is your only way to sign in. Choose a password first.",
    "failure.passkey": "This passkey cannot be used here, or it took too long. Try again.",
    "failure.passkey.name": "A passkey needs a name of at most 100 characters.",
    "failure.passkey.made": "Your browser did not use a passkey. Try again.",
    "failure.changed": "Something has changed in the meantime. Try again.",
    "failure.outdated": "This page has been updated since you opened it, so nothing was saved yet. "
    "Check every field, then save again.",
    "failure.too_many": "You have too many tokens. Revoke some first.",
    "failure.form": "This form was too old, or your browser does not accept cookies from this "
    "site. Try again. If this happens every time, delete the cookies of this site and its domain.",
    "failure.value": "Something in this form is not valid.",
    "failure.token": "A token needs a name of at most 100 characters, and at least one thing that "
    "it allows.",
    "failure.busy": "The service is busy. Try again in a few seconds.",
    "failure.store": "This does not work at the moment, because the database is not answering. Try "
    "again soon.",
    "failure.link": "This link no longer works",
    "failure.link.hint": "It has been used, or it is too old. Ask whoever sent it for a new one.",
}
