/**
 * Clients: the assistants that ask for access, and what they say about themselves (RFC 7591 §2). All are public, without a
 * secret: PKCE, exact redirect URIs and the rotation of refresh tokens protect what they get.
 */

import type { App } from '../app.ts';
import { parseJson } from '../http/parse.ts';
import { isLoopback } from '../http/protected-resource.ts';
import { clean, shortened } from '../http/tool-text.ts';
import { HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';

export interface Client {
  id: string;
  /** As the client calls itself, without invisible characters. */
  name: string;
  redirectUris: string[];
  /** The host of its metadata document; null if it has only registered itself. */
  host: string | null;
}

/** What is wrong with it, as in RFC 7591 §3.2.2. */
export class MetadataError extends Error {
  constructor(
    readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata',
    message: string,
  ) {
    super(message);
  }
}

const MAX_NAME = 80;
const MAX_REDIRECT_URIS = 20;
const MAX_REDIRECT_URI_LENGTH = 500;

/** Its name and redirect URIs, if it can be used with this service. Throws a MetadataError. */
export function readMetadata(value: unknown): Pick<Client, 'name' | 'redirectUris'> {
  const { client_name, redirect_uris, grant_types, response_types } = Object(value);
  if (!Array.isArray(redirect_uris) || redirect_uris.length === 0)
    throw new MetadataError('invalid_redirect_uri', 'redirect_uris must list at least one URI.');
  if (redirect_uris.length > MAX_REDIRECT_URIS || !redirect_uris.every(isUsable))
    throw new MetadataError(
      'invalid_redirect_uri',
      `redirect_uris must be at most ${MAX_REDIRECT_URIS} URLs with https, or with http and localhost, 127.0.0.1 or [::1], without a fragment.`,
    );
  if (!lists(grant_types, 'authorization_code') || !lists(response_types, 'code'))
    throw new MetadataError('invalid_client_metadata', 'Only the authorization code is supported.');
  const name = typeof client_name === 'string' ? shortened(clean(client_name), MAX_NAME) : '';
  return { name: name || new URL(redirect_uris[0]!).host, redirectUris: redirect_uris };
}

const lists = (value: unknown, item: string): boolean =>
  value === undefined || (Array.isArray(value) && value.includes(item));

/** HTTPS, or a program on the same machine. Other schemes can run code, or belong to any program (RFC 8252 §7.1). */
function isUsable(uri: unknown): uri is string {
  if (typeof uri !== 'string' || uri.length > MAX_REDIRECT_URI_LENGTH || !URL.canParse(uri))
    return false;
  const url = new URL(uri);
  return (
    /^[\x21-\x7e]+$/.test(uri) &&
    !uri.includes('#') &&
    url.username === '' &&
    url.password === '' &&
    (url.protocol === 'https:' || isLoopback(url))
  );
}

/** Whether it is one of the client's. A program on the same machine may listen on any port (RFC 8252 §7.3). */
export const isRedirectUriOf = ({ redirectUris }: Client, uri: string): boolean =>
  redirectUris.some((known) => known === uri) ||
  (isUsable(uri) &&
    isLoopback(new URL(uri)) &&
    redirectUris.some((known) => withoutPort(known) === withoutPort(uri)));

function withoutPort(uri: string): string {
  const url = new URL(uri);
  if (isLoopback(url)) url.port = '';
  return url.href;
}

// Registrations. They are not stored: the ID contains one (RFC 7591 §A.5.2), so strangers can't fill the database. It is
// not signed, because anyone may register: it is checked when it is read.

const PREFIX = 'dlv_client_';
/** The ID is part of URLs, such as the one to which a member returns after signing in. */
const MAX_ID_LENGTH = 800;

/** Throws a MetadataError. */
export function registerClient(value: unknown): Client {
  const client = readMetadata(value);
  const { name: client_name, redirectUris: redirect_uris } = client;
  const content = JSON.stringify({ client_name, redirect_uris });
  const id = `${PREFIX}${Buffer.from(content).toString('base64url')}`;
  if (id.length > MAX_ID_LENGTH)
    throw new MetadataError(
      'invalid_client_metadata',
      'client_name and redirect_uris are too long together.',
    );
  return { id, host: null, ...client };
}

/** Null if it is not the ID of a registration. */
function readRegistration(id: string): Client | null {
  if (!id.startsWith(PREFIX) || id.length > MAX_ID_LENGTH) return null;
  try {
    const content = Buffer.from(id.slice(PREFIX.length), 'base64url').toString();
    const client = registerClient(JSON.parse(content));
    return client.id === id ? client : null;
  } catch {
    return null;
  }
}

const isDocumentUrl = (id: string): boolean => id.startsWith('https://');

/** Whether a client with this ID can have tokens. Fetches nothing. */
export const isKnownClient = (id: string): boolean =>
  isDocumentUrl(id) || readRegistration(id) !== null;

/** Null if it is unknown. Throws `malformed_request` for a metadata document that can't be used. */
export const findClient = async (app: App, id: string): Promise<Client | null> =>
  isDocumentUrl(id) ? findDocumentClient(app, id) : readRegistration(id);

// Metadata documents (draft-ietf-oauth-client-id-metadata-document-00): the ID of a client is the URL of its document,
// which is fetched only for a member who has signed in.

/** §6.6 of the draft recommends 5 KB. */
const MAX_BYTES = 16 * 1024;
const MAX_URL_LENGTH = 300;

/** Documents by URL. A consent takes two requests, so each is kept for a minute at least. */
const cacheOf = memoizePerObject((_: App) => new Map<string, { client: Client; until: number }>());
const MAX_CACHED = 100;

/** Throws `malformed_request` if there is no usable document. */
async function findDocumentClient(app: App, id: string): Promise<Client> {
  const cache = cacheOf(app);
  const now = app.clock.now();
  const cached = cache.get(id);
  if (cached && cached.until > now) return cached.client;
  const { client, maxAgeMs } = await fetchDocument(app, id);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(id, { client, until: now + Math.min(Math.max(maxAgeMs, MINUTE_MS), 24 * HOUR_MS) });
  return client;
}

async function fetchDocument(app: App, id: string): Promise<{ client: Client; maxAgeMs: number }> {
  // §3: a normalized URL with a path, and without credentials or a fragment.
  const url = id.length <= MAX_URL_LENGTH && URL.canParse(id) ? new URL(id) : null;
  if (url?.href !== id || url.pathname === '/' || url.username || url.password || url.hash)
    throw unusable('its URL is invalid');
  const headers = { Accept: 'application/json' };
  const result = await app.web({ method: 'GET', url: id, maxBytes: MAX_BYTES, headers });
  if (result.status === 'failed') throw unusable(result.detail);
  const { code, body } = result;
  if (code !== 200) throw unusable(`its server responded with HTTP ${code}`);
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(result.headers['content-type'] ?? ''))
    throw unusable('it is not JSON');
  try {
    const metadata = parseJson(body) as { client_id?: unknown } | null;
    if (metadata?.client_id !== id) throw unusable('it is about another client');
    const [, seconds = 0] = /max-age=(\d+)/.exec(result.headers['cache-control'] ?? '') ?? [];
    return {
      client: { id, host: url.host, ...readMetadata(metadata) },
      maxAgeMs: Number(seconds) * 1000,
    };
  } catch (error) {
    if (error instanceof MetadataError) throw unusable(error.message);
    throw error instanceof AppError && error.code === 'malformed_json'
      ? unusable('it is not JSON')
      : error;
  }
}

/** `reason` is a clause, which may end with a period. */
const unusable = (reason: string): AppError =>
  new AppError(
    'malformed_request',
    `The document that describes the assistant can't be used: ${reason.replace(/\.$/, '')}.`,
  );
