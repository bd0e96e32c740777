/** Learns the DKIM selectors of the team's domains from the mail that they have signed. */

import { normalizeDomain, organizationalDomain } from '../lib/domain-names.ts';
import type { Tx } from '../store/open.ts';
import { MOST_SELECTORS } from './schema.ts';

/** Of a signature that has verified. */
export interface Signature {
  /** `d=` */
  domain: string;
  /** `s=` */
  selector: string;
}

/**
 * A selector belongs to the domain that has signed, whose key is published below it; a signature of
 * somebody other than the From domain's owner tells nothing. Of too many, the oldest are forgotten.
 */
export async function learnSelectors(
  tx: Tx,
  { fromDomain, signatures }: { fromDomain: string; signatures: Signature[] },
): Promise<void> {
  const owner = organizationalDomain(fromDomain);
  const own = signatures.flatMap(({ domain, selector }) => {
    const [name, label] = [normalizeDomain(domain), normalizeDomain(selector)];
    const isOwn = name !== null && owner !== null && organizationalDomain(name) === owner;
    return isOwn && label !== null ? [{ name, label }] : [];
  });
  if (own.length === 0) return;
  const rows = await tx
    .selectFrom('domains')
    .select(['id', 'name', 'given_selectors', 'learnt_selectors'])
    .where('name', 'in', [...new Set(own.map(({ name }) => name))])
    .execute();
  for (const { id, name, given_selectors, learnt_selectors } of rows) {
    const learnt: string[] = JSON.parse(learnt_selectors);
    const known = new Set([...JSON.parse(given_selectors), ...learnt]);
    const seen = own.flatMap((one) => (one.name === name ? [one.label] : []));
    const fresh = [...new Set(seen)].filter((label) => !known.has(label));
    if (fresh.length === 0) continue;
    const all = JSON.stringify([...learnt, ...fresh].slice(-MOST_SELECTORS));
    await tx.updateTable('domains').set({ learnt_selectors: all }).where('id', '=', id).execute();
  }
}
