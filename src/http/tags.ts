/** The tags of tests and domains: labels by which people find, group and share them. */

import * as v from 'valibot';
import { lineOfText, maxCharacters, noDuplicates } from './schemas.ts';

export const MAX_TAGS = 10;

/** By convention, the domains of a client have a tag such as `client:acme`. */
export const CLIENT_PREFIX = 'client:';

const MAX_TAG_LENGTH = 50;

/** Tags that differ only in case, in outer space, or in the encoding of accents are the same. */
export const normalizeTag = (text: string): string => text.trim().normalize('NFC').toLowerCase();

export const Tag = v.pipe(
  lineOfText(MAX_TAG_LENGTH),
  v.regex(/^[^,]*$/, 'must not contain commas'),
  v.transform(normalizeTag),
  // Lower case can be longer.
  maxCharacters(MAX_TAG_LENGTH, `must have at most ${MAX_TAG_LENGTH} characters`),
);

export const Tags = v.pipe(
  v.array(Tag, 'must be an array of strings'),
  v.maxLength(MAX_TAGS, `must have at most ${MAX_TAGS} tags`),
  noDuplicates('is a duplicate'),
);

/** What something is limited to: null for all domains. */
export const TagLimit = v.nullable(
  v.pipe(Tags, v.minLength(1, 'must contain at least one tag; use null for all domains')),
);
