/** Shared reports in the database: found by id or by token, listed, with the tests that they name. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { type Actor, allows } from '../http/actor.ts';
import { PRIVATE_FIELDS } from '../http/response.ts';
import { type Page, pageOf } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { type SecretBox, sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { SharedReportRow } from '../store/tables.generated.ts';
import type { Share } from './schema.ts';

const inMode = (db: Db | Tx, livemode: boolean) =>
  db
    .selectFrom('shared_reports')
    .selectAll()
    .where('livemode', '=', livemode ? 1 : 0);

/** Throws `not_found`, for one of the other mode too. */
export async function shareOr404(
  db: Db | Tx,
  id: string,
  livemode: boolean,
): Promise<SharedReportRow> {
  const row = await inMode(db, livemode).where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no shared report with this id.');
  return row;
}

/** One page of this mode, newest first; those that have ended too. */
export async function listShares(db: Db, livemode: boolean, page: Page) {
  return pageOf(inMode(db, livemode), page);
}

/** The ids of the tests of these reports, in the order in which they were named. */
export async function sharedTestIds(
  db: Db | Tx,
  reportIds: string[],
): Promise<Map<string, string[]>> {
  if (reportIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('shared_report_tests')
    .select(['report_id', 'test_id'])
    .where('report_id', 'in', reportIds)
    .orderBy('report_id')
    .orderBy('position')
    .execute();
  const ids = new Map<string, string[]>(reportIds.map((id) => [id, []]));
  for (const { report_id, test_id } of rows) ids.get(report_id)!.push(test_id);
  return ids;
}

/** A text that is another once what a link shows of its tests has changed. */
export async function stateOfTests(db: Db | Tx, reportId: string): Promise<string> {
  const rows = await db
    .selectFrom('shared_report_tests as named')
    .innerJoin('tests', 'tests.id', 'named.test_id')
    .select(['tests.id', 'tests.name', 'tests.kind', 'tests.status', 'tests.completed_at'])
    .select(['tests.previous', 'tests.score', 'tests.summary', 'tests.ruleset'])
    .where('named.report_id', '=', reportId)
    .orderBy('named.position')
    .execute();
  return JSON.stringify(rows);
}

/**
 * The report of a link that still works; of those that do not no search engine is to learn either. Looked up by its hash, so that how long it takes tells nothing
 * of any token. Throws `not_found`, and `gone` for one that is expired or revoked.
 */
export async function openShare(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  token: string,
): Promise<SharedReportRow> {
  const row = await db
    .selectFrom('shared_reports')
    .selectAll()
    .where('token_hash', '=', sha256(token))
    .executeTakeFirst();
  if (!row)
    throw new AppError(
      'not_found',
      'This link leads to no report. Look whether the whole address was taken over.',
      [],
      PRIVATE_FIELDS,
    );
  const ended =
    row.revoked_at !== null
      ? 'been revoked'
      : row.expires_at <= isoTime(clock.now())
        ? 'expired'
        : null;
  if (ended)
    throw new AppError(
      'gone',
      `This link has ${ended}. Ask whom you have it from for a new one.`,
      [],
      PRIVATE_FIELDS,
    );
  return row;
}

// From rows to the shared reports that the API answers.

type Presenting = Pick<App, 'config' | 'secrets'>;

/** As an actor of this role sees them: the links are for admins and the owner. */
export async function presentShares(
  db: Db | Tx,
  app: Presenting,
  { role }: Pick<Actor, 'role'>,
  rows: SharedReportRow[],
): Promise<Share[]> {
  const ids = rows.map(({ id }) => id);
  const tests = await sharedTestIds(db, ids);
  return rows.map((row) => {
    const token = allows(role, 'admin') ? openToken(app.secrets, row) : null;
    const url = token === null ? null : linkOf(app.config, token);
    return { ...present(row, tests.get(row.id)!), url, token };
  });
}

/** A report with its token in clear, for the one answer that shows it to whoever shared. */
export interface MadeShare {
  row: SharedReportRow;
  token: string;
}

/** With the link, for whoever made it. */
export function presentMade({ config }: Presenting, { row, token }: MadeShare, testIds: string[]) {
  return { ...present(row, testIds), url: linkOf(config, token), token };
}

function present(row: SharedReportRow, test_ids: string[]) {
  const { id, title, expires_at, created_at, revoked_at, view_count, last_viewed_at } = row;
  return {
    ...{ id, object: 'shared_report' as const, title, test_ids },
    ...{ expires_at, created_at, revoked_at, view_count, last_viewed_at },
  };
}

// The token of a link: kept as a hash to find its report by, and encrypted to be shown to admins again.

const purposeOf = (id: string): string => `shared_report:${id}`;

export function sealToken(secrets: SecretBox, id: string, token: string): string {
  return secrets.seal(token, purposeOf(id));
}

/** null where it can no longer be decrypted. */
function openToken(
  secrets: SecretBox,
  { id, token }: Pick<SharedReportRow, 'id' | 'token'>,
): string | null {
  return secrets.open(token, purposeOf(id));
}

function linkOf({ APP_URL }: Pick<Config, 'APP_URL'>, token: string): string {
  return `${APP_URL}/reports/public/${token}`;
}
