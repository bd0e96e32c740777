/**
 * Clients by their ID. A registration is not stored: the ID contains it (RFC 7591 §A.5.2). So strangers can't fill the
 * database, and all nodes know it. It is not signed, because anyone may register: it is checked when it is read.
 */

import type { App } from '../app.ts';
import { findDocumentClient } from './client-document.ts';
import { type Client, MetadataError, readMetadata } from './client-metadata.ts';

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
