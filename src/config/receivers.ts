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
  SNDS_PRESET,
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
  /** Null if it has a key. */
  oauth: OAuthClient | null;
  /** The key in its URLs, which is a secret. */
  key: string | null;
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
    fields: '"receiver", and for Google "client_id"',
    max: MAX_ACCOUNTS,
    labels: ['name', 'receiver'],
    read: readEntry,
  });

const FIELDS = {
  google_postmaster: ['receiver', 'name', 'base_url', ...OAUTH_FIELDS],
  // A public client has no secret, and that of SNDS no device flow.
  microsoft_snds: [
    'receiver',
    'name',
    'base_url',
    'key',
    'client_id',
    'refresh_token',
    'token_url',
    'authorization_url',
    'scope',
  ],
} as const;
type AccountEntry = Entry<(typeof FIELDS)[ReceiverId][number]>;

/** SNDS has been there since 8 June 2026. */
const SNDS_URL = 'https://substrate.office.com/ip-domain-management-snds';
/** For people: where they confirm their access. */
export const SNDS_PAGE = `${SNDS_URL}/snds`;

const BASE_URLS: Record<ReceiverId, string> = {
  google_postmaster: 'https://gmailpostmastertools.googleapis.com',
  microsoft_snds: SNDS_URL,
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

const MICROSOFT = { name: RECEIVER_NAMES.microsoft_snds, preset: SNDS_PRESET };

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
  const key = receiver === 'microsoft_snds' && entry.key !== undefined ? readKey(entry) : null;
  const oauth =
    key === null ? readOAuth(entry, receiver === 'google_postmaster' ? GOOGLE : MICROSOFT) : null;
  if (Array.isArray(key)) faults.push(...key);
  if (Array.isArray(oauth)) faults.push(...oauth);
  if (faults.length > 0) return faults;
  const account = {
    name: String(name).toLowerCase(),
    baseUrl: (url ?? (key === null ? BASE_URLS[receiver] : SNDS_PAGE)).replace(/\/+$/, ''),
  };
  return receiver === 'google_postmaster'
    ? { receiver, ...account, oauth: oauth as OAuthClient }
    : { receiver, ...account, oauth: oauth as OAuthClient | null, key: key as string | null };
}

const isReceiver = (value: unknown): value is ReceiverId =>
  (RECEIVER_IDS as readonly unknown[]).includes(value);

/** The key, or what is wrong with it. */
function readKey(entry: AccountEntry): string | string[] {
  const { key } = entry;
  const others = OAUTH_FIELDS.filter((field) => entry[field] !== undefined);
  if (others.length > 0) return [`"key" needs no "${others[0]}": set one of them`];
  return isText(key, /^[\x21-\x7e]{1,500}$/) ? key : ['"key" must be text without spaces'];
}
