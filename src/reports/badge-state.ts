/** What a badge tells: the health of a domain, or the worst grade of a shared report. */

import type { App } from '../app.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import type { BadgeState } from '../render/badge.ts';
import type { SharedReportRow } from '../store/report-tables.ts';
import { openShare, sharedTestIds } from './share-queries.ts';

export interface Badge {
  label: string;
  message: string;
  state: BadgeState;
  /** Whether the token of a link was its name, so that its address is a secret. */
  byToken: boolean;
}

const LABEL = 'deliverability';

/** Colours as rings of reports have them. */
const STATES: Record<string, BadgeState> = {
  A: 'healthy',
  B: 'healthy',
  C: 'warning',
  D: 'warning',
  F: 'critical',
};

/**
 * `name` is a verified domain of the team that shows its badge, or the token of a link. Throws
 * `not_found` for all others alike, and `gone` for a link that has ended.
 */
export async function badgeOf(app: Pick<App, 'db' | 'clock'>, name: string): Promise<Badge> {
  return name.includes('.') ? badgeOfDomain(app, name) : badgeOfShare(app, name);
}

async function badgeOfDomain({ db }: Pick<App, 'db'>, name: string): Promise<Badge> {
  const row = await db
    .selectFrom('domains')
    .select(['health_status', 'health_score'])
    .where('name', '=', normalizeDomain(name) ?? '')
    .where('status', '=', 'verified')
    .where('badge_enabled', '=', 1)
    .executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no badge at this address.');
  const { health_status: state, health_score: score } = row;
  const message = score === null ? state : `${state}, ${score} of 100`;
  return { label: LABEL, message, state, byToken: false };
}

async function badgeOfShare(app: Pick<App, 'db' | 'clock'>, token: string): Promise<Badge> {
  const grade = await worstGrade(app, await openShare(app, token));
  const state = (grade === null ? undefined : STATES[grade]) ?? 'unknown';
  const message = grade === null ? 'unknown' : `grade ${grade}`;
  return { label: LABEL, message, state, byToken: true };
}

/** null where none of its tests has one, or none is left. */
async function worstGrade({ db }: Pick<App, 'db'>, row: SharedReportRow): Promise<string | null> {
  const ids = (await sharedTestIds(db, [row.id])).get(row.id)!;
  const { worst } = await db
    .selectFrom('tests')
    .select(({ fn }) => fn.max('grade').as('worst'))
    .where('id', 'in', ids)
    .where('livemode', '=', row.livemode)
    .executeTakeFirstOrThrow();
  return worst;
}
