-- Keeping order: reports, what was decided about them, accounts that were deleted, and the audit
-- log.

-- closed is when the account was deleted. closing says what becomes of its maps, until that is
-- done; then the row stays without the name, because versions of maps refer to it, and so that its
-- id is never given again.
ALTER TABLE users ADD COLUMN closed INTEGER;
ALTER TABLE users ADD COLUMN closing TEXT;
CREATE INDEX users_closing ON users (id) WHERE closing IS NOT NULL;

-- visibility and noted are what the map had before it was hidden: who saw it, and whether somebody
-- had set that. user_id is who was disabled.
CREATE TABLE decisions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    file_id    INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('hide', 'delete', 'disable', 'dismiss')),
    user_id    INTEGER REFERENCES users (id),
    visibility TEXT,
    noted      INTEGER,
    decided    INTEGER NOT NULL,
    decided_by INTEGER NOT NULL REFERENCES users (id)
) STRICT;
CREATE INDEX decisions_map ON decisions (file_id);
CREATE INDEX decisions_decided ON decisions (decided);

-- A report without a decision is open. Without user_id, its author has deleted the account.
CREATE TABLE reports (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    file_id     INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    user_id     INTEGER REFERENCES users (id),
    reason      TEXT NOT NULL,
    note        TEXT NOT NULL,
    created     INTEGER NOT NULL,
    decision_id INTEGER REFERENCES decisions (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX reports_map ON reports (file_id);
CREATE INDEX reports_user ON reports (user_id, created);
CREATE INDEX reports_decision ON reports (decision_id);

-- Who did what to what, from where. user_id refers to users without a constraint: names stay as
-- they were. What is repeated within an hour is counted in one row.
CREATE TABLE audit (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,
    event     TEXT NOT NULL,
    user_id   INTEGER,
    user_name TEXT NOT NULL,
    target    TEXT NOT NULL,
    address   TEXT NOT NULL,
    count     INTEGER NOT NULL,
    last      INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_user ON audit (user_id, id);
CREATE INDEX audit_failures ON audit (id) WHERE event = 'sign_in.failed';
CREATE INDEX audit_repeated ON audit (event, address, target, at);

CREATE INDEX votes_user ON votes (user_id);
