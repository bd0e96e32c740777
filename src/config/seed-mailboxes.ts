/** Reads `SEED_MAILBOXES`: a JSON array of the mailboxes in which placement tests look. */

import { isIP } from 'node:net';
import {
  ENTRY_NAME,
  ENTRY_NAME_RULE,
  type Entry,
  isText,
  readEntries,
  suggestion,
  unknownFields,
} from './entries.ts';
import { type OAuthClient, secureUrl, URL_RULE } from './oauth-client.ts';
import { readSeedOAuth, SEED_OAUTH_FIELDS } from './seed-oauth.ts';
import { isKnownProvider, SEED_PROVIDERS, seedProvider } from './seed-providers.ts';

export interface ImapServer {
  host: string;
  port: number;
  /** `implicit`: TLS from the first byte. `starttls`: required before signing in. `loopback`: used if offered. */
  tls: 'implicit' | 'starttls' | 'loopback';
  user: string;
}

/** How to sign in to an IMAP server. */
export type ImapAccount = ImapServer & ({ password: string } | { accessToken: string });

export interface SeedMailbox {
  /** Unique; the key of its state in the database. */
  name: string;
  /** The ID of the provider. */
  provider: string;
  address: string;
  /** Null if it is read through Microsoft Graph. The password is null with OAuth 2. */
  imap: (ImapServer & { password: string | null }) | null;
  /** The base URL of Microsoft Graph; null if it is read over IMAP. */
  graphUrl: string | null;
  /** The user name of its account, if that is not the address; null over IMAP. */
  graphUser: string | null;
  /** Null if it signs in with a password. */
  oauth: OAuthClient | null;
  /** Concurrent connections: with two or more, one waits for new mail (IDLE). */
  connections: number;
  plusAddresses: boolean;
  /** Names of spam folders besides those that the server flags. */
  junk: string[];
}

const FIELDS = [
  'name',
  'provider',
  'address',
  'imap',
  'user',
  'password',
  'connections',
  'plus_addresses',
  'junk',
  'api',
  'graph_url',
  ...SEED_OAUTH_FIELDS,
] as const;
type MailboxEntry = Entry<(typeof FIELDS)[number]>;

const DEFAULT_GRAPH_URL = 'https://graph.microsoft.com/v1.0';

export const MAX_SEED_MAILBOXES = 200;
const MAX_CONNECTIONS = 15;

/** Throws VariableFaults with one line for each problem. No line quotes a password. */
export const seedMailboxes = (text: string): SeedMailbox[] =>
  readEntries(text, {
    noun: 'mailbox',
    plural: 'mailboxes',
    fields: '"provider", "address" and "password"',
    max: MAX_SEED_MAILBOXES,
    labels: ['name', 'address'],
    read: readEntry,
  });

/** Without characters that separate addresses in a list. */
const ADDRESS = /^[^\s@<>(),;:"\\\x00-\x1f\x7f]+@[^\s@<>(),;:"\\\x00-\x1f\x7f]+$/;

/** The mailbox, or what is wrong with it. */
function readEntry(entry: MailboxEntry): SeedMailbox | string[] {
  const faults = unknownFields(entry, FIELDS);
  const { provider, address, name = address, password, junk = [] } = entry;
  if (!isText(provider, /^[a-z0-9][a-z0-9_-]{0,39}$/))
    return [...faults, `"provider" must be ${PROVIDER_RULE}${similarProvider(provider)}`];
  if (password !== undefined && !isText(password, /^[^\x00-\x1f\x7f]*$/))
    return [...faults, '"password" must be text without line breaks'];
  const preset = seedProvider(provider);
  const { connections = preset.connections, plus_addresses = preset.plusAddresses } = entry;
  if (!isText(address, ADDRESS) || address.length > 254)
    faults.push('"address" must be an email address');
  else if (!isText(name, ENTRY_NAME))
    faults.push(
      `"name" ${name === address ? 'is missing: for this address, it ' : ''}${ENTRY_NAME_RULE}`,
    );
  if (!isCount(connections, MAX_CONNECTIONS))
    faults.push(`"connections" must be a whole number from 1 to ${MAX_CONNECTIONS}`);
  if (typeof plus_addresses !== 'boolean') faults.push('"plus_addresses" must be true or false');
  if (!isFolderList(junk)) faults.push('"junk" must be an array of up to 10 folder names');
  const access = readAccess(entry, provider);
  if (Array.isArray(access)) return [...faults, ...access];
  if (faults.length > 0) return faults;
  return {
    name: String(name).toLowerCase(),
    provider,
    address: String(address).toLowerCase(),
    ...access,
    connections: connections as number,
    plusAddresses: plus_addresses as boolean,
    junk: [...(junk as string[]), ...preset.junk],
  };
}

const similarProvider = (provider: unknown): string =>
  suggestion(provider, Object.keys(SEED_PROVIDERS));

const knownProviders = (): string => Object.keys(SEED_PROVIDERS).join(', ');
const PROVIDER_RULE = `one of ${knownProviders()}, or a name of your own in lowercase letters, digits, hyphens and underscores`;

const isCount = (value: unknown, max: number): boolean =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max;
const isFolderList = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length <= 10 &&
  value.every((item) => isText(item, /^[^\x00-\x1f]{1,200}$/));

type Access = Pick<SeedMailbox, 'imap' | 'graphUrl' | 'graphUser' | 'oauth'>;

