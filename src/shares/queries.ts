/** Reads shared reports by id, by token or as a list, with the ids of their tests. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { type Actor, allows } from '../http/actor.ts';
import { PRIVATE_HEADERS } from '../http/response.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { type SecretBox, sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type { SharedReportRow } from '../store/tables.generated.ts';
import type { Share } from './schema.ts';

const inMode = (db: Db | Tx, livemode: boolean) =>
  db
    .selectFrom('shared_reports')
    .selectAll()
    .where('livemode', '=', livemode ? 1 : 0);

/** Throws `not_found`, also for a shared report of the other mode. */
export async function shareOr404(
  db: Db | Tx,
  id: string,
  livemode: boolean,
): Promise<SharedReportRow> {
  const row = await lockIn(db, inMode(db, livemode).where('id', '=', id)).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such shared report.');
  return row;
}

/** One page of the shared reports in this mode, newest first, including expired and revoked ones. */
export async function listShares(db: Db, livemode: boolean, page: Page) {
  return fetchPage(inMode(db, livemode), page);
}

/** The ids of the tests of each report, in the order in which they were shared. */
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

/** A string that changes with every change of the shared tests that readers of the link can see. */
export async function testsVersion(db: Db | Tx, reportId: string): Promise<string> {
  const rows = await db
    .selectFrom('shared_report_tests as shared')
    .innerJoin('tests', 'tests.id', 'shared.test_id')
    .select(['tests.id', 'tests.name', 'tests.kind', 'tests.status', 'tests.completed_at'])
    .leftJoin('image_loads', 'image_loads.id', 'tests.id')
    .select(['tests.previous', 'tests.score', 'tests.summary', 'tests.ruleset', 'loaded_at'])
    .where('shared.report_id', '=', reportId)
    .orderBy('shared.position')
    .execute();
  return JSON.stringify(rows);
}

/**
 * The report of an active link. Throws `not_found`, or `gone` if the link is expired or revoked.
 * Both errors have headers that keep them out of search engines. Tokens are looked up by their hash, so
 * timing reveals nothing about other tokens.
 */
export async function findActiveShare(
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
      'No report matches this link. Check that you copied the complete link.',
      [],
      PRIVATE_HEADERS,
    );
  const endReason =
    row.revoked_at !== null
      ? 'been revoked'
      : row.expires_at <= isoTime(clock.now())
        ? 'expired'
        : null;
  if (endReason)
    throw new AppError(
      'gone',
      `This link has ${endReason}. Ask the person who sent it for a new one.`,
      [],
      PRIVATE_HEADERS,
    );
  return row;
}

// Rows as the API returns them.

type Context = Pick<App, 'config' | 'secrets'>;

/** Presents shared reports to an actor with this role. Only admins and the owner see the links. */
export async function presentShares(
  db: Db | Tx,
  app: Context,
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

/** A new shared report with its token in plain text, for the response to its creator. */
export interface CreatedShare {
  row: SharedReportRow;
  token: string;
}

/** The response to the creator, with the link. */
export function presentCreated(
  { config }: Context,
  { row, token }: CreatedShare,
  testIds: string[],
) {
  return { ...present(row, testIds), url: linkOf(config, token), token };
}

/** Of a link to the status of domains; null for one to tests. */
export const tagsOf = ({ tags }: Pick<SharedReportRow, 'tags'>): string[] | null =>
  tags === null ? null : JSON.parse(tags);

function present(row: SharedReportRow, test_ids: string[]) {
  const { id, title, preview, expires_at, created_at, revoked_at, view_count, last_viewed_at } =
    row;
  return {
    id,
    object: 'shared_report' as const,
    title,
    tags: tagsOf(row),
    test_ids,
    preview,
    expires_at,
    created_at,
    revoked_at,
    view_count,
    last_viewed_at,
  };
}

// The token of a link is stored as a hash, to look it up, and encrypted, to show it to admins again.

const purposeOf = (id: string): string => `shared_report:${id}`;

export function sealToken(secrets: SecretBox, id: string, token: string): string {
  return secrets.seal(token, purposeOf(id));
}

/** Returns null if the token cannot be decrypted. */
function openToken(
  secrets: SecretBox,
  { id, token }: Pick<SharedReportRow, 'id' | 'token'>,
): string | null {
  return secrets.open(token, purposeOf(id));
}

function linkOf({ APP_URL }: Pick<Config, 'APP_URL'>, token: string): string {
  return `${APP_URL}/reports/public/${token}`;
}
