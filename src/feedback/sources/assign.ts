/** Gives an address its source. All its messages, also the earlier ones, count there from then on. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { lockIn, type Tx, transact } from '../../store/open.ts';
import type { FeedbackAddressRow } from '../../store/tables.generated.ts';
import { moveDays } from './days.ts';
import type { SourceName } from './name.ts';

/** Host names and SPF records change rarely. */
const AGAIN_MS = 7 * 86_400_000;

export async function assignSource(
  app: App,
  { id }: Pick<FeedbackAddressRow, 'id'>,
  { host, name }: { host: string | null; name: SourceName },
): Promise<void> {
  await transact(app.db, async (tx) => {
    const query = tx.selectFrom('feedback_addresses').selectAll().where('id', '=', id);
    // Rows of reports that arrive meanwhile count with the new source.
    const address = await lockIn(tx, query).executeTakeFirst();
    if (!address) return;
    const source = await sourceWith(tx, app, address.domain_id, name);
    if (source !== address.source_id) await moveDays(tx, address, source);
    await tx
      .updateTable('feedback_addresses')
      .set({
        ...{ source_id: source, host, lease: null, leased_until: null },
        look_up_at: isoTime(app.clock.now() + AGAIN_MS),
      })
      .where('id', '=', id)
      .execute();
    if (address.source_id !== null && address.source_id !== source)
      await deleteIfEmpty(tx, address.source_id);
  });
}

async function sourceWith(
  tx: Tx,
  { newId }: Pick<App, 'newId'>,
  domain_id: string,
  { key, name, evidence }: SourceName,
): Promise<string> {
  await tx
    .insertInto('feedback_sources')
    .values({ id: newId('src'), domain_id, key, name, evidence, mark: null, label: null })
    .onConflict((conflict) => conflict.columns(['domain_id', 'key']).doNothing())
    .execute();
  const { id } = await tx
    .selectFrom('feedback_sources')
    .select('id')
    .where('domain_id', '=', domain_id)
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
  return id;
}

/** What a person said about it stays. */
async function deleteIfEmpty(tx: Tx, id: string): Promise<void> {
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