/** How the mailbox is read, or what is wrong with that. */
function readAccess(entry: MailboxEntry, provider: string): Access | string[] {
  const { api = 'imap', password } = entry;
  if (api === 'graph') return readGraph(entry, provider);
  const faults = api === 'imap' ? [] : ['"api" must be imap or graph'];
  if (entry.graph_url !== undefined) faults.push('"graph_url" is only for "api": "graph"');
  if (!SEED_OAUTH_FIELDS.some((field) => entry[field] !== undefined)) {
    const imap = readAccount(entry, provider);
    if (Array.isArray(imap)) return [...faults, ...imap];
    return faults.length > 0 ? faults : { imap, graphUrl: null, graphUser: null, oauth: null };
  }
  const imap = readServer(entry, provider);
  const oauth = readSeedOAuth(entry, provider);
  if (password !== undefined || (!Array.isArray(imap) && imap.password !== null))
    faults.push('use either a password or OAuth 2, not both: remove the password');
  if (Array.isArray(imap)) faults.push(...imap);
  if (Array.isArray(oauth)) faults.push(...oauth);
  if (faults.length > 0 || Array.isArray(imap) || Array.isArray(oauth)) return faults;
  return { imap, graphUrl: null, graphUser: null, oauth };
}

/** Fields without a meaning for Microsoft Graph. */
const IMAP_ONLY = ['imap', 'password', 'connections', 'junk'] as const;

function readGraph(entry: MailboxEntry, provider: string): Access | string[] {
  const faults = IMAP_ONLY.filter((field) => entry[field] !== undefined).map(
    (field) => `"${field}" can’t be used with "api": "graph"`,
  );
  if (isKnownProvider(provider) && seedProvider(provider).oauth !== 'microsoft')
    faults.push('"api": "graph" is only for Outlook.com and Microsoft 365');
  if (entry.user !== undefined && !isText(entry.user, ADDRESS))
    faults.push('"user" must be the user name of the account, such as user@example.com');
  const url = secureUrl(entry.graph_url);
  if (url === null) faults.push(`"graph_url" ${URL_RULE}`);
  const oauth = readSeedOAuth(entry, provider);
  if (Array.isArray(oauth)) return [...faults, ...oauth];
  if (faults.length > 0) return faults;
  const graphUrl = (url ?? DEFAULT_GRAPH_URL).replace(/\/+$/, '');
  const graphUser = entry.user === undefined ? null : String(entry.user).toLowerCase();
  return { imap: null, graphUrl, graphUser, oauth };
}

type Account = NonNullable<SeedMailbox['imap']>;

/** The server, user and password. */
function readAccount(entry: MailboxEntry, provider: string): Account | string[] {
  const { name, acceptsPasswords } = seedProvider(provider);
  if (entry.imap === undefined && !acceptsPasswords)
    return [
      `${name} doesn’t accept passwords, only OAuth 2: set "client_id", and sign in with the command deliverability seed sign-in`,
    ];
  const account = readServer(entry, provider);
  if (Array.isArray(account) || account.password !== null) return account;
  return entry.imap === undefined
    ? ['"password" is missing: set the app password of the mailbox']
    : ['"imap" has no user or no password: imaps://user:password@imap.example.com'];
}

/** From the URL, or the provider's server, with the user and password of the entry; without a password, it is null. */
function readServer(entry: MailboxEntry, provider: string): Account | string[] {
  const { imap, user, password, address } = entry;
  if (user !== undefined && !isText(user, /./s)) return ['"user" must be text'];
  if (imap !== undefined) return readUrl(imap, { user: String(user ?? address), password });
  const { host, name } = seedProvider(provider);
  if (host === null)
    return [
      isKnownProvider(provider)
        ? `"imap" is missing: set the address of your ${name} Bridge, such as imap://user:password@127.0.0.1:1143`
        : `"imap" is missing: "${provider}" isn’t a known provider (${knownProviders()})${similarProvider(provider)}`,
    ];
  return {
    host,
    port: 993,
    tls: 'implicit',
    user: String(user ?? address),
    password: isText(password, /./s) ? password : null,
  };
}

const URL_FAULT =
  '"imap" must be a URL such as imaps://user:password@imap.example.com, with percent-encoded user and password';

function readUrl(value: unknown, other: { user: string; password: unknown }): Account | string[] {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  const isPlain = url?.protocol === 'imap:';
  if (!url?.hostname || (!isPlain && url.protocol !== 'imaps:') || /[?#]/.test(String(value)))
    return [URL_FAULT];
  if (!/^\/?$/.test(url.pathname) || url.port === '0') return [URL_FAULT];
  const [urlUser, urlPassword] = [decoded(url.username), decoded(url.password)];
  if (urlUser === null || urlPassword === null) return [URL_FAULT];
  if (urlPassword !== '' && other.password !== undefined)
    return ['the password is set twice: remove "password", or the one in "imap"'];
  const user = urlUser || other.user;
  const password = urlPassword || other.password;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const plainTls = isLoopback(host) ? 'loopback' : 'starttls';
  const tls = isPlain ? plainTls : 'implicit';
  const port = Number(url.port) || (isPlain ? 143 : 993);
  return { host, port, tls, user, password: isText(password, /./s) ? password : null };
}

/** Null for text that is not percent-encoded correctly, or contains control characters. */
function decoded(text: string): string | null {
  try {
    const plain = decodeURIComponent(text);
    return /[\x00-\x1f\x7f]/.test(plain) ? null : plain;
  } catch {
    return null;
  }
}

/** Nobody can intercept these connections, and gateways on them have no certificate that could be checked. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
