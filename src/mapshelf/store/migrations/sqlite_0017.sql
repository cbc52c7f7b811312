-- More of what programs show on the canvas is read from files now: numbers, details, attributes,
-- hidden lines and the places of callouts.
INSERT OR IGNORE INTO outdated SELECT file_id FROM files;
