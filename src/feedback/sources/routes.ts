/** Operations on sources, and the advice on the policy. */

import * as v from 'valibot';
import { findDomain } from '../../domains/queries.ts';
import { STOPPED_NAMES } from '../../figures/dmarc.ts';
import { route } from '../../http/route.ts';
import { described, listOf, listSchema } from '../../http/schemas.ts';
import { csvFile } from '../../http/streamed.ts';
import type { CsvColumn } from '../../lib/csv.ts';
import { AppError } from '../../lib/errors.ts';
import { audit } from '../../team/audit.ts';
import { AUDITED_SOURCE } from '../audited.ts';
import { SummaryQuery } from '../schemas/period.ts';
import { exportName, lastDays, periodOf } from '../sums.ts';
import { adviceFor } from './advice-of.ts';
import { listSources, matchingSources } from './list.ts';
import { presentAdvice, presentDetails, presentSource } from './present.ts';
import { sourceOr404, withAddresses } from './queries.ts';
import {
  DmarcAdvice,
  FeedbackSource,
  FeedbackSourceDetails,
  SOURCE_ID,
  SourceExportQuery,
  SourceListQuery,
  SourcePatch,
} from './schema.ts';

const list = route({
  method: 'GET',
  path: '/v1/feedback/sources',
  operation: 'listFeedbackSources',
  limited: true,
  role: 'viewer',
  summary: 'List sources',
  description:
    'Returns who sent with the domain in From, those with the most messages first. Filters can be combined. Addresses that were seen for the first time are named within minutes.',
  query: SourceListQuery,
  response: listSchema(FeedbackSource),
  errors: ['not_found'],
  async handle({ app, query: { domain_id, from, to, ...query } }) {
    const period = await periodOf(app, { domain_id, from, to });
    const { sources, hasMore } = await listSources(app.db, period, query);
    return listOf(sources.map(presentSource), hasMore);
  },
});

const exportSources = route({
  method: 'GET',
  path: '/v1/feedback/sources/export',
  operation: 'exportFeedbackSources',
  limited: true,
  role: 'viewer',
  summary: 'Export sources',
  description: 'Returns all matching sources of a period as CSV, in the order of the list.',
  query: SourceExportQuery,
  produces: ['text/csv'],
  responseHeaders: ['Content-Disposition'],
  errors: ['not_found'],
  async handle({ app, query: { domain_id, from, to, ...filters } }) {
    const period = await periodOf(app, { domain_id, from, to });
    const sources = await withAddresses(app.db, await matchingSources(app.db, period, filters));
    return csvFile(exportName('sources', period), COLUMNS, sources.map(presentSource));
  },
});

const COLUMNS: CsvColumn<FeedbackSource>[] = [
  'id',
  'name',
  'label',
  'kind',
  'mark',
  'evidence',
  'addresses',
  'messages',
  'passed',
  'failed',
  'dkim',
  'spf',
  ...STOPPED_NAMES,
  'forwarded',
  'first_day',
  'last_day',
];

const SourceQuery = v.strictObject({
  from: SummaryQuery.entries.from,
  to: SummaryQuery.entries.to,
  address: described(
    v.optional(v.string()),
    'An address of the source, whose latest reports are returned in `reports`.',
  ),
});

const get = route({
  method: 'GET',
  path: '/v1/feedback/sources/:id',
  params: { id: SOURCE_ID },
  operation: 'getFeedbackSource',
  limited: true,
  role: 'viewer',
  summary: 'Get a source',
  description:
    'Returns a source with its addresses, signatures, days and reporters, and the newest test that came from it.',
  query: SourceQuery,
  response: FeedbackSourceDetails,
  async handle({ app, params, query }) {
    const row = await sourceOr404(app.db, params.id!);
    const { address, ...days } = query;
    const period = await periodOf(app, { ...days, domain_id: row.domain_id });
    return presentDetails(app.db, row, period, lastDays(app), address);
  },
});

const update = route({
  method: 'PATCH',
  path: '/v1/feedback/sources/:id',
  params: { id: SOURCE_ID },
  operation: 'updateFeedbackSource',
  limited: true,
  role: 'member',
  summary: 'Mark a source',
  description:
    'Says what a source is, and what your team calls it. The mark applies to all its messages, also the earlier ones.',
  body: SourcePatch,
  response: FeedbackSourceDetails,
  async handle(call) {
    const { app, params, body } = call;
    return call.transact(async (tx) => {
      const current = await sourceOr404(tx, params.id!);
      const { mark = current.mark, label = current.label } = body;
      const next = { ...current, mark, label: label || null };
      if (next.mark !== current.mark || next.label !== current.label) {
        await tx
          .updateTable('feedback_sources')
          .set({ mark: next.mark, label: next.label })
          .where('id', '=', current.id)
          .execute();
        await audit(tx, call, AUDITED_SOURCE, 'feedback_source.updated', current.id, {
          name: current.name,
          mark: next.mark,
          label: next.label,
        });
      }
      const period = await periodOf({ db: tx, clock: app.clock }, { domain_id: current.domain_id });
      return presentDetails(tx, next, period, lastDays(app));
    });
  },
});

const advice = route({
  method: 'GET',
  path: '/v1/feedback/advice',
  operation: 'getDmarcAdvice',
  limited: true,
  role: 'viewer',
  summary: 'Get advice on the DMARC policy',
  description:
    'Says whether the domain can move to a stricter policy, from the reports of the last 30 days, and which mail would be affected.',
  query: v.strictObject({ domain_id: SummaryQuery.entries.domain_id }),
  response: DmarcAdvice,
  errors: ['not_found'],
  async handle({ app, query }) {
    const domain = await findDomain(app.db, query.domain_id);
    if (!domain) throw new AppError('not_found', 'No such domain.');
    const period = { domain, ...lastDays(app) };
    return presentAdvice(app.db, domain, await adviceFor(app, period));
  },
});

export const sourceOperations = { list, export: exportSources, get, update, advice };
