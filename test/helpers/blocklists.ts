/** Blocklists for tests: zones with correct answers, and the default set of lists without errors. */

import type { Blocklist, BlocklistInUse } from '../../src/analysis/blocklists/blocklist.ts';
import { chooseBlocklists } from '../../src/analysis/blocklists/choose.ts';
import { LISTS } from '../../src/analysis/blocklists/lists.ts';
import type { Zone } from '../../src/net/dns/zone.ts';

/** Answers of the real servers at their test points, if they are more than one code. */
const ANSWERS: Record<string, string[]> = {
  'zen.spamhaus.org': ['127.0.0.2', '127.0.0.4', '127.0.0.10'],
  'multi.surbl.org': ['127.0.0.254'],
  'multi.uribl.com': ['127.0.0.14'],
  'list.dnswl.org': ['127.0.10.0'],
};

/** Every declared list answers its test queries correctly and lists nothing else. */
export function blocklistZone(dqsKey = 'key00000'): Zone {
  return Object.assign({}, ...LISTS.map((list) => testedList(list, dqsKey)));
}

function testedList(list: Blocklist, dqsKey: string): Zone {
  const answer = ANSWERS[list.zone] ?? [listedCode(list)];
  const zones = [
    ...(list.needsKey ? [] : [list.zone]),
    ...(list.keyedZone ? [list.keyedZone.replace('<key>', dqsKey)] : []),
  ];
  return Object.fromEntries(zones.map((zone) => [`${list.test.listed}.${zone}`, { A: answer }]));
}

/** A return code that means a listing. */
export function listedCode({ listed }: Blocklist): string {
  if ('codes' in listed) return Object.keys(listed.codes)[0]!;
  return `127.0.0.${Object.keys(listed.bits)[0]}`;
}

/** The records of a listing. `subject`: a domain or a reversed IP address. */
export function listIn(zone: string, subject: string, code: string, text?: string): Zone {
  return { [`${subject}.${zone}`]: { A: [code], ...(text ? { TXT: [text] } : {}) } };
}

/** The default lists, or only those of the given zones; all without errors. */
export function workingLists(...zones: string[]): BlocklistInUse[] {
  const changes = zones.map((zone) => ({ enabled: true, zone }));
  const only = zones.length > 0 ? [{ enabled: false, zone: 'all' }, ...changes] : [];
  return chooseBlocklists(only, null).map((chosen) => ({ ...chosen, fault: null }));
}
