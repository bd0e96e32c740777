/** Schemas of the search over everything a member may see. */

import * as v from 'valibot';
import {
  described,
  exampleId,
  maxCharacters,
  named,
  queryInteger,
  Text,
  typeField,
  Url,
} from '../http/schemas.ts';

export const MAX_QUERY_LENGTH = 200;
const MAX_RESULTS = 20;

export const SearchQuery = v.strictObject({
  q: described(
    v.pipe(
      v.string('must be text'),
      v.trim(),
      v.minLength(1, 'must not be empty'),
      maxCharacters(MAX_QUERY_LENGTH, `must have at most ${MAX_QUERY_LENGTH} characters`),
    ),
    'The text to search for: a name, subject, sender, domain, address, ID or page.',
    'newsletter',
  ),
  limit: described(
    v.optional(queryInteger(1, MAX_RESULTS), '5'),
    'The maximum number of results in each group.',
  ),
});

/** In the order of the results: names and places before the many tests, and what members have before the help. */
const SEARCH_GROUPS = ['domains', 'pages', 'tests', 'help'] as const;
export type SearchGroupName = (typeof SEARCH_GROUPS)[number];

const SearchResult = named(
  'SearchResult',
  v.object({
    object: typeField('search_result'),
    id: described(
      Text,
      'The ID of the test or domain. Null for pages and help.',
      exampleId('test'),
    ),
    title: described(v.string(), 'The title to show.', 'Spring newsletter'),
    detail: described(
      Text,
      'More about it in a few words, such as the sender of a test.',
      'news@example.com',
    ),
    url: described(
      Url,
      'The page that shows it.',
      `https://mail.example.com/tests/${exampleId('test')}`,
    ),
  }),
  'A result of a search.',
);
export type SearchResult = v.InferOutput<typeof SearchResult>;

const SearchGroup = named(
  'SearchGroup',
  v.object({
    object: typeField('search_group'),
    group: described(v.picklist(SEARCH_GROUPS), 'What the results are.'),
    has_more: described(v.boolean(), 'Whether more match than `limit` allows.', false),
    data: described(v.array(SearchResult), 'The results, best first.'),
  }),
  'The results of one kind.',
);
export type SearchGroup = v.InferOutput<typeof SearchGroup>;

export const SearchResults = named(
  'SearchResults',
  v.object({
    object: typeField('search_results'),
    groups: described(
      v.array(SearchGroup),
      'The groups that have results: domains, pages, tests, then help.',
    ),
  }),
  'The results of a search, by group.',
);
