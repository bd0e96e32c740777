/** Step 24: the files that are served for a domain. */

export const HOSTED_FILES = `
CREATE TABLE hosted_files (
  domain_id TEXT NOT NULL PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  policy TEXT,
  logo TEXT,
  certificate TEXT
);
`;
