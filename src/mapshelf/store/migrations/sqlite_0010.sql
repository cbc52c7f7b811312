-- Files that imports did not take, by the SHA-256 of the path as it is shown. Those that an
-- administrator has dismissed are not told again as long as file and reason are the same.
CREATE TABLE refusals (
    digest    BLOB PRIMARY KEY,
    path      TEXT NOT NULL,
    reason    TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('refused', 'skipped')),
    modified  INTEGER NOT NULL,
    noted     INTEGER NOT NULL,
    dismissed INTEGER
) STRICT, WITHOUT ROWID;
