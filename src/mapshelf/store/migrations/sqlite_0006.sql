-- Maps that people publish: who sees them, their tags, what people set of them, the files they had,
-- votes, and maps that were removed.

ALTER TABLE maps ADD COLUMN tags TEXT NOT NULL DEFAULT '';
ALTER TABLE maps ADD COLUMN visibility TEXT NOT NULL DEFAULT 'published'
    CHECK (visibility IN ('published', 'unlisted', 'private', 'removed'));

-- Names with blanks between them.
ALTER TABLE maps ADD COLUMN set_by_people TEXT NOT NULL DEFAULT '';

-- For the feed, which tells of them as of deleted ones, and for their owners.
CREATE INDEX maps_withdrawn ON maps (revision) WHERE visibility <> 'published';
CREATE INDEX maps_unpublished ON maps (owner_id) WHERE visibility <> 'published';

-- A map with a row here was uploaded. The content of the newest file is in the table files, so that
-- it is kept once; here it is NULL.
CREATE TABLE versions (
    file_id    INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    name       TEXT NOT NULL,
    digest     BLOB NOT NULL,
    size       INTEGER NOT NULL,
    created    INTEGER NOT NULL,
    created_by INTEGER NOT NULL REFERENCES users (id),
    content    BLOB,
    PRIMARY KEY (file_id, number)
) STRICT;
CREATE INDEX versions_digest ON versions (digest);

-- These are part of maps.thumbs_up and maps.thumbs_down; the rest of those was imported.
CREATE TABLE votes (
    file_id INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    user_id INTEGER NOT NULL REFERENCES users (id),
    value   INTEGER NOT NULL CHECK (value IN (-1, 1)),
    PRIMARY KEY (file_id, user_id)
) STRICT, WITHOUT ROWID;

-- What it takes to undo a removal: visibility is that of before.
CREATE TABLE removed (
    file_id    INTEGER PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE,
    visibility TEXT NOT NULL,
    removed    INTEGER NOT NULL,
    removed_by INTEGER NOT NULL REFERENCES users (id)
) STRICT;

-- Who uploaded a file within a day, to count uploads and to know a repeated one by its key. Refers
-- to maps without a constraint: an upload counts even if its map is gone.
CREATE TABLE uploads (
    number  INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id),
    file_id INTEGER NOT NULL,
    key     BLOB,
    created INTEGER NOT NULL
) STRICT;
CREATE INDEX uploads_user ON uploads (user_id, created);
CREATE INDEX uploads_created ON uploads (created);
