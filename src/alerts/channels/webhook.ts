/** Webhooks: the endpoints of the team that subscribe to `alert.*` events. */

import type { Db, Tx } from '../../store/open.ts';
import { subscribesTo } from '../../webhooks/enqueue.ts';
import type { Channel } from './channel.ts';

export const webhook: Channel = {
  name: 'Webhook',
  hints: {
    configured: 'Sends `alert.triggered` and `alert.resolved` to your live endpoints.',
    unconfigured:
      'No enabled live endpoint gets `alert.triggered`. [Add an endpoint](/webhooks/new).',
  },
  fields: [],
  unconfigured: 'no enabled webhook endpoint subscribes to this event',
  isConfigured: (_app, _rule, hasWebhookEndpoint) => hasWebhookEndpoint,
  // The deliveries of the event track its progress, each with its own attempts.
  queue: async () => [{ status: 'queued' }],
};

/** `held`: the endpoint was disabled automatically, so its deliveries wait until someone recovers them. */
export type SubscribedEndpoints = { id: string; held: boolean }[];

/** The enabled live endpoints that subscribe to events of this type. Events of alerts are live. */
export async function findSubscribedEndpoints(
  db: Db | Tx,
  type: string,
): Promise<SubscribedEndpoints> {
  const endpoints = await db
    .selectFrom('webhook_endpoints')
    .select(['id', 'events', 'auto_disabled_at'])
    .where('enabled', '=', 1)
    .where('livemode', '=', 1)
    .where('deleted_at', 'is', null)
    .execute();
  return endpoints
    .filter(({ events }) => subscribesTo(events, type))
    .map(({ id, auto_disabled_at }) => ({ id, held: auto_disabled_at !== null }));
}
