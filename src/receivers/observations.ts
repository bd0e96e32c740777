/** What fetches observe: spam rates, requirements of Google, and sending addresses. Only of configured accounts. */

import type { ReceiverId } from '../config/receivers.ts';
import type { Observed } from '../events/observations.ts';
import type { SPAM_RATE } from '../figures/gmail.ts';
import type { AccountState } from './account-state.ts';

/** What a fetch found out about an account. The subject is its name. */
export interface ReceiverObservation extends Observed {
  kind: 'receiver';
  domainId: null;
  receiver: ReceiverId;
  state: AccountState;
  /** The code of the problem, and what to do about it or about an access that ends soon. */
  problem: string | null;
  detail: string | null;
  /** For how long fetches have failed. */
  failingMs: number;
}

/** The latest day of a domain with a spam rate at Google. The subject is the name of the domain. */
export interface SpamRateObservation extends Observed {
  kind: typeof SPAM_RATE.name;
  domainId: string;
  /** Null if Google published no rate for the last 7 days. */
  day: string | null;
  /** From 0 to 1: messages that users reported as spam among those that reached their inboxes. */
  spamRate: number | null;
}

/** What Google says about a requirement. The subject is the domain, a space, and the requirement. */
export interface RequirementObservation extends Observed {
  kind: 'requirement';
  domainId: string;
  domain: string;
  /** The name that Google uses, such as `SPF`. */
  requirement: string;
  /** Such as `COMPLIANT` and `NEEDS_WORK`. */
  status: string;
  /** Null if it has had no other since it was first seen. */
  previous: string | null;
  /** When the status was first seen. */
  since: string;
  /** Why, as Google says it. */
  reason: string | null;
}

/** From the best to the worst. */
export const FILTER_RESULTS = ['GREEN', 'YELLOW', 'RED'] as const;
export type FilterResult = (typeof FILTER_RESULTS)[number];

/** What Microsoft says about an address. The subject is the address, or the first and the last of a range: `192.0.2.0-192.0.2.255`. */
export interface SendingAddressObservation extends Observed {
  kind: 'sending_address';
  domainId: null;
  /** Null if it is not known, or if a larger range is blocked, which has an observation of its own. */
  blocked: boolean | null;
  /** What Microsoft says about the block. */
  details: string | null;
  /** Of the latest day within the last 7; null if there is none. Always null for a range. */
  filterResult: FilterResult | null;
  day: string | null;
  /** Since when it has been blocked or not (a time); if that is not known, the first day with this filter result. */
  since: string | null;
}

declare module '../events/observations.ts' {
  interface Observations {
    [SPAM_RATE.name]: SpamRateObservation;
    receiver: ReceiverObservation;
    requirement: RequirementObservation;
    sending_address: SendingAddressObservation;
  }
}
