-- Who signs in by an OpenID provider. The issuer never gives a subject to another; the name is only
-- shown.
CREATE TABLE identities (
    issuer  TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id INTEGER NOT NULL REFERENCES users (id),
    name    TEXT NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_user ON identities (user_id);

-- Passkeys (WebAuthn). public_key is in COSE.
CREATE TABLE passkeys (
    id         BLOB PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES users (id),
    public_key BLOB NOT NULL,
    sign_count INTEGER NOT NULL,
    name       TEXT NOT NULL,
    created    INTEGER NOT NULL,
    last_used  INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_user ON passkeys (user_id);

-- What authenticators were asked to sign, as digests; deleted when it is used.
CREATE TABLE passkey_challenges (
    digest  BLOB PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_challenges_expires ON passkey_challenges (expires);
