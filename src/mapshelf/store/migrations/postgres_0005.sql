-- People who sign in, as in sqlite_0005.sql.

ALTER TABLE users
    ADD COLUMN role text COLLATE "C" NOT NULL DEFAULT 'member'
        CHECK (role IN ('member', 'administrator')),
    ADD COLUMN password text COLLATE "C";

ALTER TABLE tokens ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'personal';
CREATE INDEX tokens_expired ON tokens (expires) WHERE kind = 'session';

CREATE CONSTRAINT TRIGGER roles_changed AFTER UPDATE OF role ON users
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.role IS DISTINCT FROM new.role)
    EXECUTE FUNCTION change_token_mark();

CREATE TABLE one_time_links (
    digest     bytea PRIMARY KEY,
    kind       text COLLATE "C" NOT NULL CHECK ((kind = 'password') = (user_id IS NOT NULL)),
    user_id    bigint REFERENCES users (id),
    created    bigint NOT NULL,
    expires    bigint NOT NULL,
    created_by bigint REFERENCES users (id)
);
CREATE INDEX one_time_links_user ON one_time_links (user_id);

CREATE TABLE sign_in_failures (
    key   bytea PRIMARY KEY,
    count bigint NOT NULL,
    first bigint NOT NULL,
    last  bigint NOT NULL
);
CREATE INDEX sign_in_failures_first ON sign_in_failures (first);

CREATE TABLE known_addresses (
    key  bytea PRIMARY KEY,
    last bigint NOT NULL
);
CREATE INDEX known_addresses_last ON known_addresses (last);

-- Nodes of older versions go on adding tokens that may 'read', which means the same. A migration
-- that follows in this transaction could not change the table while triggers wait for its end.
UPDATE tokens SET scopes = 'account maps' WHERE scopes = 'read';
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;

INSERT INTO outdated SELECT DISTINCT file_id FROM sources ON CONFLICT DO NOTHING;
