/** How seed mailboxes sign in with OAuth 2: the fields of an entry, and the endpoints of Google and Microsoft. */

import { seedProvider } from './seed-providers.ts';

export interface OAuthClient {
  clientId: string;
  /** Null for a public client, which sends none (RFC 6749 §2.1). */
  clientSecret: string | null;
  /** Of the configuration; null if the command signs in. */
  refreshToken: string | null;
  issuer: string;
  tokenUrl: string;
  /** For signing in on another device (RFC 8628); null if the provider has none for mail. */
  deviceUrl: string | null;
  /** For signing in with a browser on this machine (RFC 8252); null if the provider has none. */
  authorizationUrl: string | null;
  /** The permissions to request; null for those that the provider gives by default. */
  scope: string | null;
  /** The permissions that signing in requests. */
  signInScope: string | null;
}

/** The fields of an entry that only OAuth 2 needs. */
export const OAUTH_FIELDS = [
  'client_id',
  'client_secret',
  'refresh_token',
  'tenant',
  'token_url',
  'device_url',
  'authorization_url',
  'scope',
] as const;
type OAuthField = (typeof OAUTH_FIELDS)[number];
type Entry = Partial<Record<OAuthField | 'api', unknown>>;

export const DEFAULT_GRAPH_URL = 'https://graph.microsoft.com/v1.0';

type Endpoints = Omit<OAuthClient, 'clientId' | 'clientSecret' | 'refreshToken'>;

const GOOGLE: Endpoints = {
  issuer: 'https://accounts.google.com',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  // Google’s device flow doesn’t give access to mail.
  deviceUrl: null,
  authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  scope: 'https://mail.google.com/',
  signInScope: 'https://mail.google.com/',
};

const IMAP_SCOPE = 'https://outlook.office.com/IMAP.AccessAsUser.All offline_access';
const GRAPH_SCOPE = 'https://graph.microsoft.com/Mail.Read offline_access';
/** Also tells whose mailbox it is. Sign-ins without this permission stay valid, because it is not requested again. */
const GRAPH_SIGN_IN_SCOPE = `https://graph.microsoft.com/User.Read ${GRAPH_SCOPE}`;

function microsoft(tenant: string, isGraph: boolean): Endpoints {
  const base = `https://login.microsoftonline.com/${tenant}`;
  return {
    issuer: `${base}/v2.0`,
    tokenUrl: `${base}/oauth2/v2.0/token`,
    deviceUrl: `${base}/oauth2/v2.0/devicecode`,
    authorizationUrl: null,
    scope: isGraph ? GRAPH_SCOPE : IMAP_SCOPE,
    signInScope: isGraph ? GRAPH_SIGN_IN_SCOPE : IMAP_SCOPE,
  };
}

/** The OAuth client of an entry, or what is wrong with it. `account` is the entry’s provider. */
export function readOAuth(entry: Entry, provider: string): OAuthClient | string[] {
  const faults: string[] = [];
  const read = (field: OAuthField, pattern: RegExp, what: string): string | null => {
    const value = entry[field];
    if (value === undefined) return null;
    if (typeof value === 'string' && pattern.test(value)) return value;
    faults.push(`"${field}" must be ${what}`);
    return null;
  };
  const readUrl = (field: OAuthField) => {
    const url = secureUrl(entry[field]);
    if (url === null) faults.push(`"${field}" ${URL_RULE}`);
    return url ?? null;
  };
  const clientId = read('client_id', /^[\x21-\x7e]{1,500}$/, 'text without spaces');
  if (entry.client_id === undefined)
    faults.push('"client_id" is missing: register an app with the provider and set its ID');
  const clientSecret = read('client_secret', /^[\x20-\x7e]{1,1000}$/, 'text');
  const refreshToken = read('refresh_token', /^[\x21-\x7e]{1,10000}$/, 'text without spaces');
  const scope = read('scope', /^[\x20-\x7e]{1,1000}$/, 'text');
  const isMicrosoft = seedProvider(provider).oauth === 'microsoft' || entry.api === 'graph';
  const tenant = read(
    'tenant',
    /^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/,
    'consumers, organizations, common, or the ID or domain of a tenant',
  );
  const [tokenUrl, deviceUrl, authorizationUrl] = [
    readUrl('token_url'),
    readUrl('device_url'),
    readUrl('authorization_url'),
  ];
  if (entry.tenant !== undefined && !isMicrosoft)
    faults.push('"tenant" is only for Outlook.com and Microsoft 365');
  const preset = isMicrosoft
    ? microsoft(tenant ?? defaultTenant(provider), entry.api === 'graph')
    : seedProvider(provider).oauth === 'google'
      ? GOOGLE
      : null;
  if (preset === null && entry.token_url === undefined)
    faults.push(
      `"token_url" is missing: set the OAuth 2 token endpoint of ${seedProvider(provider).name}`,
    );
  if (faults.length > 0 || clientId === null) return faults;
  return {
    clientId,
    clientSecret,
    refreshToken,
    issuer: tokenUrl === null ? preset!.issuer : new URL(tokenUrl).origin,
    tokenUrl: tokenUrl ?? preset!.tokenUrl,
    deviceUrl: deviceUrl ?? (tokenUrl === null ? preset!.deviceUrl : null),
    authorizationUrl: authorizationUrl ?? (tokenUrl === null ? preset!.authorizationUrl : null),
    scope: scope ?? preset?.scope ?? null,
    signInScope: scope ?? preset?.signInScope ?? null,
  };
}

const defaultTenant = (provider: string): string =>
  provider === 'outlook' ? 'consumers' : provider === 'microsoft_365' ? 'organizations' : 'common';

const URL_RULE =
  'must be an https URL without user, password or fragment; http only for a loopback address';

/** Null if it is not allowed; undefined if there is none. `localhost` as the address that it stands for. */
export function secureUrl(value: unknown): string | null | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !URL.canParse(value)) return null;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return null;
  if (url.protocol === 'http:' && url.hostname === 'localhost') url.hostname = '127.0.0.1';
  const isLoopback = /^(?:127\.[\d.]+|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback)) return null;
  return url.href;
}

export const graphUrlFault = `"graph_url" ${URL_RULE}`;
