/** Numbers that count up, in `service_facts`. A transaction that takes the next one holds the counter until it ends. */

import { sql } from 'kysely';
import type { Tx } from './types.ts';

/** The next number, from 1 on. */
export async function nextNumber(tx: Tx, name: string): Promise<number> {
  const next = sql<string>`cast(cast(service_facts.value as bigint) + 1 as text)`;
  const { value } = await tx
    .insertInto('service_facts')
    .values({ name, value: '1' })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: next }))
    .returning('value')
    .executeTakeFirstOrThrow();
  return Number(value);
}
