/** Creates and revokes shared links, with audit entries. Tests are kept at least as long as their links work. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import { requireLive } from '../http/authorize.ts';
import { tagsToStore } from '../http/limited.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { audited } from '../store/audited.ts';
import { lockIn, type Tx } from '../store/open.ts';
import { deleteInSteps } from '../store/queries.ts';
import type { SharedReportRow, TestRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { type CreatedShare, sealToken, sharedTestIds } from './queries.ts';
import type { NewShare } from './schema.ts';

type Sharer = Author & { app: App; actor: Actor };

export const AUDITED_SHARE = audited({
  type: 'shared_report',
  name: 'Shared link',
  actions: ['report.shared', 'report.revoked'],
  texts: { 'report.shared': 'Shared link created', 'report.revoked': 'Shared link revoked' },
  page: () => '/reports/shares',
});

/** Throws `validation_failed` unless there are tests, all with a result, or tags. */
export async function createShare(
  tx: Tx,
  author: Sharer,
  { test_ids = [], tags: given = null, expires_in, title = null, preview }: NewShare,
): Promise<CreatedShare> {
  const { app, actor } = author;
  const tags = given && tagsToStore(actor, given);
  if (tags === null && test_ids.length === 0)
    throw invalidParams([{ param: 'test_ids', code: 'required', message: 'is required' }]);
  if (tags !== null && test_ids.length > 0)
    throw invalidParams([
      { param: 'tags', code: 'invalid', message: 'must be null for a link to tests' },
    ]);
  // Domains have no test mode.
  if (tags === null) await requireResults(tx, actor.livemode, test_ids);
  else {
    requireLive(actor);
    tagsToStore(actor, tags);
  }
  const now = app.clock.now();
  const id = app.newId('rpt');
  const token = randomSecret();
  const row: SharedReportRow = {
    id,
    livemode: actor.livemode ? 1 : 0,
    title,
    token_hash: sha256(token),
    token: sealToken(app.secrets, id, token),
    created_by: author.actor?.memberId ?? null,
    created_at: isoTime(now),
    expires_at: isoTime(now + expires_in * 1000),
    revoked_at: null,
    view_count: 0,
    last_viewed_at: null,
    preview,
    tags: tags && JSON.stringify(tags),
  };
  await tx.insertInto('shared_reports').values(row).execute();
  const tests = test_ids.map((test_id, position) => ({ report_id: id, position, test_id }));
  if (tests.length > 0) {
    await tx.insertInto('shared_report_tests').values(tests).execute();
    await updateRetention(tx, test_ids, row.created_at);
  }
  await audit(tx, author, AUDITED_SHARE, 'report.shared', id, {
    title,
    ...(tags ? { tags } : { test_ids }),
    expires_at: row.expires_at,
    preview,
  });
  return { row, token };
}

async function requireResults(tx: Tx, livemode: boolean, ids: string[]): Promise<void> {
  const query = tx
    .selectFrom('tests')
    .select(['id', 'status'])
    .select(({ eb }) => eb('checks', 'is not', null).as('has_result'))
    .where('id', 'in', ids)
    .where('livemode', '=', livemode ? 1 : 0)
    .orderBy('id');
  const rows = await lockIn(tx, query).execute();
  const tests = new Map(rows.map((test) => [test.id, test]));
  const errors = ids.flatMap((id, i) => {
    const test = tests.get(id);
    if (test?.has_result) return [];
    const message = test ? missingResultMessage(test) : 'is not the ID of a test';
    return [{ param: `test_ids.${i}`, code: 'invalid', message }];
  });
  if (errors.length === 0) return;
  const params = errors.slice(0, 10).map(({ param }) => param);
  throw new AppError(
    'validation_failed',
    `Invalid parameters: ${params.join(', ')}.`,
    errors.slice(0, 50),
  );
}

function missingResultMessage({ status }: Pick<TestRow, 'status'>): string {
  if (status === 'waiting') return 'has no result yet: its message has not arrived';
  if (status === 'processing') return 'has no result yet: its message is being analyzed';
  return 'has no result: the test failed';
}

/** Revokes a link with immediate effect. Does nothing if it is already revoked. */
export async function revokeShare(tx: Tx, author: Sharer, row: SharedReportRow): Promise<void> {
  if (row.revoked_at !== null) return;
  const now = isoTime(author.app.clock.now());
  await tx
    .updateTable('shared_reports')
    .set({ revoked_at: now })
    .where('id', '=', row.id)
    .execute();
  const ids = (await sharedTestIds(tx, [row.id])).get(row.id)!;
  if (ids.length > 0) await updateRetention(tx, ids, now);
  await audit(tx, author, AUDITED_SHARE, 'report.revoked', row.id, {
    title: row.title,
    views: row.view_count,
  });
}

/** Keeps the tests until the last of their active links expires, whatever the retention time. */
async function updateRetention(tx: Tx, ids: string[], now: string): Promise<void> {
  // An update that waits would not see the links that the other transaction has added or revoked.
  const tests = tx.selectFrom('tests').select('id').where('id', 'in', ids).orderBy('id');
  await lockIn(tx, tests).execute();
  await tx
    .updateTable('tests')
    .set(({ selectFrom }) => ({
      keep_until: selectFrom('shared_report_tests as shared')
        .innerJoin('shared_reports as share', 'share.id', 'shared.report_id')
        .select(({ fn }) => fn.max('share.expires_at').as('end'))
        .whereRef('shared.test_id', '=', 'tests.id')
        .where('share.revoked_at', 'is', null)
        .where('share.expires_at', '>', now),
    }))
    .where('id', 'in', ids)
    .execute();
}

// Deletes shared reports a year after their links ended. Until then the team can list them.

const SHARE_RETENTION_MS = 365 * DAY_MS;

export function expireSharesJob(app: App): Job {
  return { name: 'reports.expire_shares', tick: '0 29 * * * *', run: () => expireShares(app) };
}

/** A link ends when it expires or is revoked, whichever comes first. */
export async function expireShares({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const cutoff = isoTime(clock.now() - SHARE_RETENTION_MS);
  const expired = db
    .selectFrom('shared_reports')
    .select('id')
    .where(({ eb, or }) => or([eb('expires_at', '<', cutoff), eb('revoked_at', '<', cutoff)]));
  await deleteInSteps(db, 'shared_reports', expired);
}
