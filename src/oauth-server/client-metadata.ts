/**
 * What clients say about themselves (RFC 7591 §2). Clients are the assistants that ask for access. All are public, without
 * a secret: PKCE, exact redirect URIs and the rotation of refresh tokens protect what they get.
 */

import { isLoopback } from '../http/protected-resource.ts';
import { clean, shortened } from '../http/tool-text.ts';

export interface Client {
  id: string;
  /** As the client calls itself, without invisible characters. */
  name: string;
  redirectUris: string[];
  /** The host of its metadata document; null if it has only registered itself. */
  host: string | null;
}

/** The fields that matter here. */
interface Metadata {
  client_name?: unknown;
  redirect_uris?: unknown;
  grant_types?: unknown;
  response_types?: unknown;
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
  const isObject = typeof value === 'object' && value !== null;
  const { client_name, redirect_uris, grant_types, response_types } = (
    isObject ? value : {}
  ) as Metadata;
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
