"""Words of tokens, and of programs that ask to be let in."""

from collections.abc import Mapping
from typing import Final

PROGRAMS: Final[Mapping[str, str]] = {
    "tokens": "Access tokens",
    "tokens.hint": "With a token, a program can use the API in your name. Give each program its "
    "own.",
    "tokens.present": "Your tokens",
    "token.new": "New token",
    "token.name": "Name",
    "token.name.hint": "What the token is for",
    "token.allows": "A program with this token may",
    "token.make": "Create token",
    "token.made": "Your new token",
    "token.made.hint": "Copy it now: it is not shown again.",
    "token.unnamed": "Unnamed token",
    "token.revoke": "Revoke",
    "token.revoke.name": "Revoke the token {name}",
    "programs": "Programs",
    "programs.hint": "You have allowed these programs to use your account. Once you revoke its "
    "access, a program can do nothing more in your name.",
    "programs.none": "You have not allowed any programs.",
    "program.began": "Allowed",
    "program.withdraw": "Revoke access",
    "program.withdraw.name": "Revoke the access of {name}",
    "program.device": "Connect a device",
    "consent": "Allow {name} to use your account?",
    "consent.asks": "The program {name} wants to use your account {user}. It could:",
    "consent.account": "see your username, how many maps you have, and when you registered",
    "consent.maps": "search and read every map that you can read",
    "consent.maps:write": "publish maps in your name, and change or delete your maps",
    "consent.everybody": "You are an administrator: the program could change and delete the maps "
    "of everybody.",
    "consent.never": "It does not get your password. You can revoke its access at any time on your "
    "account page.",
    "consent.unproved": "Anyone can write a program that calls itself {name}. Allow this only if "
    "you have just started it yourself.",
    "consent.to": "Afterwards, your browser goes to {place}.",
    "consent.local": "Afterwards, go back to {name}. If your browser shows an error, ignore it: "
    "everything worked.",
    "consent.other": "Not your account?",
    "consent.allow": "Allow",
    "consent.deny": "Deny",
    "device": "Connect a device",
    "device.hint": "A program on another device is showing you a code. Type it here.",
    "device.code": "Code",
    "device.continue": "Continue",
    "device.asks": "The device shows the code {code}. Allow this only if it is in front of you.",
    "scope.account": "read your profile",
    "scope.maps": "read maps",
    "scope.maps:write": "add and change maps",
    "expires": "Expires",
    "expires.never": "Never expires",
    "expired": "expired",
    "used": "Last used",
    "used.never": "Not used yet",
    "days.one": "after {count} day",
    "days.other": "after {count} days",
    "seconds.one": "{count} second",
    "seconds.other": "{count} seconds",
    "minutes.one": "{count} minute",
    "minutes.other": "{count} minutes",
}
