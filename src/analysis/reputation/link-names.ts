/** Where the links of a message lead, as lists are asked about it. */

import { normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { messageLinks } from '../content/links.ts';
import type { Subject } from './ask-lists.ts';
import { addressSubject, isAskable } from './client-subject.ts';
import { nameSubject } from './name-listings.ts';
import { domainLists, namesWithin } from './sender-names.ts';

/** Enough for any honest message; a hostile one must not use up the questions of other checks. */
const MAX_NAMES = 30;
const MAX_QUESTIONS = 120;

interface LinkNames {
  subjects: Subject[];
  /** How many more there are, which nobody is asked about. */
  leftOut: number;
}

/** Organizational domains first, in the order of the message, then hosts that differ from them. */
export function linkNames(context: Context): LinkNames {
  const domains = new Map<string, Subject>();
  const hosts = new Map<string, Subject>();
  for (const { host, domain } of context.fact(messageLinks)) {
    if (host === null) continue;
    const address = normalizeAddress(host);
    if (address !== null) {
      // Lists of names know IPv4 addresses alone.
      if (isAskable(address) && !address.includes(':'))
        domains.set(address, addressSubject(address));
      continue;
    }
    // Without a dot, or as no name in the DNS can be: nothing public.
    const name = normalizeDomain(host);
    if (name === null || !name.includes('.')) continue;
    if (domain !== null) domains.set(domain, nameSubject(domain));
    if (name !== domain) hosts.set(name, nameSubject(name));
  }
  const subjects = [...domains.values(), ...hosts.values()];
  const most = namesWithin(domainLists(context), MAX_NAMES, MAX_QUESTIONS);
  return { subjects: subjects.slice(0, most), leftOut: Math.max(0, subjects.length - most) };
}
