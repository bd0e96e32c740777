/** Finds what a member may see: domains, pages, tests of their mode, and the help. */

import type { App } from '../app.ts';
import { searchDomains } from '../domains/queries.ts';
import { searchHelp } from '../help/chapters.ts';
import { type Actor, allows } from '../http/actor.ts';
import { type FoundTest, searchTests } from '../mailtests/search.ts';
import { matching, PAGES } from './pages.ts';
import type { SearchGroup, SearchGroupName, SearchResult } from './schema.ts';

interface Search {
  q: string;
  /** The maximum number of results in each group. */
  limit: number;
}

/** The groups with results, those of `SEARCH_GROUPS` in their order. */
export async function search(
  { db, config }: Pick<App, 'db' | 'config'>,
  { role, livemode, tags }: Actor,
  { q, limit }: Search,
): Promise<SearchGroup[]> {
  const base = config.APP_URL.replace(/\/$/, '');
  // One more shows that there are more.
  const max = limit + 1;
  const tests = await searchTests(db, livemode, q, max);
  const domains = allows(role, 'member') ? await searchDomains(db, q, max) : [];
  const pages = PAGES.filter(
    (page) => allows(role, page.role) && (tags === null || !page.wholeTeam),
  );
  const groups: [SearchGroupName, Found[]][] = [
    [
      'domains',
      domains.map(({ id, name }) => ({ id, title: name, detail: null, path: `/domains/${id}` })),
    ],
    [
      'pages',
      matching(pages, q).map(({ title, path }) => ({ id: null, title, detail: null, path })),
    ],
    ['tests', tests.map((test) => presentTest(test, config.INBOX_DOMAIN))],
    ['help', searchHelp(q).map((entry) => ({ id: null, ...entry }))],
  ];
  return groups
    .filter(([, found]) => found.length > 0)
    .map(([group, found]) => ({
      object: 'search_group',
      group,
      has_more: found.length > limit,
      data: found
        .slice(0, limit)
        .map(({ path, ...result }) => ({ object: 'search_result', ...result, url: base + path })),
    }));
}

type Found = Omit<SearchResult, 'object' | 'url'> & { path: string };

function presentTest(test: FoundTest, inboxDomain: string): Found {
  const { id, name, subject, from_address, score, grade, token } = test;
  const title = name?.trim() || subject?.trim() || `${token}@${inboxDomain}`;
  const details = [
    from_address,
    name === null ? null : subject,
    score === null ? null : `${Math.round(score)}${grade === null ? '' : ` (${grade})`}`,
  ].filter((detail) => detail !== null && detail !== '');
  return { id, title, detail: details.join(' · ') || null, path: `/tests/${id}` };
}
