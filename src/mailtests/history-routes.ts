/** The operation that reads the history of a test. */

import { route } from '../http/route.ts';
import { idOf, listOf, listSchema } from '../http/schemas.ts';
import { readHistory } from './history.ts';
import { reportUrl } from './present.ts';
import { testOr404 } from './queries.ts';
import { HistoryEntry, HistoryQuery } from './schemas/history.ts';

export const getHistory = route({
  method: 'GET',
  path: '/v1/tests/:id/history',
  params: { id: idOf('test') },
  operation: 'listTestHistory',
  limited: true,
  role: 'viewer',
  summary: 'List the history of a test',
  description:
    'Returns the test, if it is completed, and the completed tests before it with the same name, newest first. Without an earlier test of that name, returns those from the same From address. Searches the last 500 tests with this name or from this domain.',
  query: HistoryQuery,
  response: listSchema(HistoryEntry),
  async handle({ app, actor, params, query }) {
    const test = await testOr404(app, params.id!, actor.livemode);
    const { entries, hasMore } = await readHistory(app.db, test, query);
    const data = entries.map(
      ({ test: row, match, previousId, change, newFindings, resolvedFindings }): HistoryEntry => ({
        id: row.id,
        object: 'test_history_entry',
        report_url: reportUrl(row.id, app.config),
        name: row.name,
        subject: row.subject,
        from_address: row.from_address,
        matched_by: match,
        received_at: row.received_at,
        completed_at: row.completed_at,
        score: row.score,
        grade: row.grade,
        ruleset: row.ruleset,
        previous_id: previousId,
        change,
        new_findings: newFindings,
        resolved_findings: resolvedFindings,
      }),
    );
    return listOf(data, hasMore);
  },
});
