/** Plans how proposed records become records of a zone: what is added, what is replaced, and what is kept. */

import { createHash } from 'node:crypto';
import type { RecordSet, RecordSource } from './server.ts';

/** A record that a finding proposes, or that verifies a domain. */
export interface ProposedRecord {
  type: string;
  name: string;
  value: string;
  /** What it is for, as a sentence. */
  purpose: string;
  /** The ids of the checks that propose it. */
  checks: string[];
  /**
   * The values at this name and type that the check saw, and from which it made its proposal. What has changed since is
   * kept. Null if they are not known.
   */
  basedOn: string[] | null;
  /** Published beside other records, whatever they are, such as the verification records of several teams. */
  isAdded?: boolean;
  /** Why it cannot be published as it is; null if it can. */
  problem: string | null;
}

/** The change of one set of records. */
export interface PlannedChange {
  name: string;
  type: string;
  /** Null if the server does not hold the name. */
  zone: string | null;
  before: RecordSet;
  /** Equal to `before` if there is a problem, or nothing to do. */
  after: RecordSet;
  purpose: string;
  checks: string[];
  action: 'add' | 'replace' | 'none';
  /** Why it cannot be applied, and what to do; null if it can. */
  problem: string | null;
  /** What to know before applying it. */
  caution: string | null;
}

/** At most one change for each name and type. Rejects with a DnsServerError if records cannot be read. */
export async function planChanges(
  source: RecordSource,
  proposals: ProposedRecord[],
): Promise<PlannedChange[]> {
  void source;
  void proposals;
  throw new Error('in progress');
}

/** Stands for what a person has confirmed: the zones, and the values before and after. */
export function planToken(changes: PlannedChange[]): string {
  const essence = changes
    .filter(({ action }) => action !== 'none')
    .map(({ zone, before, after }) => [zone, before, after])
    .map((change) => JSON.stringify(change))
    .toSorted();
  return createHash('sha256').update(JSON.stringify(essence)).digest('hex').slice(0, 32);
}
