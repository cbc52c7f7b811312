"""Messages of signing in, accounts, passwords and sessions."""

from collections.abc import Mapping
from typing import Final

PEOPLE: Final[Mapping[str, str]] = {
    "account": "Account",
    "account.back": "Back to the account",
    "account.maps": "My maps",
    "account.look": "Browse maps",
    "signin": "Sign in",
    "signin.provider": "Sign in with {name}",
    "signin.password": "Sign in with a password",
    "signin.forgotten": "Forgot your password? An administrator can give you a link to choose a "
    "new one.",
    "signin.new": "No account yet?",
    "signout": "Sign out",
    "signout.as": "You are signed in as",
    "signout.proxy": "The server in front of this catalogue signs you in. To sign out, sign out "
    "there.",
    "register": "Register",
    "register.known": "Already have an account?",
    "user.name": "Username",
    "user.name.hint": "Others see it on your maps.",
    "user.role": "Role",
    "user.registered": "Registered",
    "role.member": "Member",
    "role.administrator": "Administrator",
    "password": "Password",
    "password.choose": "Choose a password",
    "password.of": "For the account",
    "password.change": "Change password",
    "password.first.hint": "You have no password yet. With one, you have a second way to sign in. "
    "You can choose it within 15 minutes of signing in.",
    "password.proxy": "The server in front of this catalogue signs you in, so you need no "
    "password.",
    "password.change.hint": "This signs you out everywhere else. Your tokens, programs, passkeys "
    "and linked accounts keep working unless you tick a box below.",
    "password.ending": "If someone else may know your password",
    "password.ending.programs": "Revoke my tokens and programs",
    "password.ending.programs.hint": "All tokens, your feed address and every program you have "
    "allowed. You can allow programs again later.",
    "password.ending.ways": "Remove my passkeys and linked accounts",
    "password.ending.ways.hint": "Afterwards, only the new password signs you in.",
    "password.present": "Current password",
    "password.new": "New password",
    "password.again": "Repeat the new password",
    "password.again.first": "Repeat the password",
    "password.hint": "At least 10 characters. A few unrelated words work well.",
    "password.save": "Save",
    "password.short": "This password is too short: it needs at least 10 characters.",
    "password.long": "This password is too long: it can have at most 200 characters.",
    "password.text": "This password contains characters that cannot be used. Choose another.",
    "password.name": "This password is too similar to your username. Choose another.",
    "password.common": "This password is too common, so it would be guessed first. Choose another.",
    "password.differ": "The two passwords do not match. Type both again.",
    "sessions": "Where you are signed in",
    "sessions.hint": "A session ends 30 days after you sign in. If you do not recognise one, end "
    "it and change your password.",
    "sessions.end": "End all other sessions",
    "session.unnamed": "Unknown browser",
    "session.present": "this browser",
    "session.began": "Signed in",
    "session.end": "End",
    "session.end.name": "End the session {name}",
    "identities": "Accounts elsewhere",
    "identities.hint": "Link your {name} account to sign in with it.",
    "identities.none": "No account is linked.",
    "identity.since": "Linked",
    "identity.link": "Link your {name} account",
    "identity.leaving": "Continue to {name}",
    "identity.unlink": "Unlink",
    "identity.unlink.name": "Unlink the account {name}",
    "passkeys": "Passkeys",
    "passkeys.hint": "A passkey signs you in with the lock of your device or with a security key, "
    "instead of a password.",
    "passkeys.script": "Adding a passkey needs JavaScript. Allow it for this site.",
    "passkey.since": "Added",
    "passkey.name": "Name",
    "passkey.name.hint": "Where it is kept: your phone, your computer, a security key",
    "passkey.add": "Add a passkey",
    "passkey.remove": "Remove",
    "passkey.remove.name": "Remove the passkey {name}",
    "signin.passkey": "Sign in with a passkey",
    "feeds": "Feeds",
    "feeds.hint": "A feed reader cannot sign in. Give it this secret address instead. Anyone who "
    "has it can read your feeds, so keep it to yourself. It gives access to lists of maps and "
    "nothing else.",
    "feeds.public": "This catalogue is public, so you need this address only for feeds of private "
    "collections.",
    "feeds.lists": "This address lists all maps. For another list, add the part after the question "
    "mark in the address of its feed, for example {example}?query=garden",
    "feeds.others": "Collections and saved searches have feeds of their own: {collection} and "
    "{search}. You find the ID in the address of the usual feed.",
    "feeds.present": "Your address",
    "feeds.none": "You have no address yet.",
    "feeds.made": "Your new address",
    "feeds.made.hint": "Copy it now: it is not shown again. Any address you had before has stopped "
    "working.",
    "feeds.make": "Create an address",
    "feeds.renew": "Replace the address",
    "feeds.withdraw": "Delete the address",
    "feeds.since": "Created",
    "account.export": "Export your data",
    "account.export.hint": "A zip file with everything kept about you: your maps and their files, "
    "your votes, reports, collections and saved searches, the names of your tokens and programs, "
    "where you are signed in, and what was logged about you in the last 90 days.",
    "account.export.button": "Download your data",
    "account.delete": "Delete account",
    "account.delete.hint": "This cannot be undone. You are signed out everywhere, your tokens and "
    "programs stop working, and your votes, collections and saved searches are deleted.",
    "account.delete.maps": "What should happen to the maps you uploaded?",
    "account.delete.remove": "Delete them, too",
    "account.delete.pass_on": "Keep them, owned by “system” instead of you",
    "account.delete.folders": "Maps that an operator imported for you are kept, owned by “system”. "
    "If there are any, nobody else can register your name.",
    "account.delete.young": "You have no password here, so this works only within 15 minutes of "
    "signing in. If you have been signed in for longer, sign out and in again first.",
    "account.delete.button": "Delete my account",
    "account.deleted": "Your account has been deleted",
    "account.deleted.hint": "If you had many maps, the last of them will be gone within minutes.",
    "account.young": "To add a way to sign in, sign out and in again first.",
    "provider.away": "{name} is not answering. Try again soon, or sign in with a password.",
    "provider.denied": "{name} did not sign you in.",
    "provider.attempt": "Signing in with {name} took too long or was started in another browser. "
    "Your browser must accept cookies from this site. Try again.",
    "provider.failed": "Signing in with {name} failed, because its answer could not be used. Try "
    "again. If it keeps happening, tell an administrator.",
    "provider.unlinked": "No account here is linked to your {name} account. If you have one here, "
    "sign in with your password and link the two on your account page.",
    "provider.taken": "This {name} account is already linked to another account.",
    "provider.disabled": "You cannot use this account now. Ask an administrator.",
    "proxy.unlinked": "There is no account with your username. Ask an administrator for one.",
    "proxy.unusable": "Nobody can have an account with your username here. Ask an administrator.",
    "proxy.disabled": "You cannot use this account now. Ask an administrator.",
}
