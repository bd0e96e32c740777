/** Badges for other websites, as images and as JSON for badge services (contract §5). */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { PRIVATE_HEADERS } from '../http/response.ts';
import { type Call, route } from '../http/route.ts';
import { described, named } from '../http/schemas.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import { type BadgeState, badgeColor, badgeSvg } from '../report/badge.ts';
import { findActiveShare, sharedTestIds } from '../shares/queries.ts';
import type { SharedReportRow } from '../store/tables.generated.ts';

/** High, because image proxies send the requests of many readers from one IP address. */
const LIMIT = { requests: 300, seconds: 60 };

/** The endpoint format of shields.io, which allows no other fields. */
const BadgeJson = named(
  'Badge',
  v.object({
    schemaVersion: described(v.literal(1), 'The version of the format. Always 1.'),
    label: described(v.string(), 'The text on the left.'),
    message: described(v.string(), 'The text on the right.'),
    color: described(v.string(), 'The color of the right side, as CSS writes it.'),
  }),
  'A badge in the endpoint format of shields.io.',
  { label: 'deliverability', message: '92 A', color: '#1a7f37' },
);

const PARAMS = {
  name: described(
    v.string(),
    'The name of a domain with `badge_enabled`, or the token of a shared link.',
    'example.com',
  ),
};

const getSvg = route({
  method: 'GET',
  path: '/badges/:name.svg',
  // May be the token of a shared link.
  secretParams: ['name'],
  operation: 'getBadge',
  role: 'public',
  isPublicLink: true,
  limit: LIMIT,
  summary: 'Get a badge as an SVG image',
  description:
    'Returns the badge of a domain that has badges enabled, or of a shared report. Unknown query parameters are ignored.',
  params: PARAMS,
  produces: ['image/svg+xml'],
  errors: ['gone'],
  handle: (call) => respond(call, 'image/svg+xml', badgeSvg),
});

const getJson = route({
  method: 'GET',
  path: '/badges/:name.json',
  secretParams: ['name'],
  operation: 'getBadgeJson',
  role: 'public',
  isPublicLink: true,
  limit: 'getBadge',
  summary: 'Get a badge as JSON',
  description:
    'Returns the badge in the endpoint format of shields.io. Unknown query parameters are ignored.',
  params: PARAMS,
  produces: ['application/json'],
  json: BadgeJson,
  errors: ['gone'],
  handle: (call) => respond(call, 'application/json', jsonOf),
});

type BadgeCall = Pick<Call<'public', undefined, undefined>, 'app' | 'params'>;

async function respond(
  { app, params }: BadgeCall,
  type: string,
  format: (badge: Badge) => string,
): Promise<Response> {
  const badge = await badgeOf(app, params.name!);
  return new Response(format(badge), {
    headers: {
      'content-type': type,
      // Other websites embed it.
      'cross-origin-resource-policy': 'cross-origin',
      // A cached copy would outlive the revocation of the link.
      ...(badge.hasSecretUrl ? PRIVATE_HEADERS : { 'cache-control': 'public, max-age=300' }),
    },
  });
}

function jsonOf({ label, message, state }: Badge): string {
  const badge: v.InferOutput<typeof BadgeJson> = {
    schemaVersion: 1,
    label,
    message,
    color: badgeColor(state),
  };
  return JSON.stringify(badge);
}

export const badgeRoutes = [getSvg, getJson];

// The content of a badge: the health of a domain, or the worst grade of a shared report.

interface Badge {
  label: string;
  message: string;
  state: BadgeState;
  /** Whether the URL contains the token of a shared link and is secret. */
  hasSecretUrl: boolean;
}

const LABEL = 'deliverability';

/** The same colors as in reports. */
const STATES: Record<string, BadgeState> = {
  A: 'healthy',
  B: 'healthy',
  C: 'warning',
  D: 'warning',
  F: 'critical',
};

/**
 * `name` is a verified domain with badges enabled, or the token of a shared link. Throws the same
 * `not_found` for all other names, and `gone` for an expired or revoked link.
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
  if (!row) throw new AppError('not_found', 'Badge not found.');
  const { health_status: state, health_score: score } = row;
  const message = score === null ? state : `${state}, ${score} of 100`;
  return { label: LABEL, message, state, hasSecretUrl: false };
}

async function badgeOfShare(app: Pick<App, 'db' | 'clock'>, token: string): Promise<Badge> {
  const grade = await worstGrade(app, await findActiveShare(app, token));
  const state = (grade === null ? undefined : STATES[grade]) ?? 'unknown';
  const message = grade === null ? 'unknown' : `grade ${grade}`;
  return { label: LABEL, message, state, hasSecretUrl: true };
}

/** The worst grade; null if no remaining test has one. */
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
