/** The cause of a consequence in a few words, for the end of the headline. */

import { type ConsequenceId, type FindFact, hasOnlyEd25519, lacks } from './consequences.ts';
import type { ReportedFact } from './result.ts';

type FindReported = (id: string) => ReportedFact | undefined;

/** The checks whose titles say more than the consequence. None of these quotes the message. */
const TITLED: Partial<Record<ConsequenceId, string[]>> = {
  listed_address: ['ip_blocklists'],
  invalid_from: ['from'],
  no_reverse_dns: ['ptr', 'fcrdns'],
  malformed_lines: ['encoding'],
  unreachable_sender: ['mx', 'return_path'],
  one_click: ['list_unsubscribe', 'one_click'],
  invalid_message_id: ['message_id'],
  duplicate_fields: ['header_duplicates'],
  too_large: ['message_size'],
};

const UNAUTHENTICATED: string[] = [
  ...(['dmarc_fails', 'dmarc_fails_without_policy'] satisfies ConsequenceId[]),
  ...(['unaligned_bulk', 'unauthenticated_from'] satisfies ConsequenceId[]),
];

/** Only one of SPF and DKIM passes. */
export const ONE_MECHANISM: string[] = [
  'no_spf',
  'no_dkim',
  'unseen_dkim',
] satisfies ConsequenceId[];

/** Clauses for the headline, the most exact first; empty if the consequence says all. */
export function causesOf(id: string, find: FindReported): string[] {
  if (UNAUTHENTICATED.includes(id)) return unauthenticated(find);
  if (ONE_MECHANISM.includes(id)) return [passingMethod(find)];
  if (id === 'bulk_authentication') return missingMethods(find);
  const ids = TITLED[id as ConsequenceId] ?? [];
  return ids.flatMap((check) => clauseOf(find(check)) ?? []);
}

/** The title of a problem as a clause; null for another status, and if it quotes or explains something. */
export function clauseOf(fact: ReportedFact | undefined): string | null {
  if (fact?.status !== 'fail' && fact?.status !== 'warn') return null;
  return /[“"”:;!?]|\. /.test(fact.title) ? null : asClause(fact.title);
}

/** A sentence about the message as the end of another. */
export const asClause = (title: string): string =>
  title
    .replace(/\.$/, '')
    .replace(/^Your message /, 'it ')
    .replace(/^Your /, 'its ')
    .replace(/^(?:The|A|An|No|Only|None|Some|Bounces|Replies) /, (word) => word.toLowerCase());

const isPassing = (find: FindFact, id: string): boolean =>
  ['pass', 'warn'].includes(find(id)?.status ?? '');

/** Why neither SPF nor DKIM authenticates From. */
function unauthenticated(find: FindReported): string[] {
  const stateOf = (method: string): 'fails' | 'is unaligned' | null => {
    if (lacks(find, method)) return 'fails';
    const isUnaligned = ['fail', 'info'].includes(find(`${method}_alignment`)?.status ?? '');
    return isPassing(find, method) && isUnaligned ? 'is unaligned' : null;
  };
  const [spf, dkim] = [stateOf('spf'), stateOf('dkim')];
  if (spf === null || dkim === null) return [];
  const { signatures } = find('dkim')?.evidence ?? {};
  if (Array.isArray(signatures) && signatures.length === 0) return [`no DKIM, and SPF ${spf}`];
  if (spf !== dkim) return [`SPF ${spf}, and DKIM ${dkim}`];
  return [spf === 'fails' ? 'SPF and DKIM fail' : 'SPF and DKIM are unaligned'];
}

const LIST = new Intl.ListFormat('en-GB');

function missingMethods(find: FindReported): string[] {
  const missing = [
    ...(lacks(find, 'spf') ? ['valid SPF'] : []),
    ...(lacks(find, 'dkim') ? ['valid DKIM'] : []),
    ...(!lacks(find, 'dkim') && hasOnlyEd25519(find) ? ['DKIM with RSA'] : []),
    ...(lacks(find, 'dmarc_policy') ? ['a DMARC record'] : []),
  ];
  return missing.length > 0 ? [`it lacks ${LIST.format(missing)}`] : [];
}

/** Which of SPF and DKIM passes, as a clause. */
function passingMethod(find: FindReported): string {
  if (!lacks(find, 'spf') && !lacks(find, 'dkim') && hasOnlyEd25519(find))
    return 'Gmail and Microsoft see no DKIM';
  const [name, other] = lacks(find, 'spf') ? ['SPF', 'DKIM'] : ['DKIM', 'SPF'];
  return isPassing(find, other.toLowerCase()) ? `only ${other} passes` : `${name} does not pass`;
}

/** The same as a whole sentence, with why the other one does not pass if there is room; the most exact first. */
export function oneMechanism(find: FindReported): string[] {
  const state = passingMethod(find);
  const clause = clauseOf(find(lacks(find, 'spf') ? 'spf' : 'dkim'));
  return [
    ...(clause === null ? [] : [`Likely to be accepted, but ${state}: ${clause}.`]),
    `Mailbox providers are likely to accept this message, but ${state}.`,
  ];
}
