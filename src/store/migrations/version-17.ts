/** Step 17: images of tests, and whether shared links show messages. */

export const IMAGES_AND_PREVIEWS = `
ALTER TABLE shared_reports ADD COLUMN preview TEXT NOT NULL DEFAULT 'none'
  CHECK (preview IN ('none', 'without_images', 'with_images'));
CREATE INDEX tests_name ON tests (livemode, name, id) WHERE name IS NOT NULL;
CREATE TABLE image_loads (
  id           TEXT NOT NULL PRIMARY KEY REFERENCES tests (id) ON DELETE CASCADE,
  requested_at TEXT NOT NULL,
  loaded_at    TEXT,
  lease        TEXT,
  leased_until TEXT
);
CREATE TABLE test_images (
  test_id    TEXT NOT NULL REFERENCES tests (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('content', 'bimi_logo')),
  url        TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('loaded', 'tracking_pixel', 'failed')),
  reason     TEXT,
  detail     TEXT,
  media_type TEXT,
  width      INTEGER,
  height     INTEGER,
  size       INTEGER,
  bytes      BLOB,
  PRIMARY KEY (test_id, position)
);
`;
