/** The page with the results of a search, for a link, and for browsers without scripts. */

import * as v from 'valibot';
import { oneLine } from '../../report/blocks.ts';
import { searchRoute } from '../../search/routes.ts';
import { MAX_QUERY_LENGTH, type SearchGroup, type SearchGroupName } from '../../search/schema.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { pathWith } from '../frame/table.tsx';

const PATH = '/search';
const LIMIT = '20';

const TITLES: Record<SearchGroupName, string> = {
  domains: 'Domains',
  pages: 'Pages',
  tests: 'Tests',
  help: 'Help',
};
/** The lists that show all results. */
const LISTS: Partial<Record<SearchGroupName, string>> = { tests: '/tests', domains: '/domains' };

export const searchPages = [
  page({
    path: PATH,
    operation: 'showSearch',
    limited: true,
    role: 'viewer',
    summary: 'Search',
    query: v.strictObject({ q: v.optional(v.string()) }),
    handle: (call) => renderSearch(call, call.query.q ?? ''),
  }),
];

async function renderSearch(call: PageCall, text: string) {
  const q = [...text.trim()].slice(0, MAX_QUERY_LENGTH).join('');
  const query = { q, limit: LIMIT };
  const { groups } = q === '' ? { groups: [] } : await call.invoke(searchRoute, { query });
  const appUrl = call.app.config.APP_URL.replace(/\/$/, '');
  return appPage(call, {
    title: 'Search',
    section: null,
    path: pathWith(PATH, { q: q || undefined }),
    calls: [{ route: searchRoute, query: { ...query, q: q || 'newsletter' } }],
    children: (
      <>
        <search>
          <form action={PATH} class="filters">
            <div class="field grow">
              <label for="q">Search for</label>
              <input
                id="q"
                name="q"
                value={q}
                maxLength={MAX_QUERY_LENGTH}
                autocomplete="off"
                enterkeyhint="search"
              />
            </div>
            <button type="submit" class="button">
              Search
            </button>
          </form>
        </search>
        {q === '' && (
          <p class="muted">
            Finds domains, pages and help, and tests by name, subject, sender, address or ID.
          </p>
        )}
        {q !== '' && groups.length === 0 && (
          <EmptyState title={`No results for “${oneLine(q, 80)}”`}>
            Check the spelling, or search for a part of a name, subject or domain.
          </EmptyState>
        )}
        {groups.map((group) => (
          <Results key={group.group} group={group} q={q} appUrl={appUrl} />
        ))}
      </>
    ),
  });
}

interface ResultsProps {
  group: SearchGroup;
  q: string;
  appUrl: string;
}

function Results({ group: { group, data, has_more }, q, appUrl }: ResultsProps) {
  const list = LISTS[group];
  return (
    <Card title={TITLES[group]} id={`results-${group}`}>
      <ul class="results">
        {data.map(({ title, detail, url }) => (
          <li key={url}>
            <a href={url.slice(appUrl.length)}>
              <bdi>{oneLine(title, 200)}</bdi>
            </a>
            {detail !== null && (
              <span class="row-note">
                <bdi>{oneLine(detail, 200)}</bdi>
              </span>
            )}
          </li>
        ))}
      </ul>
      {has_more && (
        <p class="small muted">
          {list === undefined ? (
            'There are more. Add another word.'
          ) : (
            <a href={pathWith(list, { q })}>All matching {group}</a>
          )}
        </p>
      )}
    </Card>
  );
}
