/** What a blocklist monitor looks at: addresses and names, as people write them and as lists are asked. */

import * as v from 'valibot';
import { readDomainName } from '../analysis/domain/read-domain-name.ts';
import { isAskable } from '../analysis/reputation/client-subject.ts';
import { normalizeAddress } from '../lib/addresses.ts';

const MOST_TARGETS = 50;
const LONGEST = 300;

/** `203.0.113.0/24`, `2001:db8::/32` */
const RANGE = /^[\da-f.:]+\/\d+$/i;

/** Half a sentence that follows the name of the field; null where nothing is wrong. */
function faultOf(written: string): string | null {
  const text = written.trim();
  if (text === '') return 'is empty; give a public IP address, or a name such as example.com';
  if (RANGE.test(text)) return 'is a range of addresses; give the single addresses';
  const address = normalizeAddress(text);
  if (address === null) {
    const { fault } = readDomainName(text);
    if (fault === undefined) return null;
    // "is …; give …, or an IP address", "is no …, nor an IP address"
    return `${fault}, ${fault.includes(';') ? 'or' : 'nor'} an IP address`;
  }
  return isAskable(address)
    ? null
    : 'is a private or special address, about which no list is asked; give a public one';
}

const normalTarget = (text: string): string =>
  normalizeAddress(text.trim()) ?? readDomainName(text).name ?? text;

const Target = v.pipe(
  v.string('must be text'),
  v.maxLength(LONGEST, `must have at most ${LONGEST} characters`),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.value.length > LONGEST) return;
    const message = faultOf(dataset.value);
    if (message !== null) addIssue({ message });
  }),
  v.transform(normalTarget),
);

/** Normalised, each once. */
export const Targets = v.pipe(
  v.array(Target, 'must be a list of IP addresses and names'),
  v.minLength(1, 'must name a target at least'),
  v.maxLength(MOST_TARGETS, `must name at most ${MOST_TARGETS} targets`),
  v.transform((targets) => [...new Set(targets)]),
);
