/** Reads `RECEIVERS`: a JSON array of the accounts at receivers that publish figures about senders. */

import type { OAuthClient } from './oauth-client.ts';

export const RECEIVER_IDS = ['google_postmaster', 'microsoft_snds'] as const;
export type ReceiverId = (typeof RECEIVER_IDS)[number];

interface Account {
  /** Unique; the key of its state in the database, and its ID in the API. By default, the receiver. */
  name: string;
  /** Without a slash at the end. */
  baseUrl: string;
}

export interface GooglePostmasterAccount extends Account {
  receiver: 'google_postmaster';
  oauth: OAuthClient;
}

export interface MicrosoftSndsAccount extends Account {
  receiver: 'microsoft_snds';
  /** The key in its URLs, which is a secret. */
  key: string;
}

export type ReceiverAccount = GooglePostmasterAccount | MicrosoftSndsAccount;

/** For people. */
export const RECEIVER_NAMES: Record<ReceiverId, string> = {
  google_postmaster: 'Google Postmaster Tools',
  microsoft_snds: 'Microsoft SNDS',
};

/** Throws VariableFaults with one line for each problem. No line quotes a secret. */
export function receiverAccounts(text: string): ReceiverAccount[] {
  if (text.trim() === '') return [];
  throw new Error('is not supported yet');
}
