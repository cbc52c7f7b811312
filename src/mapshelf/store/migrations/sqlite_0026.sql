-- Places that files have left follow a folder that is somewhere else now, by their paths
-- (``store/former_places.py``). The paths of earlier ones are not known.
ALTER TABLE former_places ADD COLUMN path BLOB NOT NULL DEFAULT x'';
