/** The sums of sources by the domain in From: `p` applies to the domain itself, and `sp` to its subdomains. */

import { sql } from 'kysely';
import type { Db } from '../../store/open.ts';
import type { Period } from '../sums.ts';
import { rowSums, SUM_COLUMNS, type SumColumn } from './days.ts';
import type { PolicyStep } from './policy-step.ts';
import { senderOf } from './tenants.ts';

type Sums = Record<SumColumn, number>;

/** By the ID of the source. Reads rows, which is slower than daily sums, and needed only for records with `sp`. */
export async function sumsByFrom(
  db: Db,
  { domain, from, to }: Period,
  scope: Exclude<PolicyStep['scope'], 'all'>,
): Promise<Map<string, Sums>> {
  const isOfDomain = sql`coalesce(r.header_from, ${domain.name}) = ${domain.name}`;
  const { rows } = await sql<Record<SumColumn | 'source_id', string>>`
    select a.source_id, ${rowSums}
    from dmarc_rows r
    inner join feedback_addresses a on a.id = r.domain_id || ' ' || ${senderOf('r')}
    where r.domain_id = ${domain.id} and r.counted = 1 and r.day >= ${from} and r.day <= ${to}
      and a.source_id is not null
      and ${scope === 'domain' ? isOfDomain : sql`not ${isOfDomain}`}
    group by a.source_id`.execute(db);
  return new Map(
    rows.map(({ source_id, ...counts }) => [
      source_id,
      Object.fromEntries(SUM_COLUMNS.map((name) => [name, Number(counts[name])])) as Sums,
    ]),
  );
}
