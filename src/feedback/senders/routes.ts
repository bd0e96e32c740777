/** The operations on reporters. */

import { findDomain } from '../../domains/queries.ts';
import { route } from '../../http/route.ts';
import { idOf, listOf, listSchema } from '../../http/schemas.ts';
import { AppError } from '../../lib/errors.ts';
import { afterCommit } from '../../store/open.ts';
import { audit } from '../../team/audit.ts';
import { AUDITED_REPORTER } from '../audited.ts';
import { presentReporter } from '../present.ts';
import { listReporters, reporterOr404 } from '../queries.ts';
import { TRUST_JOB } from '../trust-job.ts';
import {
  FeedbackReporter,
  ReporterListQuery,
  ReporterPatch,
  UnconfirmedQuery,
  UnconfirmedReporters,
} from './schema.ts';
import { unconfirmedReporters } from './unconfirmed.ts';

const REPORTER_ID = idOf('rep', 'The ID of the reporter.');

const reporters = route({
  method: 'GET',
  path: '/v1/feedback/reporters',
  operation: 'listFeedbackReporters',
  role: 'viewer',
  summary: 'List reporters',
  description: 'Returns who has sent reports, newest first.',
  query: ReporterListQuery,
  response: listSchema(FeedbackReporter),
  async handle({ app, query }) {
    const { rows: found, hasMore } = await listReporters(app.db, query);
    return listOf(found.map(presentReporter), hasMore);
  },
});

const editableReporter = ({ id, status }: FeedbackReporter) => [id, status];

const getReporter = route({
  method: 'GET',
  path: '/v1/feedback/reporters/:id',
  params: { id: REPORTER_ID },
  operation: 'getFeedbackReporter',
  role: 'viewer',
  summary: 'Get a reporter',
  description: 'Returns a reporter with the number of its reports.',
  etag: editableReporter,
  response: FeedbackReporter,
  handle: async ({ app, params }) => presentReporter(await reporterOr404(app.db, params.id!)),
});

const updateReporter = route({
  method: 'PATCH',
  path: '/v1/feedback/reporters/:id',
  params: { id: REPORTER_ID },
  operation: 'updateFeedbackReporter',
  role: 'member',
  summary: 'Confirm a reporter',
  description:
    'Lets all reports of a reporter count, those that have arrived as well, or takes them out of all sums again. Confirm a feedback loop to be alerted about its complaints. Known receivers and uploaded files always count.',
  etag: editableReporter,
  body: ReporterPatch,
  errors: ['conflict'],
  response: FeedbackReporter,
  async handle(call) {
    const { app, params, body } = call;
    return call.transact(async (tx) => {
      const current = await reporterOr404(tx, params.id!);
      call.ifMatch(presentReporter(current));
      const trusted = body.confirmed ? 1 : 0;
      if (trusted === current.trusted) return presentReporter(current);
      if (current.kind === 'known' || current.kind === 'file')
        throw new AppError(
          'conflict',
          'Reports of this reporter always count. Delete those that are wrong.',
        );
      await tx
        .updateTable('feedback_reporters')
        .set({ trusted })
        .where('id', '=', current.id)
        .execute();
      const { name, label } = presentReporter(current);
      await audit(
        tx,
        call,
        AUDITED_REPORTER,
        trusted === 1 ? 'feedback_reporter.confirmed' : 'feedback_reporter.withdrawn',
        current.id,
        { name, label },
      );
      afterCommit(tx, () => app.scheduler.wake(TRUST_JOB));
      return presentReporter({ ...current, trusted });
    });
  },
});

const unconfirmed = route({
  method: 'GET',
  path: '/v1/feedback/unconfirmed',
  operation: 'listUnconfirmedReporters',
  limited: true,
  role: 'viewer',
  summary: 'List reporters that nobody has confirmed',
  description:
    'Returns what unconfirmed reporters say about a domain. It is part of no sum, advice or alert.',
  query: UnconfirmedQuery,
  response: UnconfirmedReporters,
  errors: ['not_found'],
  async handle({ app, query }) {
    const domain = await findDomain(app.db, query.domain_id);
    if (!domain) throw new AppError('not_found', 'No such domain.');
    return unconfirmedReporters(app.db, domain.id);
  },
});

export const reporterOperations = { reporters, getReporter, updateReporter, unconfirmed };
