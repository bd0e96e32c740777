/** Badges for pages of others, as images and in the form that badge services read (contract §5). */

import * as v from 'valibot';
import { PRIVATE_FIELDS } from '../http/private-fields.ts';
import { type Call, route } from '../http/route.ts';
import { badgeColour, badgeSvg } from '../render/badge.ts';
import { type Badge, badgeOf } from './badge-state.ts';

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
