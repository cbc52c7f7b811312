-- The pictures in the topics of maps, as they are in the files; digest is the SHA-256 of content.
CREATE TABLE images (
    file_id INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    digest  BLOB NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (file_id, digest)
) STRICT;

-- The maps whose outlines an older version made, which found less in their files than this one
-- does: they are read anew, one after the other. At first these are all that were read from files.
CREATE TABLE outdated (
    file_id INTEGER PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE
) STRICT;
INSERT INTO outdated SELECT DISTINCT file_id FROM sources;
