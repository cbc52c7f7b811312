"""Words of signing in, accounts, passwords and sessions."""

from collections.abc import Mapping
from typing import Final

PEOPLE: Final[Mapping[str, str]] = {
    "account": "Account",
    "account.back": "Back to the account",
    "account.maps": "My maps",
    "account.look": "Look around",
    "signin": "Sign in",
    "signin.provider": "Sign in with {name}",
    "signin.password": "Sign in with a password",
    "signin.forgotten": "Have you forgotten your password? An administrator can give you a link to "
    "choose another.",
    "signin.new": "Do you have no account yet?",
    "signout": "Sign out",
    "signout.as": "You are signed in as",
    "signout.proxy": "The server in front of this catalogue signs you in. To sign out, sign out "
    "there.",
    "register": "Register",
    "register.known": "Do you have an account already?",
    "user.name": "Username",
    "user.name.hint": "Others see it on your maps.",
    "user.role": "Role",
    "user.registered": "Registered",
    "role.member": "Member",
    "role.administrator": "Administrator",
    "password": "Password",
    "password.choose": "Choose a password",
    "password.of": "For the account",
    "password.change": "Change the password",
    "password.first.hint": "You have no password yet. With one, you can sign in in another "
    "way, too. This takes a session that has begun within 15 minutes.",
    "password.proxy": "The server in front of this catalogue signs you in, so you need no "
    "password.",
    "password.change.hint": "You are signed out everywhere else. Tokens, programs that you let in, "
    "passkeys and linked accounts stay good, unless you choose otherwise here.",
    "password.ending": "Does somebody else know your password? Then end this, too",
    "password.ending.programs": "Sign out programs and remove my tokens",
    "password.ending.programs.hint": "All tokens, the address of your feeds, and all programs that "
    "you have let in. You can let them in again.",
    "password.ending.ways": "Remove my passkeys and linked accounts",
    "password.ending.ways.hint": "Then you sign in with the new password only.",
    "password.present": "Present password",
    "password.new": "New password",
    "password.again": "The new password again",
    "password.hint": "At least 10 characters. A few words that do not belong together are good.",
    "password.save": "Save",
    "password.short": "This password is too short: it needs at least 10 characters.",
    "password.long": "This password is too long: it can have at most 200 characters.",
    "password.text": "This password has characters that are not text. Choose another.",
    "password.name": "This password is too much like the username. Choose another.",
    "password.common": "Many people use this password, so it is guessed first. Choose another.",
    "password.differ": "The two new passwords are not the same. Type both again.",
    "sessions": "Where you are signed in",
    "sessions.hint": "A session ends 30 days after signing in. End those that you do not know, and "
    "change your password then.",
    "sessions.end": "End all other sessions",
    "session.unnamed": "Unknown browser",
    "session.present": "this one",
    "session.began": "Since",
    "session.end": "End",
    "session.end.name": "End the session {name}",
    "identities": "Accounts elsewhere",
    "identities.hint": "You can sign in here with an account of {name}, once it is linked.",
    "identities.none": "No account is linked.",
    "identity.since": "Linked",
    "identity.link": "Link an account of {name}",
    "identity.leaving": "Go on to {name}",
    "identity.unlink": "Unlink",
    "identity.unlink.name": "Unlink the account {name}",
    "passkeys": "Passkeys",
    "passkeys.hint": "With a passkey you sign in by the lock of your device, or by a security key, "
    "instead of a password.",
    "passkeys.script": "To add a passkey, allow this site to run scripts.",
    "passkey.since": "Added",
    "passkey.name": "Name",
    "passkey.name.hint": "Where it is: your phone, your computer, a key",
    "passkey.add": "Add a passkey",
    "passkey.remove": "Remove",
    "passkey.remove.name": "Remove the passkey {name}",
    "signin.passkey": "Sign in with a passkey",
    "feeds": "Feeds",
    "feeds.hint": "A feed reader cannot sign in. Give it an address of your own: it lets in "
    "whoever has it, so keep it to yourself. It shows lists of maps, and opens nothing else.",
    "feeds.public": "This catalogue is public, so only feeds of private collections need such an "
    "address.",
    "feeds.lists": "The address has all maps. For another list, add what stands after the question "
    "mark in the address of its feed, for example {example}?query=garden",
    "feeds.others": "The feeds of a collection and of a saved search have addresses like "
    "{collection} and {search}, with the ID in the address of its other feed.",
    "feeds.present": "Your address",
    "feeds.none": "You have no address yet.",
    "feeds.made": "Your new address",
    "feeds.made.hint": "Copy it now: it is not shown again. An address that you had before does "
    "not work any longer.",
    "feeds.make": "Make an address",
    "feeds.renew": "Make a new address",
    "feeds.withdraw": "Withdraw the address",
    "feeds.since": "Made",
    "account.export": "Export your data",
    "account.export.hint": "A zip file with all that is kept of you: your maps and their files, "
    "your votes, reports, collections and saved searches, the names of your tokens and programs, "
    "where you are signed in, and what was noted of what you did within 90 days.",
    "account.export.button": "Download your data",
    "account.delete": "Delete the account",
    "account.delete.hint": "This cannot be undone. You are signed out everywhere, and your tokens "
    "and programs stop working. Your votes are taken back, and your collections and saved searches "
    "are deleted.",
    "account.delete.maps": "What becomes of the maps that you uploaded?",
    "account.delete.remove": "They are deleted, too",
    "account.delete.pass_on": "They stay, and belong to “system” instead of you",
    "account.delete.folders": "Maps that an operator imported for you stay, and belong to "
    "“system”.",
    "account.delete.young": "You have no password here. Sign out and in again first, if you have "
    "been signed in for more than 15 minutes.",
    "account.delete.button": "Delete my account",
    "account.deleted": "Your account is deleted",
    "account.deleted.hint": "If there were many maps, the rest of them follows within minutes.",
    "account.young": "To add a way to sign in, sign out and in again first.",
    "provider.away": "{name} does not answer at the moment. Try again soon, or sign in with a "
    "password.",
    "provider.denied": "{name} did not let you in.",
    "provider.attempt": "Signing in with {name} took too long, or was begun in another browser. "
    "Your browser must accept the cookies of this site. Try once more.",
    "provider.failed": "Signing in with {name} went wrong: its answer cannot be used. Try once "
    "more; if it happens again, tell an administrator.",
    "provider.unlinked": "No account here is linked to the one of {name}. If you have an account, "
    "sign in with your password, and link the other one on the page of your account.",
    "provider.taken": "Another account is linked to this one of {name} already.",
    "provider.disabled": "You cannot use this account now. Ask an administrator.",
    "proxy.unlinked": "There is no account with your username. Ask an administrator for one.",
    "proxy.disabled": "You cannot use this account now. Ask an administrator.",
}
