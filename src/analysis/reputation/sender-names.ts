/** The domains under which the sender of a message is known: From, MAIL FROM, HELO, DKIM. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { MAX_SIGNATURES } from '../authentication/signature-fields.ts';
import { readSignature } from '../authentication/signature-tags.ts';
import type { Context } from '../check.ts';
import { fullHostName } from '../infrastructure/host-names.ts';
import { fromDomain, mailFromDomain } from '../infrastructure/sender-domains.ts';
import { fields } from '../message.ts';
import type { BlocklistInUse } from './blocklist.ts';

type SenderRole = 'from' | 'mail_from' | 'helo' | 'dkim';

export interface SenderName {
  /** The organizational domain, or the full name where it is another. */
  name: string;
  roles: SenderRole[];
}

/** A hostile message must not use up the questions that other checks have. */
const MAX_NAMES = 20;
const MAX_QUESTIONS = 80;

interface SenderNames {
  names: SenderName[];
  /** How many more there are, which nobody is asked about. */
  leftOut: number;
}

/** A fact: ask for it by `context.fact(senderNames)`. The organizational domain comes before the full name. */
export function senderNames(context: Context): SenderNames {
  const found = new Map<string, SenderRole[]>();
  for (const [role, domain] of saidDomains(context)) {
    for (const name of [organizationalDomain(domain) ?? domain, domain]) {
      const roles = found.get(name) ?? [];
      found.set(name, roles.includes(role) ? roles : [...roles, role]);
    }
  }
  const names = [...found].map(([name, roles]) => ({ name, roles }));
  const most = namesWithin(domainLists(context), MAX_NAMES, MAX_QUESTIONS);
  return { names: names.slice(0, most), leftOut: Math.max(0, names.length - most) };
}

/** The lists of names that are switched on. */
export function domainLists({ setup }: Context): BlocklistInUse[] {
  return setup.blocklists.filter(({ list }) => list.kind === 'domain');
}

/** How many names can be asked about at that many lists. */
export function namesWithin(lists: BlocklistInUse[], most: number, questions: number): number {
  return Math.min(most, Math.floor(questions / Math.max(1, lists.length)));
}

function saidDomains(context: Context): [SenderRole, string][] {
  const { helo } = context.envelope;
  const said: [SenderRole, string | null][] = [
    ['from', fromDomain(context)],
    ['mail_from', mailFromDomain(context)],
    ['helo', helo === null ? null : fullHostName(helo)],
    ...fields(context.message, 'dkim-signature')
      .slice(0, MAX_SIGNATURES)
      .map(({ value }, index): [SenderRole, string | null] => [
        'dkim',
        fullHostName(readSignature(value, index + 1, context.receivedAt).domain),
      ]),
  ];
  return said.filter((pair): pair is [SenderRole, string] => pair[1] !== null);
}
