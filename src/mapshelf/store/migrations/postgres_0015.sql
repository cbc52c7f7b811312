-- Reports of collections, and what was decided about them, as in sqlite_0015.sql.

CREATE TABLE collection_decisions (
    id            text COLLATE "C" PRIMARY KEY,
    collection_id text COLLATE "C" NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    kind          text COLLATE "C" NOT NULL CHECK (kind IN ('hide', 'dismiss')),
    visibility    text COLLATE "C" NOT NULL,
    decided       bigint NOT NULL,
    decided_by    bigint NOT NULL REFERENCES users (id)
);
CREATE INDEX collection_decisions_collection ON collection_decisions (collection_id);
CREATE INDEX collection_decisions_decided ON collection_decisions (decided);

CREATE TABLE collection_reports (
    id            text COLLATE "C" PRIMARY KEY,
    collection_id text COLLATE "C" NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    user_id       bigint REFERENCES users (id),
    reason        text COLLATE "C" NOT NULL,
    note          text COLLATE "C" NOT NULL,
    created       bigint NOT NULL,
    decision_id   text COLLATE "C" REFERENCES collection_decisions (id) ON DELETE CASCADE
);
CREATE INDEX collection_reports_collection ON collection_reports (collection_id);
CREATE INDEX collection_reports_user ON collection_reports (user_id, created);
CREATE INDEX collection_reports_decision ON collection_reports (decision_id);
