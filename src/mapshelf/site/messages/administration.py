"""Words of the pages for administrators: invitations, reports, imports."""

from collections.abc import Mapping
from typing import Final

ADMINISTRATION: Final[Mapping[str, str]] = {
    "invitations": "Invitations",
    "invitations.closed": "Registration is closed. Invitations work again when the service runs "
    "with --registration invite.",
    "invitations.invite": "An invitation is a link with which one person can register within a "
    "week.",
    "invitations.open": "Anyone can register, so no invitations are needed.",
    "invitations.present": "Unused invitations",
    "invitation.make": "Create an invitation",
    "invitation.made": "New invitation",
    "invitation.made.hint": "Send this link to the person you are inviting. It is not shown again.",
    "invitation.until": "Valid until",
    "invitation.created": "Created",
    "invitation.withdraw": "Withdraw",
    "invitation.withdraw.name": "Withdraw the invitation created {date}",
    "reports": "Reports",
    "reports.hint": "You can undo a decision below within 30 days. A decision closes all reports "
    "about the map or collection.",
    "reports.none": "There are no open reports.",
    "reports.open.one": "{count} map",
    "reports.open.other": "{count} maps",
    "reports.more.one": "and {count} more report",
    "reports.more.other": "and {count} more reports",
    "reports.maps.more.one": "{count} more map has been reported. It appears here once you have "
    "decided about these.",
    "reports.maps.more.other": "{count} more maps have been reported. They appear here once you "
    "have decided about these.",
    "reports.hidden": "hidden",
    "reports.nobody": "deleted account",
    "reports.dismiss": "Dismiss",
    "reports.dismiss.name": "Dismiss the reports about {title} of {owner}",
    "reports.hide": "Hide the map",
    "reports.hide.name": "Hide the map {title} of {owner}",
    "reports.delete": "Delete the map",
    "reports.delete.name": "Delete the map {title} of {owner}",
    "reports.disable": "Disable the owner",
    "reports.disable.name": "Disable the owner {owner} of {title}",
    "reports.collection": "Collection",
    "reports.collection.dismiss": "Dismiss",
    "reports.collection.dismiss.name": "Dismiss the reports about the collection {title} of "
    "{owner}",
    "reports.collection.hide": "Hide the collection",
    "reports.collection.hide.name": "Hide the collection {title} of {owner}",
    "decisions": "Decisions",
    "decisions.hint": "Only owners and administrators can see hidden maps and collections.",
    "decisions.undo": "Undo",
    "decisions.earlier": "Earlier decisions",
    "decisions.last": "Last decisions",
    "decisions.undo.name": "Undo the decision about {title} of {date}",
    "decided.collection.dismiss": "Reports of a collection dismissed",
    "decided.collection.hide": "Collection hidden",
    "decided.dismiss": "Reports dismissed",
    "decided.hide": "Map hidden",
    "decided.delete": "Map deleted",
    "decided.disable": "Owner disabled",
    "imports": "Imports",
    "imports.hint": "Files that could not be imported, and why. A file leaves this page once it "
    "has been imported or is gone. A dismissed file comes back only if the file or the reason "
    "changes.",
    "imports.refused.one": "{count} refused file",
    "imports.refused.other": "{count} refused files",
    "imports.skipped.one": "{count} skipped file",
    "imports.skipped.other": "{count} skipped files",
    "imports.skipped.hint": "Their names could be those of maps, but they are files of other "
    "programs.",
    "imports.none": "No files were refused.",
    "imports.more.one": "and {count} more file",
    "imports.more.other": "and {count} more files",
    "imports.open.one": "{count} file",
    "imports.open.other": "{count} files",
    "imports.dismiss": "Dismiss",
    "imports.dismiss.name": "Dismiss {path}",
    "imports.dismiss.all": "Dismiss all",
    "imports.report": "The full list as a file:",
}
