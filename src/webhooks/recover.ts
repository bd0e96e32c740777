/** All that an endpoint has missed, sent once more. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import type { Call } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { transact } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import { type Author, audit } from '../team/audit.ts';
import { standing } from '../team/permissions.ts';
import { endpointOr404, requireActive } from './endpoints.ts';
import { beginRound } from './resend.ts';
import type { WebhookRecovery } from './schema.ts';

/** In pieces, so that others get to write in between. */
const BATCH = 500;

interface Recoverer extends Author {
  app: App;
  actor: Actor;
  keep: Call<'admin', undefined, undefined>['keep'];
}

/**
 * Gives each delivery that failed or was held, and was made since then, a new round that is due at
 * once. Throws `conflict` for an endpoint that is not active, also where it is switched off
 * meanwhile: what is left is then held as before.
 */
export async function recoverDeliveries(
  call: Recoverer,
  endpointId: string,
  since: string,
): Promise<WebhookRecovery> {
  const { app, keep } = call;
  const until = isoTime(app.clock.now());
  const object = { type: 'webhook_endpoint', id: endpointId };
  let recovered = 0;
  let after = '';
  for (;;) {
    const { ids, answer } = await transact(app.db, async (tx) => {
      await standing(tx, call, 'admin');
      requireActive(await endpointOr404(tx, endpointId));
      if (after === '')
        await audit(tx, call, { action: 'webhook_endpoint.recovered', object, details: { since } });
      const ids = await someMissed(tx, { endpointId, since, until, after });
      if (ids.length > 0) await beginRound(tx, app, ids, 'recover');
      const answer = answerOf(endpointId, since, recovered + ids.length);
      if (ids.length < BATCH) await keep(tx, answer);
      return { ids, answer };
    });
    if (ids.length < BATCH) return answer;
    recovered = answer.recovered;
    after = ids.at(-1)!;
  }
}

const answerOf = (endpoint_id: string, since: string, recovered: number): WebhookRecovery => ({
  object: 'webhook_recovery',
  endpoint_id,
  since,
  recovered,
});

interface Missed {
  endpointId: string;
  since: string;
  until: string;
  /** The id of the last that was found before. */
  after: string;
}

/** Oldest first; what has nothing to send any more is left out. */
async function someMissed(tx: Tx, { endpointId, since, until, after }: Missed): Promise<string[]> {
  const found = await tx
    .selectFrom('webhook_deliveries as delivery')
    .select('delivery.id')
    .where('endpoint_id', '=', endpointId)
    .where('delivery.id', '>', after)
    .where('status', 'in', ['failed', 'held'])
    .where('delivery.created_at', '>=', since)
    .where('delivery.created_at', '<=', until)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('sample', 'is not', null),
        exists(selectFrom('events').select('events.id').whereRef('events.id', '=', 'event_id')),
      ]),
    )
    .orderBy('delivery.id')
    .limit(BATCH)
    .execute();
  return found.map(({ id }) => id);
}
