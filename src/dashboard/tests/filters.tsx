/** The filters of the list of tests: in the URL, as a form, and as parameters of the API. */

import * as v from 'valibot';
import type { App } from '../../app.ts';
import { findDomainIdByName, listDomainNames, readDomainNames } from '../../domains/names.ts';
import { isoTime } from '../../lib/clock.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { listTags } from '../../mailtests/tags.ts';
import { Filters } from '../frame/filters.tsx';
import type { FieldErrors } from '../frame/form.tsx';
import { Select, TextField } from '../frame/form.tsx';

export const TESTS_PATH = '/tests';

/** `domain_id`, `from_domain`, `from_address` and `name` are those of the API, for links from other pages. */
export const FilterQuery = {
  status: v.optional(v.string()),
  domain: v.optional(v.string()),
  domain_id: v.optional(v.string()),
  from_domain: v.optional(v.string()),
  from_address: v.optional(v.string()),
  name: v.optional(v.string()),
  score: v.optional(v.string()),
  tag: v.optional(v.string()),
  period: v.optional(v.string()),
  q: v.optional(v.string()),
};

/** What the fields of the form contain; undefined for no choice. */
export type FilterValues = Partial<
  Record<'status' | 'domain' | 'from_address' | 'name' | 'score' | 'tag' | 'period' | 'q', string>
>;

/** The parameters of the API. */
export type ApiFilters = Partial<
  Record<
    | 'status'
    | 'domain_id'
    | 'from_domain'
    | 'from_address'
    | 'name'
    | 'min_score'
    | 'max_score'
    | 'tag'
    | 'created_after'
    | 'q',
    string
  >
>;

type Option = [value: string, text: string];

const STATUSES: Option[] = [
  ['', 'Any status'],
  ['completed', 'Completed'],
  ['waiting', 'Waiting for mail'],
  ['processing', 'Analyzing'],
  ['failed', 'Failed'],
];

interface ScoreRange {
  text: string;
  min?: string;
  max?: string;
}

/** The grades: `analysis/grade.ts`. */
const SCORES: Record<string, ScoreRange> = {
  '90-100': { text: '90–100', min: '90' },
  '70-89': { text: '70–89', min: '70', max: '89' },
  'below-70': { text: 'Below 70', max: '69' },
};

interface Period {
  text: string;
  hours: number;
}

const PERIODS: Record<string, Period> = {
  '24h': { text: 'Last 24 hours', hours: 24 },
  '7d': { text: 'Last 7 days', hours: 7 * 24 },
  '30d': { text: 'Last 30 days', hours: 30 * 24 },
  '90d': { text: 'Last 90 days', hours: 90 * 24 },
};

const entryOf = <T,>(entries: Record<string, T>, name: string | undefined): T | undefined =>
  name !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined;

type UrlQuery = { [Name in keyof typeof FilterQuery]?: string };

/**
 * Reads the filters of a URL. Unknown choices are ignored, because a link may come from another version. A domain is
 * one of the team's if it has that name, else a From domain.
 */
export async function readFilters(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  query: UrlQuery,
): Promise<{ values: FilterValues; api: ApiFilters }> {
  const status = STATUSES.some(([value]) => value === query.status) ? query.status : undefined;
  const score = entryOf(SCORES, query.score);
  const period = entryOf(PERIODS, query.period);
  const { domain, ...domainFilter } = await readDomain(db, query);
  const [q, tag] = [query.q?.trim(), query.tag?.trim()];
  // Empty in the form of a reader who clears the field.
  const exact = { from_address: query.from_address || undefined, name: query.name || undefined };
  return {
    values: {
      status: status || undefined,
      domain,
      ...exact,
      score: score && query.score,
      tag: tag || undefined,
      period: period && query.period,
      q: q || undefined,
    },
    api: {
      status: status || undefined,
      ...domainFilter,
      ...exact,
      min_score: score?.min,
      max_score: score?.max,
      tag: tag || undefined,
      created_after: period && isoTime(clock.now() - period.hours * HOUR_MS),
      q: q || undefined,
    },
  };
}

async function readDomain(
  db: App['db'],
  { domain, domain_id, from_domain }: UrlQuery,
): Promise<{ domain?: string; domain_id?: string; from_domain?: string }> {
  if (domain_id) {
    const name = (await readDomainNames(db, [domain_id])).get(domain_id);
    return { domain: name ?? domain_id, domain_id };
  }
  const text = (domain || from_domain)?.trim();
  if (!text) return {};
  // An ID, from the link of a domain that has been deleted.
  if (text.startsWith('dom_')) return { domain: text, domain_id: text };
  const name = normalizeDomain(text);
  const id = name === null || !domain ? undefined : await findDomainIdByName(db, name);
  return id === undefined ? { domain: text, from_domain: text } : { domain: text, domain_id: id };
}

/** The fields of the form by the parameters of the API, for error messages. */
export const FILTER_LABELS = { q: 'search text', from_domain: 'domain', tag: 'tag' };

const MAX_SUGGESTIONS = 100;

export interface Suggestions {
  domains: string[];
  tags: string[];
}

export async function readSuggestions(db: App['db'], livemode: boolean): Promise<Suggestions> {
  const domains = await listDomainNames(db, MAX_SUGGESTIONS);
  return { domains, tags: await listTags(db, livemode, MAX_SUGGESTIONS) };
}

/** The lists that the fields `domain` and `tag` suggest. */
export function SuggestionLists({ domains, tags }: Suggestions) {
  return (
    <>
      <datalist id="domain-names">
        {domains.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id="tag-names">
        {tags.map((tag) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
    </>
  );
}

interface FilterFormProps {
  values: FilterValues;
  errors: FieldErrors;
  suggestions: Suggestions;
}

export function FilterForm({ values, errors, suggestions }: FilterFormProps) {
  const choicesOf = (none: string, entries: Record<string, { text: string }>): Option[] => [
    ['', none],
    ...Object.entries(entries).map(([value, { text }]): Option => [value, text]),
  ];
  return (
    <Filters path={TESTS_PATH} active={Object.values(values).some(Boolean)}>
      <TextField
        name="q"
        label="Name, subject or sender"
        type="search"
        value={values.q}
        error={errors.q}
        grow
      />
      <Select name="status" label="Status" options={STATUSES} value={values.status} />
      <Select
        name="score"
        label="Score"
        options={choicesOf('Any score', SCORES)}
        value={values.score}
      />
      <Select
        name="period"
        label="Period"
        options={choicesOf('Any time', PERIODS)}
        value={values.period}
      />
      <TextField
        name="domain"
        label="Domain"
        value={values.domain}
        error={errors.from_domain}
        list="domain-names"
      />
      {values.name && <TextField name="name" label="Name" value={values.name} />}
      {values.from_address && (
        <TextField name="from_address" label="Sender" value={values.from_address} />
      )}
      <TextField name="tag" label="Tag" value={values.tag} error={errors.tag} list="tag-names" />
      <SuggestionLists {...suggestions} />
    </Filters>
  );
}
