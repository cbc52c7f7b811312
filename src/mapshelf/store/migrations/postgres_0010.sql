-- Files that imports did not take, as in sqlite_0010.sql.

CREATE TABLE refusals (
    digest    bytea PRIMARY KEY,
    path      text COLLATE "C" NOT NULL,
    reason    text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL CHECK (kind IN ('refused', 'skipped')),
    modified  bigint NOT NULL,
    noted     bigint NOT NULL,
    dismissed bigint
);
