/** Blocklists for tests: zones in which they answer rightly, and the default set in working order. */

import type { Blocklist, BlocklistInUse } from '../../src/analysis/blocklists/blocklist.ts';
import { chooseBlocklists } from '../../src/analysis/blocklists/choose.ts';
import { LISTS } from '../../src/analysis/blocklists/lists.ts';
import type { Zone } from '../../src/net/dns/zone.ts';

/** What the operators' own servers answer where that is not one code alone. */
const ANSWERS: Record<string, string[]> = {
  'zen.spamhaus.org': ['127.0.0.2', '127.0.0.4', '127.0.0.10'],
  'multi.surbl.org': ['127.0.0.254'],
  'multi.uribl.com': ['127.0.0.14'],
  'list.dnswl.org': ['127.0.10.0'],
};

/** Every declared list answers at its test points as it should, and lists nothing else. */
export function blocklistZone(dqsKey = 'key00000'): Zone {
  return Object.assign({}, ...LISTS.map((list) => testedList(list, dqsKey)));
}

function testedList(list: Blocklist, dqsKey: string): Zone {
  const answer = ANSWERS[list.zone] ?? [aListedCode(list)];
  const zones = [
    ...(list.needsKey ? [] : [list.zone]),
    ...(list.keyedZone ? [list.keyedZone.replace('<key>', dqsKey)] : []),
  ];
  return Object.fromEntries(zones.map((zone) => [`${list.test.listed}.${zone}`, { A: answer }]));
}

/** A code that means a listing. */
export function aListedCode({ listed }: Blocklist): string {
  if ('codes' in listed) return Object.keys(listed.codes)[0]!;
  return `127.0.0.${Object.keys(listed.bits)[0]}`;
}

/** The records of a listing. `question`: a domain, or an address reversed. */
export function listIn(zone: string, question: string, code: string, text?: string): Zone {
  return { [`${question}.${zone}`]: { A: [code], ...(text ? { TXT: [text] } : {}) } };
}

/** The default set, every list in working order; or the named zones alone. */
export function workingLists(...zones: string[]): BlocklistInUse[] {
  const changes = zones.map((zone) => ({ on: true, zone }));
  const only = zones.length > 0 ? [{ on: false, zone: 'all' }, ...changes] : [];
  return chooseBlocklists(only, null).map((chosen) => ({ ...chosen, fault: null }));
}
