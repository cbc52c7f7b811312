-- Reports of collections, and what was decided about them. visibility is who saw a collection before
-- it was hidden. A transfer writes rows again, so their ids are no numbers.
CREATE TABLE collection_decisions (
    id            TEXT PRIMARY KEY,
    collection_id TEXT NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    kind          TEXT NOT NULL CHECK (kind IN ('hide', 'dismiss')),
    visibility    TEXT NOT NULL,
    decided       INTEGER NOT NULL,
    decided_by    INTEGER NOT NULL REFERENCES users (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX collection_decisions_collection ON collection_decisions (collection_id);
CREATE INDEX collection_decisions_decided ON collection_decisions (decided);

-- A report without a decision is open. Without user_id, its author has deleted the account.
CREATE TABLE collection_reports (
    id            TEXT PRIMARY KEY,
    collection_id TEXT NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    user_id       INTEGER REFERENCES users (id),
    reason        TEXT NOT NULL,
    note          TEXT NOT NULL,
    created       INTEGER NOT NULL,
    decision_id   TEXT REFERENCES collection_decisions (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX collection_reports_collection ON collection_reports (collection_id);
CREATE INDEX collection_reports_user ON collection_reports (user_id, created);
CREATE INDEX collection_reports_decision ON collection_reports (decision_id);
