/** Records what an analysis ended in, with its event, in one transaction. */

import type { PoolOutcome } from '../analysis/pool.ts';
import type { CheckResult, StoredResult } from '../analysis/result.ts';
import type { App } from '../app.ts';
import { findDomainOf } from '../domains/queries.ts';
import { learnSelectors, type Signature } from '../domains/selectors.ts';
import { appendEvent, resultStored } from '../events/events.ts';
import { isoTime } from '../lib/clock.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { type Tx, transact } from '../store/open.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { presentListed } from './present.ts';
import { ANALYZE_JOB, type ClaimedTest, searchText } from './queries.ts';
import { countTest } from './tally.ts';

/** Minutes to the next try after a result that temporary errors left without a score. */
const RETRY_AFTER_MIN = [1, 3, 10];

const RELEASED = { lease: null, leased_until: null } as const;
const DONE = { ...RELEASED, analysis_due_at: null, analysis_attempts: 0 } as const;

/** Does nothing where the lease is no longer ours, or the test is gone. */
export async function recordOutcome(
  app: App,
  test: ClaimedTest,
  outcome: PoolOutcome,
): Promise<void> {
  const recorded = await transact(app.db, async (tx) => {
    const row = await tx
      .selectFrom('tests')
      .selectAll()
      .where('id', '=', test.id)
      .where('lease', '=', test.lease)
      .executeTakeFirst();
    if (!row) return null;
    // Asked for once more since it was claimed: then it is still due.
    const again = row.analysis_due_at !== test.analysis_due_at;
    const { analysis_due_at } = row;
    const change = { ...changeFor(app, row, outcome), ...(again ? { analysis_due_at } : {}) };
    const joined = { ...change, ...(await joinDomain(tx, { ...row, ...change }, outcome)) };
    await tx.updateTable('tests').set(joined).where('id', '=', row.id).execute();
    const after = { ...row, ...joined };
    await recount(tx, row, after, outcome);
    await appendEnd(app, tx, row, after);
    return { again };
  });
  if (!recorded) return;
  app.signals.raise(test.id);
  if (recorded.again) app.scheduler.wake(ANALYZE_JOB);
}

/** What a reanalysis found counts in the place of what was found before, at its own time. */
async function recount(tx: Tx, before: TestRow, after: TestRow, outcome: PoolOutcome) {
  await countTest(tx, before, -1);
  const isNew = outcome.ok && after.checks === outcome.result.checks;
  await countTest(tx, after, 1, isNew ? outcome.toFix : undefined);
}

/** A test that has ended now, and had not before, is an event, and a result; a reanalysis is neither. */
async function appendEnd(app: App, tx: Tx, before: TestRow, after: TestRow): Promise<void> {
  if (before.status !== 'processing' || after.status === 'processing') return;
  const type = after.status === 'completed' ? 'test.completed' : 'test.failed';
  const data = presentListed(after, app.config);
  const livemode = after.livemode === 1;
  await appendEvent(tx, { type, livemode, data }, app);
  if (type === 'test.completed' && livemode)
    await app.subscribers.publish(resultStored, tx, { kind: 'test', test: after });
}

function changeFor(app: App, row: TestRow, outcome: PoolOutcome): Partial<TestRow> {
  const now = app.clock.now();
  const reanalysis = row.status === 'completed';
  const temporary = outcome.ok ? outcome.result.temporary : outcome.reason === 'fault';
  const wait = temporary ? RETRY_AFTER_MIN[row.analysis_attempts] : undefined;
  if (wait !== undefined)
    return {
      ...RELEASED,
      analysis_attempts: row.analysis_attempts + 1,
      analysis_due_at: isoTime(now + wait * 60_000),
    };
  // A reanalysis that finds nothing out leaves the result as it was.
  if (reanalysis && (temporary || !outcome.ok)) return DONE;
  const found = outcome.ok ? columnsOf(outcome.result, row.name) : {};
  const completed_at = isoTime(now);
  if (!outcome.ok || temporary) {
    const failure_reason =
      outcome.ok || outcome.reason === 'fault' ? 'analysis_error' : 'unreadable';
    return { ...DONE, ...found, status: 'failed', failure_reason, completed_at };
  }
  const previous = reanalysis ? { previous: previousOf(row) } : {};
  return { ...DONE, ...found, ...previous, status: 'completed', completed_at };
}

function columnsOf(result: StoredResult, name: string | null): Partial<TestRow> {
  return {
    ...result.auth_results,
    from_address: result.from_address,
    from_domain: result.from_address === null ? null : addressDomain(result.from_address),
    subject: result.subject,
    search: searchText({ name, subject: result.subject }),
    score: result.score,
    grade: result.grade,
    summary: result.summary,
    coverage: result.coverage,
    ruleset: result.ruleset,
    categories: JSON.stringify(result.categories),
    cap: result.cap === null ? null : JSON.stringify(result.cap),
    checks: result.checks,
    judged_kind: JSON.stringify(result.judged_kind),
    providers: JSON.stringify(result.providers),
  };
}

function previousOf({ score, grade, ruleset, completed_at }: TestRow): string {
  return JSON.stringify({ score, grade, ruleset, completed_at });
}

// Which domain of the team a test belongs to, and what its mail tells of the keys of domains.

/**
 * In the transaction that stores a result: a test that was made for no domain joins the team's one
 * that is, or holds, its From domain, and the selectors of that domain are learnt.
 */
export async function joinDomain(
  tx: Tx,
  after: Pick<TestRow, 'domain_id' | 'from_domain' | 'received_at' | 'livemode'>,
  outcome: PoolOutcome,
): Promise<Partial<TestRow>> {
  const { domain_id, from_domain, received_at, livemode } = after;
  if (!outcome.ok || from_domain === null) return {};
  const domain = await findDomainOf(tx, from_domain);
  // The checks are read only here, where there is somebody to learn: they may be long.
  if (!domain) return {};
  // Of a reanalysis too: what was signed long ago is no sign that the selector is still in use.
  // Sandbox tests say nothing of the team's mail.
  if (livemode === 1 && received_at !== null)
    await learnSelectors(tx, {
      fromDomain: from_domain,
      signatures: alignedSignatures(outcome.result.checks),
      at: Date.parse(received_at),
    });
  return domain_id === null ? { domain_id: domain.id } : {};
}

/** Those that verify, of domains that DMARC takes for the From domain's own (RFC 9989 §4.4.1). */
function alignedSignatures(checks: string): Signature[] {
  const found = new Map((JSON.parse(checks) as CheckResult[]).map((check) => [check.id, check]));
  const signatures = found.get('dkim')?.evidence.signatures;
  const aligned = found.get('dkim_alignment')?.evidence.aligned;
  if (!Array.isArray(signatures) || !Array.isArray(aligned)) return [];
  return (signatures as unknown as (Signature & { result: string })[]).filter(
    ({ result, domain }) => result === 'pass' && aligned.includes(domain),
  );
}
