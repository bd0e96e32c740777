/** Step 24: since when an account at a receiver has its access. */

export const RECEIVER_ACCESS = `
ALTER TABLE receivers ADD COLUMN access TEXT;
ALTER TABLE receivers ADD COLUMN access_since TEXT;
ALTER TABLE receivers ADD COLUMN state TEXT;
`;
