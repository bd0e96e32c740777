/** What receivers report about the source that a test came from. */

import type { App } from '../../app.ts';
import type { ReportedSource } from '../../report/report.ts';
import type { TestRow } from '../../store/tables.generated.ts';
import { lastDays, reporterCount } from '../sums.ts';
import { matchTests, type SentTest } from './match-tests.ts';
import { messagesOf } from './queries.ts';

type TestOfTeam = SentTest & Pick<TestRow, 'domain_id' | 'livemode'>;

/**
 * The last 30 days of the source. They belong to the team, so do not show them to others. Only tests of a verified domain
 * have a source, and only if one matches and was reported: otherwise null.
 */
export async function reportedSourceOf(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  test: TestOfTeam,
): Promise<ReportedSource | null> {
  const { db } = app;
  if (test.domain_id === null || test.livemode === 0) return null;
  const domain = await db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', test.domain_id)
    .where('status', '=', 'verified')
    .executeTakeFirst();
  if (!domain) return null;
  const period = { domain, ...lastDays(app) };
  const reporters = await reporterCount(db, period);
  if (reporters === 0) return null;
  const source = (await matchTests(db, period, [test])).get(test.id);
  const sums = source && (await messagesOf(db, period, [source.id])).get(source.id);
  if (!source || !sums || sums.messages === 0) return null;
  return {
    id: source.id,
    domain_id: domain.id,
    domain: domain.name,
    ...sums,
    reporters,
    name: source.label ?? source.name,
    from: period.from,
    to: period.to,
    url: `${app.config.APP_URL}/feedback/sources/${source.id}`,
  };
}
