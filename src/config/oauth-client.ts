/** OAuth 2 clients: the fields of an entry, and the endpoints of Google and Microsoft. */

export interface OAuthClient {
  clientId: string;
  /** Null for a public client, which sends none (RFC 6749 §2.1). */
  clientSecret: string | null;
  /** Of the configuration; null if the command signs in. */
  refreshToken: string | null;
  issuer: string;
  tokenUrl: string;
  /** For signing in on another device (RFC 8628); null if the provider has none for these permissions. */
  deviceUrl: string | null;
  /** For signing in with a browser on this machine (RFC 8252); null if the provider has none. */
  authorizationUrl: string | null;
  /** The permissions to request; null for those that the provider gives by default. */
  scope: string | null;
  /** The permissions that signing in requests. */
  signInScope: string | null;
  /** How a browser signs in, if not as at Google. */
  browser?: {
    /** Where the browser returns to, without a port. */
    redirectUri: string;
    parameters: Record<string, string>;
  };
}

/** The fields of an entry that only OAuth 2 needs. */
export const OAUTH_FIELDS = [
  'client_id',
  'client_secret',
  'refresh_token',
  'token_url',
  'device_url',
  'authorization_url',
  'scope',
] as const;
type OAuthField = (typeof OAUTH_FIELDS)[number];

/** Where a provider gives access, and the permissions that are needed there. */
export type OAuthPreset = Omit<OAuthClient, 'clientId' | 'clientSecret' | 'refreshToken'> & {
  /** A public client that anyone may use; absent if everybody registers their own. */
  clientId?: string;
};

/** Google’s device flow gives access to neither mail nor Postmaster Tools. */
export const googlePreset = (scopes: Pick<OAuthPreset, 'scope' | 'signInScope'>): OAuthPreset => ({
  issuer: 'https://accounts.google.com',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  deviceUrl: null,
  authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  ...scopes,
});

export function microsoftPreset(
  tenant: string,
  scopes: Pick<OAuthPreset, 'scope' | 'signInScope'>,
): OAuthPreset {
  const base = `https://login.microsoftonline.com/${tenant}`;
  return {
    issuer: `${base}/v2.0`,
    tokenUrl: `${base}/oauth2/v2.0/token`,
    deviceUrl: `${base}/oauth2/v2.0/devicecode`,
    authorizationUrl: null,
    ...scopes,
  };
}

/** The portal of SNDS, a public client. */
const SNDS_CLIENT = 'a53a6cc1-a1cd-46f7-a4aa-281cdabec33c';
const SNDS_SCOPE = `${SNDS_CLIENT}/.default offline_access openid profile`;

/**
 * SNDS is for personal accounts. The device flow is not available for its client, which redirects to `http://localhost`
 * only, with any port and no path (as in github.com/optipub/outlook-snds-mcp, of 2026).
 */
export const SNDS_PRESET: OAuthPreset = {
  ...microsoftPreset('consumers', { scope: SNDS_SCOPE, signInScope: SNDS_SCOPE }),
  clientId: SNDS_CLIENT,
  deviceUrl: null,
  authorizationUrl: 'https://login.microsoftonline.com/consumers/oauth2/v2.0/authorize',
  browser: { redirectUri: 'http://localhost', parameters: { prompt: 'select_account' } },
};

/** The OAuth client of an entry, or what is wrong with it. `name`: of the provider; `preset`: null if it is not known. */
export function readOAuth(
  entry: Partial<Record<OAuthField, unknown>>,
  { name, preset }: { name: string; preset: OAuthPreset | null },
): OAuthClient | string[] {
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
  const clientId =
    read('client_id', /^[\x21-\x7e]{1,500}$/, 'text without spaces') ?? preset?.clientId ?? null;
  if (entry.client_id === undefined && clientId === null)
    faults.push('"client_id" is missing: register an app with the provider and set its ID');
  const clientSecret = read('client_secret', /^[\x20-\x7e]{1,1000}$/, 'text');
  const refreshToken = read('refresh_token', /^[\x21-\x7e]{1,10000}$/, 'text without spaces');
  const scope = read('scope', /^[\x20-\x7e]{1,1000}$/, 'text');
  const [tokenUrl, deviceUrl, authorizationUrl] = [
    readUrl('token_url'),
    readUrl('device_url'),
    readUrl('authorization_url'),
  ];
  if (preset === null && entry.token_url === undefined)
    faults.push(`"token_url" is missing: set the OAuth 2 token endpoint of ${name}`);
  if (faults.length > 0 || clientId === null) return faults;
  return {
    ...(preset?.browser ? { browser: preset.browser } : {}),
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

export const URL_RULE =
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
