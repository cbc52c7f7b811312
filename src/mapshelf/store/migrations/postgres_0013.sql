-- Lists of maps that people put in order, as in sqlite_0013.sql.

CREATE TABLE collections (
    id         text COLLATE "C" PRIMARY KEY,
    owner_id   bigint NOT NULL REFERENCES users (id),
    title      text COLLATE "C" NOT NULL,
    text       text COLLATE "C" NOT NULL,
    visibility text COLLATE "C" NOT NULL CHECK (visibility IN ('published', 'unlisted', 'private')),
    created    bigint NOT NULL,
    changed    bigint NOT NULL,
    pinned     bigint
);
CREATE INDEX collections_owner ON collections (owner_id);
CREATE INDEX collections_listed ON collections (visibility, changed);
CREATE INDEX collections_pinned ON collections (pinned) WHERE pinned IS NOT NULL;

CREATE TABLE collected_maps (
    collection_id text COLLATE "C" NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    file_id       bigint NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    position      bigint NOT NULL,
    PRIMARY KEY (collection_id, file_id)
);
CREATE INDEX collected_maps_map ON collected_maps (file_id);
