/** Badges for pages of others, as images and in the form that badge services read (contract §5). */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { PRIVATE_FIELDS } from '../http/response.ts';
import { type Call, route } from '../http/route.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import { type BadgeState, badgeColour, badgeSvg } from '../report/badge.ts';
import { openShare, sharedTestIds } from '../shares/queries.ts';
import type { SharedReportRow } from '../store/tables.generated.ts';

/** Image proxies ask for many readers. */
const LIMIT = { requests: 300, seconds: 60 };

/** The form of shields.io, which takes no other field beside these. */
const BadgeJson = v.object({
  schemaVersion: v.literal(1),
  label: v.string(),
  message: v.string(),
  color: v.string(),
});

const getSvg = route({
  method: 'GET',
  path: '/badges/:name.svg',
  // It may be the token of a link.
  secretParams: ['name'],
  operation: 'getBadge',
  role: 'public',
  byLink: true,
  limit: LIMIT,
  summary:
    'Get the badge of a domain whose badge is switched on, or of a shared report, as an image',
  produces: ['image/svg+xml'],
  errors: ['gone'],
  handle: (call) => answer(call, 'image/svg+xml', badgeSvg),
});

const getJson = route({
  method: 'GET',
  path: '/badges/:name.json',
  secretParams: ['name'],
  operation: 'getBadgeJson',
  role: 'public',
  byLink: true,
  limit: 'getBadge',
  summary: 'Get what a badge tells, in the form that shields.io reads',
  produces: ['application/json'],
  json: BadgeJson,
  errors: ['gone'],
  handle: (call) => answer(call, 'application/json', jsonOf),
});

type Asked = Pick<Call<'public', undefined, undefined>, 'app' | 'params'>;

async function answer(
  { app, params }: Asked,
  type: string,
  write: (badge: Badge) => string,
): Promise<Response> {
  const badge = await badgeOf(app, params.name!);
  return new Response(write(badge), {
    headers: {
      'content-type': type,
      // Pages of others show it.
      'cross-origin-resource-policy': 'cross-origin',
      // A link that is revoked ends at once; whatever keeps copies would not know.
      ...(badge.byToken ? PRIVATE_FIELDS : { 'cache-control': 'public, max-age=300' }),
    },
  });
}

function jsonOf({ label, message, state }: Badge): string {
  const badge: v.InferOutput<typeof BadgeJson> = {
    schemaVersion: 1,
    label,
    message,
    color: badgeColour(state),
  };
  return JSON.stringify(badge);
}

export const badgeRoutes = [getSvg, getJson];

// What a badge tells: the health of a domain, or the worst grade of a shared report.

interface Badge {
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
async function badgeOf(app: Pick<App, 'db' | 'clock'>, name: string): Promise<Badge> {
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
