-- Lists of maps that people put in order. pinned is when an administrator pinned one to the first
-- page. A transfer writes rows again, so positions are no key.
CREATE TABLE collections (
    id         TEXT PRIMARY KEY,
    owner_id   INTEGER NOT NULL REFERENCES users (id),
    title      TEXT NOT NULL,
    text       TEXT NOT NULL,
    visibility TEXT NOT NULL CHECK (visibility IN ('published', 'unlisted', 'private')),
    created    INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    pinned     INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX collections_owner ON collections (owner_id);
CREATE INDEX collections_listed ON collections (visibility, changed);
CREATE INDEX collections_pinned ON collections (pinned) WHERE pinned IS NOT NULL;

CREATE TABLE collected_maps (
    collection_id TEXT NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    file_id       INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    PRIMARY KEY (collection_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX collected_maps_map ON collected_maps (file_id);
