/**
 * Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document-00): the ID of a client is the URL of a
 * document that describes it. It is fetched only when a member who has signed in is asked for consent.
 */

import type { App } from '../app.ts';
import { parseJson } from '../http/parse.ts';
import { HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { type Client, MetadataError, readMetadata } from './client-metadata.ts';

/** §6.6 of the draft recommends 5 KB. */
const MAX_BYTES = 16 * 1024;
const MAX_URL_LENGTH = 300;

/** Documents by URL. A consent takes two requests, so each is kept for a minute at least. */
const cacheOf = memoizePerObject((_: App) => new Map<string, { client: Client; until: number }>());
const MAX_CACHED = 100;

/** Throws `malformed_request` if there is no usable document. */
export async function findDocumentClient(app: App, id: string): Promise<Client> {
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
