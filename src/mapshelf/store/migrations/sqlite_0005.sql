-- People who sign in: roles and passwords of users, sessions among the tokens, links that are good
-- once, and what slows down wrong passwords.

ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'member'
    CHECK (role IN ('member', 'administrator'));

-- The encoded hash, with its salt and the cost of making it.
ALTER TABLE users ADD COLUMN password TEXT;

ALTER TABLE tokens ADD COLUMN kind TEXT NOT NULL DEFAULT 'personal';

-- What tokens could do until now has two names from now on.
UPDATE tokens SET scopes = 'account maps' WHERE scopes = 'read';

CREATE INDEX tokens_expired ON tokens (expires) WHERE kind = 'session';

CREATE TRIGGER roles_changed AFTER UPDATE OF role ON users
BEGIN UPDATE token_mark SET mark = lower(hex(randomblob(16))); END;

-- digest is the SHA-256 of the secret in the address. A used link is deleted.
CREATE TABLE one_time_links (
    digest     BLOB PRIMARY KEY,
    kind       TEXT NOT NULL CHECK ((kind = 'password') = (user_id IS NOT NULL)),
    user_id    INTEGER REFERENCES users (id),
    created    INTEGER NOT NULL,
    expires    INTEGER NOT NULL,
    created_by INTEGER REFERENCES users (id)
) STRICT;
CREATE INDEX one_time_links_user ON one_time_links (user_id);

-- key is a digest of a name, an address or both; a row is forgotten a day after the first failure.
CREATE TABLE sign_in_failures (
    key   BLOB PRIMARY KEY,
    count INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_failures_first ON sign_in_failures (first);

-- The same digests of a name and an address, of people who did sign in.
CREATE TABLE known_addresses (
    key  BLOB PRIMARY KEY,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX known_addresses_last ON known_addresses (last);

-- Readers find more than before: the looks of themes, formulas, Markdown in topics.
INSERT OR IGNORE INTO outdated SELECT DISTINCT file_id FROM sources;
