/** Gives an address its source. All its messages, also the earlier ones, count there from then on. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { type Tx, transact } from '../../store/open.ts';
import type { FeedbackAddressRow } from '../../store/tables.generated.ts';
import { moveState } from '../watch/moved-source.ts';
import type { Claim } from './claims.ts';
import { lockSources, moveSums } from './days.ts';
import type { SourceName } from './name.ts';

/** Host names and SPF records change rarely. */
const AGAIN_MS = 7 * DAY_MS;

interface Assignment {
  host: string | null;
  name: SourceName;
  /** Undefined keeps the known claim. */
  claim?: Claim;
  againMs?: number;
}

export async function assignSource(
  app: App,
  { id, domain_id }: Pick<FeedbackAddressRow, 'id' | 'domain_id'>,
  { host, name, claim, againMs = AGAIN_MS }: Assignment,
): Promise<void> {
  await transact(app.db, async (tx) => {
    // Rows of reports that arrive meanwhile count with the new source.
    await lockSources(tx, domain_id);
    const address = await tx
      .selectFrom('feedback_addresses')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    if (!address) return;
    const source = await sourceWith(tx, app, domain_id, { ...name, claim });
    const previous = address.source_id === source ? null : address.source_id;
    if (address.source_id !== source) await moveSums(tx, address, source);
    if (previous !== null) await copyMark(tx, previous, source);
    await tx
      .updateTable('feedback_addresses')
      .set({
        source_id: source,
        host,
        lease: null,
        leased_until: null,
        look_up_at: isoTime(app.clock.now() + againMs),
      })
      .where('id', '=', id)
      .execute();
    if (previous !== null) {
      await moveState(tx, app, { from: previous, to: source });
      await deleteIfEmpty(tx, previous);
    }
  });
}

async function sourceWith(
  tx: Tx,
  { newId }: Pick<App, 'newId'>,
  domain_id: string,
  { key, name, evidence, claim }: SourceName & { claim: Claim },
): Promise<string> {
  const { id } = await tx
    .insertInto('feedback_sources')
    .values({
      id: newId('src'),
      domain_id,
      key,
      name,
      evidence,
      mark: null,
      claim: claim ?? null,
      label: null,
      new_since: null,
      failing_since: null,
    })
    .onConflict((conflict) =>
      conflict.columns(['domain_id', 'key']).doUpdateSet({
        name,
        evidence,
        ...(claim === undefined ? {} : { claim }),
      }),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** What a person said about an address goes with it, unless someone said something about its new source. */
async function copyMark(tx: Tx, from: string, to: string): Promise<void> {
  const marked = await tx
    .selectFrom('feedback_sources')
    .select(['mark', 'label'])
    .where('id', '=', from)
    .where(({ or, eb }) => or([eb('mark', 'is not', null), eb('label', 'is not', null)]))
    .executeTakeFirst();
  if (marked)
    await tx
      .updateTable('feedback_sources')
      .set(marked)
      .where('id', '=', to)
      .where('mark', 'is', null)
      .where('label', 'is', null)
      .execute();
}

/** Deletes a source without addresses and days. What a person said about it stays. */
export async function deleteIfEmpty(tx: Tx, id: string): Promise<void> {
  await tx
    .deleteFrom('feedback_sources')
    .where('id', '=', id)
    .where('mark', 'is', null)
    .where('label', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('feedback_addresses').select('id').where('source_id', '=', id))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('feedback_source_days').select('day').where('source_id', '=', id))),
    )
    .execute();
}
