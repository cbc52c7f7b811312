-- Pictures, links, and the maps to be read anew, as in sqlite_0004.sql.

CREATE TABLE images (
    file_id bigint NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    digest  bytea NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (file_id, digest)
);
ALTER TABLE images ALTER COLUMN content SET STORAGE EXTERNAL;

-- A name has no more than 255 characters, a target may have more than an index entry can.
CREATE TABLE links (
    file_id bigint NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    number  bigint NOT NULL,
    topic   text COLLATE "C" NOT NULL,
    target  text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    PRIMARY KEY (file_id, number)
);
CREATE INDEX links_name ON links (name);
CREATE INDEX sources_file ON sources (lower(substring(right(name, 255) FROM '[^/]*$')));

CREATE TABLE outdated (
    file_id bigint PRIMARY KEY
);

-- Nodes of older versions go on writing outlines. A session says which format its own have.
CREATE FUNCTION note_old_outline() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT
AS $$ BEGIN
    INSERT INTO outdated VALUES (new.file_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER outlines_written AFTER INSERT OR UPDATE OF outline ON outlines FOR EACH ROW
    WHEN (coalesce(nullif(current_setting('mapshelf.outline', true), ''), '0')::integer < 4)
    EXECUTE FUNCTION note_old_outline();

-- Not checked now, because that takes long while others wait to write. A row of a map that is gone
-- does no harm.
INSERT INTO outdated SELECT DISTINCT file_id FROM sources;
ALTER TABLE outdated ADD FOREIGN KEY (file_id) REFERENCES maps ON DELETE CASCADE NOT VALID;
