/** What a client sees of a domain, and how texts for the team become such. */

import { addressRule } from './redact-addresses.ts';

export interface DomainStatus {
  name: string;
  state: 'pass' | 'warn' | 'fail' | 'unknown';
  headline: string;
  since: string | null;
  /** `reject`, or in words that none is known. */
  policy: string;
  messages: number;
  passed: number;
  problems: { title: string; step: string }[];
}

export interface StoredStatus {
  domains: DomainStatus[];
  omitted: number;
}

const shorten = addressRule(new Set());
const IP_ADDRESS =
  /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4})(?:\/\d{1,3})?(?![\w:])/gi;

/** Without IP addresses, mailboxes and paths: they show the team's servers, senders and seed mailboxes. */
export const forClients = (text: string): string =>
  shorten(
    text.replace(IP_ADDRESS, (_, at: number) =>
      at === 0 || text[at - 2] === '.' ? 'A sending address' : 'a sending address',
    ),
    'sentence',
  );
