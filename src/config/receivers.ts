/** Reads `RECEIVERS`: a JSON array of the accounts at receivers that publish figures about senders. */

import {
  ENTRY_NAME,
  ENTRY_NAME_RULE,
  type Entry,
  isText,
  readEntries,
  suggestion,
  unknownFields,
} from './entries.ts';
import {
  googlePreset,
  OAUTH_FIELDS,
  type OAuthClient,
  readOAuth,
  secureUrl,
  URL_RULE,
} from './oauth-client.ts';

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

const MAX_ACCOUNTS = 50;

/** Throws VariableFaults with one line for each problem. No line quotes a secret. */
export const receiverAccounts = (text: string): ReceiverAccount[] =>
  readEntries(text, {
    noun: 'account',
    plural: 'accounts',
    fields: '"receiver", and "client_id" or "key"',
    max: MAX_ACCOUNTS,
    labels: ['name', 'receiver'],
    read: readEntry,
  });

const FIELDS = {
  google_postmaster: ['receiver', 'name', 'base_url', ...OAUTH_FIELDS],
  microsoft_snds: ['receiver', 'name', 'base_url', 'key'],
} as const;
type AccountEntry = Entry<(typeof FIELDS)[ReceiverId][number]>;

const BASE_URLS: Record<ReceiverId, string> = {
  google_postmaster: 'https://gmailpostmastertools.googleapis.com',
  microsoft_snds: 'https://sendersupport.olc.protection.outlook.com/snds',
};

/** The first shows days and requirements, the second the list of domains. */
export const POSTMASTER_SCOPES = [
  'https://www.googleapis.com/auth/postmaster.traffic.readonly',
  'https://www.googleapis.com/auth/postmaster.domain',
];

/** Later requests name no permissions: a person can have granted fewer, which the API then says in words. */
const GOOGLE = {
  name: RECEIVER_NAMES.google_postmaster,
  preset: googlePreset({ scope: null, signInScope: POSTMASTER_SCOPES.join(' ') }),
};

/** The account, or what is wrong with it. */
function readEntry(entry: AccountEntry): ReceiverAccount | string[] {
  const { receiver, name = receiver } = entry;
  if (!isReceiver(receiver))
    return [`"receiver" must be ${RECEIVER_IDS.join(' or ')}${suggestion(receiver, RECEIVER_IDS)}`];
  const faults = unknownFields(entry, FIELDS[receiver]);
  if (!isText(name, ENTRY_NAME)) faults.push(`"name" ${ENTRY_NAME_RULE}`);
  const url = secureUrl(entry.base_url);
  if (url === null || url?.includes('?'))
    faults.push(`"base_url" ${URL_RULE}, and without a query`);
  const access = receiver === 'google_postmaster' ? readOAuth(entry, GOOGLE) : readKey(entry);
  if (Array.isArray(access)) return [...faults, ...access];
  if (faults.length > 0) return faults;
  const account = {
    name: String(name).toLowerCase(),
    baseUrl: (url ?? BASE_URLS[receiver]).replace(/\/+$/, ''),
  };
  return 'key' in access
    ? { receiver: 'microsoft_snds', ...account, ...access }
    : { receiver: 'google_postmaster', ...account, oauth: access };
}

const isReceiver = (value: unknown): value is ReceiverId =>
  (RECEIVER_IDS as readonly unknown[]).includes(value);

function readKey({ key }: AccountEntry): { key: string } | string[] {
  if (key === undefined)
    return [
      '"key" is missing: enable automated data access in SNDS, and copy the key from one of its links',
    ];
  return isText(key, /^[\x21-\x7e]{1,500}$/) ? { key } : ['"key" must be text without spaces'];
}
