"""What pages say when something does not work, or is not allowed."""

from collections.abc import Mapping
from typing import Final

FAILURES: Final[Mapping[str, str]] = {
    "failure.tag": "A tag is a word or several, without commas, and has at most 50 characters.",
    "failure.tags": "Type tags with commas between them. A map has at most 20 tags of at most 50 "
    "characters each.",
    "failed": "The search could not be made. Press Enter to try again.",
    "error.title": "This does not work",
    "error.missing": "There is nothing here",
    "error.missing.hint": "The map may have been removed, or the address is mistyped.",
    "error.invalid": "This address asks for something we do not have",
    "error.invalid.hint": "It has a value that does not exist or is too long. Begin at the "
    "library, or go back and choose something else.",
    "error.preparing": "The catalogue is being prepared",
    "error.overloaded": "The service has too much to do",
    "error.many": "Too many requests",
    "error.many.hint": "This address, or this account, has loaded a great deal in a short time. "
    "Try again in {wait}.",
    "error.unavailable": "The service cannot answer now",
    "error.again": "Try again in a moment.",
    "error.fault": "Something went wrong on our side",
    "error.private": "Sign in to see this",
    "error.private.hint": "This catalogue is only for those who have an account.",
    "error.form": "This form cannot be used",
    "error.form.hint": "It is too old, or another site has sent it. Go back, load its page "
    "again, and fill it in once more. Your browser must accept the cookies of this site.",
    "error.home": "To the library",
    "failure.collections.own": "You have {most} collections, which is as many as you may have. "
    "Delete some.",
    "failure.collections.maps": "A collection has at most {most} maps.",
    "failure.collections.pinned": "{most} collections are pinned, which is as many as there may "
    "be. Take one from the first page.",
    "forbidden.collection": "Only its owner and administrators may do this with a collection.",
    "failure.collection": "A collection needs a title of at most 200 characters, and its text has "
    "at most 5,000.",
    "failure.collection.map": "There is no such map.",
    "failure.search": "A saved search needs a name of at most 200 characters.",
    "failure.searches": "You have {most} saved searches, which is as many as you may have. Delete "
    "some.",
    "failure.map.title": "A title has 1 to {most} characters.",
    "failure.map.description": "A description has at most {most} characters.",
    "failure.map.category": "There is no such category. Choose another.",
    "failure.map.licence": "There is no such licence. Choose another.",
    "failure.map.tags": "A map has at most {most} tags, each of at most {longest} characters.",
    "failure.map.template": "A map is a template, or it is none.",
    "failure.map.visibility": "Choose who sees the map.",
    "failure.fields": "Something cannot be accepted. The reason is beside it; everything else is "
    "as you typed it.",
    "failure.files": "Choose one file at least, and not more than are allowed.",
    "failure.file.no_map": "This is no mind map, or none of a program whose files can be read "
    "here. Choose the file that your program saves. ({reason})",
    "failure.file.broken": "This file cannot be read. Open it in the program that made it, and "
    "save it once more. ({reason})",
    "failure.file.too_large": "There is more in this file than can be read here. Save it as "
    "several smaller maps. ({reason})",
    "failure.hidden": "An administrator has hidden this map, so you cannot choose who sees it.",
    "failure.hidden.collection": "An administrator has hidden this collection, so you cannot "
    "choose who sees it.",
    "forbidden.maps": "You have {count} uploaded maps, and cannot have more. Remove some that "
    "you do not need.",
    "forbidden.megabytes": "All your files may have {count} megabytes together, with their "
    "pictures and earlier versions. Remove some maps that you do not need.",
    "forbidden.kept": "The maps that you removed can be brought back for 30 days. Until then they "
    "take the room that this file needs. Try again later.",
    "forbidden.uploads": "Files cannot be uploaded to this catalogue.",
    "forbidden.owner": "Only its owner and administrators may do this with a map.",
    "forbidden.vote": "You cannot rate a map of your own.",
    "forbidden.report": "You cannot report what is your own.",
    "forbidden.removed": "An administrator removed this map, and only administrators can bring it "
    "back.",
    "forbidden.deleted": "An administrator has deleted this map.",
    "failure.large": "This is too large.",
    "failure.uploads": "You uploaded as many files as one may within an hour. Try again in {wait}.",
    "failure.device": "No device waits with this code. Check it, or let the program show a new"
    " one.",
    "failure.credentials": "The name or the password is not right.",
    "failure.report": "A report needs a reason, and a note has at most 1,000 characters.",
    "failure.reports": "You have reported many maps or collections within a day. Try again "
    "tomorrow.",
    "failure.choice": "Choose what becomes of your maps.",
    "failure.session_old": "Sign out and in again, and then try once more.",
    "failure.last_administrator": "You are the only administrator. Make somebody else one first.",
    "failure.attempts": "This was tried too often. Try again in {wait}.",
    "failure.name": "A username has 1 to 100 characters on one line.",
    "failure.name.taken": "Somebody has this username already. Choose another.",
    "failure.last_way": "Without this you could no longer sign in. Choose a password first.",
    "failure.passkey": "This passkey cannot be used here, or it took too long. Try once more.",
    "failure.passkey.name": "A passkey needs a name of at most 100 characters.",
    "failure.passkey.made": "Your browser did not use a passkey. Try once more.",
    "failure.changed": "Something has changed in the meantime. Try once more.",
    "failure.too_many": "You have too many tokens. Revoke some that you do not need.",
    "failure.form": "This form was too old, or your browser does not accept the cookies of this "
    "site. Try once more.",
    "failure.value": "Something in this form cannot be accepted.",
    "failure.token": "A token needs a name of at most 100 characters, and something that it "
    "allows.",
    "failure.busy": "There is too much to do at the moment. Try again in a few seconds.",
    "failure.store": "This does not work now, because the database does not answer. Try again "
    "soon.",
    "failure.link": "This link no longer works",
    "failure.link.hint": "It was used, or it is too old. Ask whoever sent it for another one.",
}
