-- Who signs in by an OpenID provider, as in sqlite_0009.sql.

CREATE TABLE identities (
    issuer  text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    user_id bigint NOT NULL REFERENCES users (id),
    name    text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE passkeys (
    id         bytea PRIMARY KEY,
    user_id    bigint NOT NULL REFERENCES users (id),
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name       text COLLATE "C" NOT NULL,
    created    bigint NOT NULL,
    last_used  bigint
);
CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE TABLE passkey_challenges (
    digest  bytea PRIMARY KEY,
    expires bigint NOT NULL
);
CREATE INDEX passkey_challenges_expires ON passkey_challenges (expires);
