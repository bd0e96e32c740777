/** Clients: the assistants that ask for access, as they describe themselves (RFC 7591 §2). All are public, without a secret. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { parseJson, validate } from '../http/parse.ts';
import { isLoopback } from '../http/protected-resource.ts';
import { clean, shortened } from '../http/tool-text.ts';
import { AppError } from '../lib/errors.ts';

export interface Client {
  id: string;
  name: string;
  redirectUris: string[];
  /** The host of its metadata document; null if it has only registered itself. */
  host: string | null;
}

const listWith = (item: string) =>
  v.optional(
    v.pipe(
      v.array(v.unknown()),
      v.check((list) => list.includes(item), `must contain ${item}`),
    ),
  );

const Metadata = v.object({
  client_name: v.optional(v.unknown()),
  redirect_uris: v.pipe(
    v.array(
      v.pipe(
        v.string(),
        v.maxLength(500),
        v.check(isUsable, 'must be a URL with https, or with http on this device, and no fragment'),
      ),
    ),
    v.minLength(1),
    v.maxLength(20),
  ),
  grant_types: listWith('authorization_code'),
  response_types: listWith('code'),
});

/** Throws `validation_failed` if it can't be used with this service. */
function readMetadata(value: unknown): Pick<Client, 'name' | 'redirectUris'> {
  const { client_name, redirect_uris } = validate(Metadata, value);
  const name = typeof client_name === 'string' ? shortened(clean(client_name), 80) : '';
  return { name: name || new URL(redirect_uris[0]!).host, redirectUris: redirect_uris };
}

/** HTTPS, or a program on the same machine. Other schemes can run code, or belong to any program (RFC 8252 §7.1). */
function isUsable(uri: string): boolean {
  if (!/^[\x21\x22\x24-\x7e]+$/.test(uri) || !URL.canParse(uri)) return false;
  const url = new URL(uri);
  return !url.username && !url.password && (url.protocol === 'https:' || isLoopback(url));
}

/** Whether it is one of the client's. A program on the same machine may listen on any port (RFC 8252 §7.3). */
export const isRedirectUriOf = ({ redirectUris }: Client, uri: string): boolean =>
  redirectUris.includes(uri) ||
  (isUsable(uri) &&
    isLoopback(new URL(uri)) &&
    redirectUris.some((known) => withoutPort(known) === withoutPort(uri)));

function withoutPort(uri: string): string {
  const url = new URL(uri);
  if (isLoopback(url)) url.port = '';
  return url.href;
}

// Registrations. They are not stored: the ID contains one (RFC 7591 §A.5.2), so strangers can't fill the database.

const PREFIX = 'dlv_client_';
/** The ID is part of URLs, such as the one to which a member returns after signing in. */
const MAX_ID_LENGTH = 800;

export function registerClient(value: unknown): Client {
  const client = readMetadata(value);
  const content = JSON.stringify({ client_name: client.name, redirect_uris: client.redirectUris });
  const id = `${PREFIX}${Buffer.from(content).toString('base64url')}`;
  if (id.length > MAX_ID_LENGTH)
    throw new AppError('validation_failed', 'client_name and redirect_uris are too long together.');
  return { id, host: null, ...client };
}

/** Anyone may write such an ID, so it is checked as a registration is. Null if it isn't one. */
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

/** Throws `malformed_request` for a metadata document that can't be used. */
export const findClient = async (app: App, id: string): Promise<Client | null> =>
  isDocumentUrl(id) ? fetchDocument(app, id) : readRegistration(id);

/** The document whose URL is the ID of a client (draft-ietf-oauth-client-id-metadata-document-00). */
async function fetchDocument({ web }: App, id: string): Promise<Client> {
  // §3: a normalized URL with a path, and without credentials or a fragment.
  const url = id.length <= 300 && URL.canParse(id) ? new URL(id) : null;
  if (url?.href !== id || url.pathname === '/' || url.username || url.password || url.hash)
    throw unusable('its URL is invalid');
  const result = await web({
    method: 'GET',
    url: id,
    maxBytes: 16 * 1024,
    headers: { Accept: JSON_TYPE },
  });
  if (result.status === 'failed') throw unusable(result.detail);
  const { code, headers, body } = result;
  if (code !== 200) throw unusable(`its server responded with HTTP ${code}`);
  try {
    if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers['content-type'] ?? ''))
      throw new AppError('malformed_json', 'Its type is not JSON.');
    const metadata = parseJson(body);
    if (Object(metadata).client_id !== id) throw unusable('it is about another client');
    return { id, host: url.host, ...readMetadata(metadata) };
  } catch (error) {
    const { code: reason, detail } = error as AppError;
    if (reason === 'malformed_json') throw unusable('it is not JSON');
    throw reason === 'validation_failed' ? unusable(detail.replace(/\.$/, '')) : error;
  }
}

export const JSON_TYPE = 'application/json';

const unusable = (reason: string): AppError =>
  new AppError(
    'malformed_request',
    `The document that describes the assistant can't be used: ${reason}.`,
  );
