/** What a source is to a domain, from its name, what a person said, and how its messages fared. */

import type { SendingService } from '../../analysis/sending-services/service.ts';
import {
  GATEWAYS,
  HOSTING_PROVIDERS,
  MAILBOX_HOSTS,
} from '../../analysis/sending-services/services.ts';
import {
  FAILING_SHARE,
  FAILING_SHARE_TEXT,
  failsDmarc,
  MIN_FAILING_MESSAGES,
} from '../../figures/dmarc.ts';
import type { FeedbackSourceRow } from '../../store/tables.generated.ts';
import type { SourceBasis } from './name.ts';

/**
 * With the word and the state on pages, and the meaning in the API. Anyone can be a customer of a sending service, so one
 * whose messages never pass is the domain's only with a claim (`claims.ts`). Web hosts, mailbox hosts and gateways also send mail of
 * other customers, and forwarded mail. Without a claim, they are the domain's only if most of their messages pass SPF for it.
 */
export const KINDS = {
  own: {
    word: 'Your server',
    state: 'pass',
    meaning: 'passes from a server of the domain, or one that you marked',
  },
  service: {
    word: 'Your service',
    state: 'pass',
    meaning: 'a known sending service of the domain that passes',
  },
  misconfigured: {
    word: 'Misconfigured',
    state: 'fail',
    meaning: `one of these for which more than ${FAILING_SHARE_TEXT} of the messages fail`,
  },
  forwarder: { word: 'Forwarder', state: 'info', meaning: 'forwards messages of the domain' },
  spoof: {
    word: 'Not yours',
    state: 'info',
    meaning: 'has never passed, and nothing shows that it is yours',
  },
  unknown: { word: 'Unknown', state: 'info', meaning: 'anything else' },
} as const;

export type SourceKind = keyof typeof KINDS;
export const SOURCE_KINDS = Object.keys(KINDS) as SourceKind[];

/** What a person said, with its word on pages: it is ours, it forwards, or it is not ours. */
export const MARK_WORDS = { own: 'Ours', forwarder: 'Forwarder', foreign: 'Not ours' } as const;
export type SourceMark = keyof typeof MARK_WORDS;
export const SOURCE_MARKS = Object.keys(MARK_WORDS) as SourceMark[];

export interface SourceTotals {
  messages: number;
  passed: number;
  /** Messages that pass with this method, aligned. */
  dkim: number;
  spf: number;
  /** Messages that a receiver identified as forwarded. */
  forwarded: number;
}

/** Below this share of passing messages, a sender that belongs to the domain is not set up correctly. */
const CONFIGURED_SHARE = 1 - FAILING_SHARE;

/** What others send in the name of the domain is a number, not a problem. */
export const OWN_KINDS: SourceKind[] = ['own', 'service', 'misconfigured'];

/** Whether a sender of the domain’s own mail fails. */
export const isOwnFailing = (
  source: Pick<SourceTotals, 'messages' | 'passed'> & { kind: SourceKind },
): boolean =>
  OWN_KINDS.includes(source.kind) && source.messages >= MIN_FAILING_MESSAGES && failsDmarc(source);

export const basisOf = (key: string): SourceBasis => key.slice(0, key.indexOf(' ')) as SourceBasis;

/** The part of the key after the basis, such as the ID of a service. */
export const subjectOf = (key: string): string => key.slice(key.indexOf(' ') + 1);

/** Whether a source sums up many senders, so that it can be neither new nor failing. */
export const isRest = (key: string): boolean => basisOf(key) === 'rest';

/** What determines the kind of a source, besides its messages. */
export type KnownSource = Pick<FeedbackSourceRow, 'key' | 'claim'> & { mark: string | null };

export function kindOf({ key, mark, claim }: KnownSource, totals: SourceTotals): SourceKind {
  const { messages, passed } = totals;
  const basis = basisOf(key);
  if (mark === 'forwarder') return 'forwarder';
  if (mark === 'foreign') return 'spoof';
  if (mark === 'own' || basis === 'own' || (basis === 'service' && isUsed(key, claim, totals))) {
    if (messages > 0 && passed < messages * CONFIGURED_SHARE) return 'misconfigured';
    return basis === 'service' ? 'service' : 'own';
  }
  const isNamed = isNamedBySpf(totals);
  const isForwarder = (basis === 'forwarder' && !isNamed) || forwards(key, totals);
  if (isForwarder && !isRest(key)) return 'forwarder';
  if (messages === 0) return 'unknown';
  if (isRest(key)) return passed === 0 ? 'spoof' : 'unknown';
  // SPF passes for the domain, so it names the server in a way that was not seen.
  if (isNamed) return passed < messages * CONFIGURED_SHARE ? 'misconfigured' : 'own';
  return passed === 0 && !isOf(GATEWAY_IDS, key) ? 'spoof' : 'unknown';
}

const isNamedBySpf = ({ messages, spf }: SourceTotals): boolean => spf > messages / 2;

/** Whether the domain uses this service. Forwarded messages that still pass by their signature don't show that. */
const isUsed = (key: string, claim: string | null, totals: SourceTotals): boolean =>
  claim !== null || isNamedBySpf(totals) || (totals.passed > 0 && !isOf(FORWARDING, key));

const idsOf = (...lists: SendingService[][]) => new Set(lists.flat().map(({ id }) => id));

const GATEWAY_IDS = idsOf(GATEWAYS);
const FORWARDING = idsOf(MAILBOX_HOSTS, HOSTING_PROVIDERS, GATEWAYS);

const isOf = (ids: Set<string>, key: string): boolean =>
  basisOf(key) === 'service' && ids.has(subjectOf(key));

/** Receivers say so, or the signature of the domain arrives from a server that its SPF record does not name. */
function forwards(key: string, { messages, dkim, spf, forwarded }: SourceTotals): boolean {
  if (messages === 0) return false;
  // A service for sending often passes with DKIM alone.
  if (basisOf(key) === 'service' && !isOf(FORWARDING, key)) return false;
  if (spf > messages / 2) return false;
  // A server that signs only some of its messages is not one that passes on signed ones.
  return forwarded > messages / 2 || dkim >= messages * CONFIGURED_SHARE;
}
