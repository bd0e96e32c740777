/** Selects the blocklists to query from the operator's configuration. */

import { closestName } from '../../lib/closest-name.ts';
import type { Blocklist } from './blocklist.ts';
import { LISTS } from './lists.ts';

/** `+zone` or `-zone`; the zone `all` means every declared list. */
export interface BlocklistChange {
  enabled: boolean;
  zone: string;
}

export interface ChosenBlocklist {
  list: Blocklist;
  /** The zone to query, including a configured key. Never show it. */
  queryZone: string;
}

/**
 * Applies the changes in order to the default lists; `+all` skips lists whose key is missing. Throws
 * an Error that names an unknown zone, or a zone whose key is missing.
 */
export function chooseBlocklists(
  changes: BlocklistChange[],
  dqsKey: string | null,
): ChosenBlocklist[] {
  const usable = LISTS.filter(({ needsKey }) => !needsKey || dqsKey !== null);
  const enabled = new Set(usable.filter(({ byDefault }) => byDefault));
  for (const change of changes) {
    const lists = change.zone === 'all' ? usable : [findDeclared(change.zone)];
    for (const list of lists) {
      if (!change.enabled) enabled.delete(list);
      else if (usable.includes(list)) enabled.add(list);
      else throw new Error(`cannot enable ${list.zone}: it needs a Spamhaus DQS key`);
    }
  }
  return usable
    .filter((list) => enabled.has(list))
    .map((list) => ({ list, queryZone: zoneToQuery(list, dqsKey) }));
}

function zoneToQuery({ zone, keyedZone }: Blocklist, dqsKey: string | null): string {
  // A function, because `$` has a special meaning in a replacement string.
  return keyedZone && dqsKey !== null ? keyedZone.replace('<key>', () => dqsKey) : zone;
}

function findDeclared(zone: string): Blocklist {
  const declared = LISTS.find((list) => list.zone === zone);
  if (declared) return declared;
  const zones = LISTS.map((list) => list.zone);
  const suggestion = closestName(zone, zones);
  const hint = suggestion === null ? '' : ` (did you mean ${suggestion}?)`;
  throw new Error(
    `contains the unknown list ${zone}${hint}; known lists: all, ${zones.join(', ')}`,
  );
}
