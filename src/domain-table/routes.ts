/** The operations on the table of domains. */

import { route } from '../http/route.ts';
import { listOf, listSchema } from '../http/schemas.ts';
import { csvFile } from '../http/streamed.ts';
import { isoTime } from '../lib/clock.ts';
import type { CsvColumn } from '../lib/csv.ts';
import { eachTableRow, tablePage } from './queries.ts';
import { refreshFew } from './refresh.ts';
import { TableExportQuery, TableQuery, TableRow, TagChange, TagChangeResult } from './schema.ts';
import { changeTags } from './tags.ts';

const table = route({
  method: 'GET',
  path: '/v1/domains/table',
  operation: 'getDomainTable',
  limited: true,
  role: 'member',
  summary: 'Get the table of domains',
  description:
    'Returns the domains of your team with their policy, pass rates, spam rate, placement, last change and next step, sorted and filtered. What is not known is null, never 0.',
  query: TableQuery,
  response: listSchema(TableRow),
  async handle({ app, query }) {
    await refreshFew(app);
    const { rows, hasMore } = await tablePage(app.db, query);
    return listOf(rows, hasMore);
  },
});

const exportTable = route({
  method: 'GET',
  path: '/v1/domains/export',
  operation: 'exportDomains',
  limited: true,
  role: 'member',
  summary: 'Export the table of domains',
  description: 'Returns all matching domains with the figures of the table as CSV.',
  query: TableExportQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  async handle({ app, query }) {
    await refreshFew(app);
    const name = `domains-${isoTime(app.clock.now()).slice(0, 10)}`;
    return csvFile(name, COLUMNS, eachTableRow(app.db, query));
  },
});

/** Empty cells are not known. */
const COLUMNS: CsvColumn<TableRow>[] = [
  'name',
  'state',
  ['tags', ({ tags }) => tags.join(', ')],
  ['policy', ({ policy }) => policy && (policy.p ?? 'missing')],
  ['subdomain_policy', ({ policy }) => policy?.sp ?? null],
  ['pct', ({ policy }) => policy?.pct ?? null],
  ['messages', ({ pass_rates }) => pass_rates.messages],
  ['spf', ({ pass_rates }) => pass_rates.spf],
  ['dkim', ({ pass_rates }) => pass_rates.dkim],
  ['dmarc', ({ pass_rates }) => pass_rates.dmarc],
  ['spam_rate', ({ spam_rate }) => spam_rate?.rate ?? null],
  ['spam_day', ({ spam_rate }) => spam_rate?.day ?? null],
  ['samples', ({ placement }) => placement?.samples ?? 0],
  ['inbox_rate', ({ placement }) => placement?.inbox_rate ?? null],
  ['changed_at', ({ last_change }) => last_change?.at ?? null],
  ['changed_records', ({ last_change }) => last_change?.records ?? null],
  'headline',
  ['next_step', ({ next_step }) => next_step?.text ?? null],
  'read_at',
  'id',
];

const tag = route({
  method: 'POST',
  path: '/v1/domains/tags',
  operation: 'tagDomains',
  role: 'member',
  summary: 'Change the tags of several domains',
  description:
    'Adds tags to domains, and removes others. If one of the domains does not exist or would get too many tags, none is changed.',
  body: TagChange,
  response: TagChangeResult,
  errors: ['not_found'],
  handle: (call) =>
    call.transact(async (tx) => ({
      object: 'domain_tags_change' as const,
      changed: await changeTags(tx, call, call.body),
    })),
});

export const tableOperations = { table, exportTable, tag };
