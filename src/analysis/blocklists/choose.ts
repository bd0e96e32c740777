/** Which of the declared blocklists are asked, by the operator's configuration. */

import { nearest } from '../../lib/nearest.ts';
import type { Blocklist } from './blocklist.ts';
import { LISTS } from './lists.ts';

/** `+zone` or `-zone`; `all` stands for every declared one. */
export interface BlocklistChange {
  on: boolean;
  zone: string;
}

export interface ChosenBlocklist {
  list: Blocklist;
  /** The zone to ask, with the key where one is configured. Never shown. */
  asked: string;
}

/**
 * The default set with the changes made in their order; `+all` passes over what a key is lacking
 * for. Throws an Error that names an unknown zone, or one that needs a key.
 */
export function chooseBlocklists(
  changes: BlocklistChange[],
  dqsKey: string | null,
): ChosenBlocklist[] {
  const usable = LISTS.filter(({ needsKey }) => !needsKey || dqsKey !== null);
  const on = new Set(usable.filter(({ byDefault }) => byDefault));
  for (const change of changes) {
    const lists = change.zone === 'all' ? usable : [declared(change.zone)];
    for (const list of lists) {
      if (!change.on) on.delete(list);
      else if (usable.includes(list)) on.add(list);
      else throw new Error(`cannot switch ${list.zone} on: it needs a Spamhaus DQS key`);
    }
  }
  return usable
    .filter((list) => on.has(list))
    .map((list) => ({ list, asked: zoneToAsk(list, dqsKey) }));
}

function zoneToAsk({ zone, keyedZone }: Blocklist, dqsKey: string | null): string {
  // A function: the text of a replacement would have `$` mean something.
  return keyedZone && dqsKey !== null ? keyedZone.replace('<key>', () => dqsKey) : zone;
}

function declared(zone: string): Blocklist {
  const found = LISTS.find((list) => list.zone === zone);
  if (found) return found;
  const zones = LISTS.map((list) => list.zone);
  const meant = nearest(zone, zones);
  const question = meant === null ? '' : `, perhaps ${meant} was meant`;
  throw new Error(
    `names a list that is not known, ${zone}${question}; known are all, ${zones.join(', ')}`,
  );
}
