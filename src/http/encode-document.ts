/**
 * Compresses pages and documents, and lets clients revalidate them (RFC 9110 §8.4, §8.8, §13.1.2).
 *
 * Not compressed: pages that contain the token of a link. From the size of a compressed response, an
 * observer who can add text to it could guess a secret in it (BREACH). No other page contains a secret:
 * forms are protected by header fields, not by tokens. JSON of the API isn't compressed either, because
 * it may contain a secret that is shown once.
 */

import { memoizePerObject } from '../lib/memoize.ts';
import type { BasePath } from './base-path.ts';
import { preferredEncoding } from './compression.ts';
import type { RequestContext } from './request-context.ts';
import { type HeaderFields, matchesAny } from './response.ts';
import type { Route } from './route.ts';
import {
  prepareDocument,
  type SentDocument,
  type StaticDocument,
  staticDocumentOf,
} from './static-document.ts';

/** These are never streamed. The icon is too small to be compressed. */
const TYPES = [
  'text/html',
  'text/css',
  'text/javascript',
  'application/json',
  'image/svg+xml',
  'image/x-icon',
];

export type EncodeDocument = (
  route: Pick<Route, 'secretParams' | 'isPublicLink'>,
  response: Response,
  context: Pick<RequestContext, 'method' | 'request'>,
) => Promise<Response>;

/**
 * Returns the response with its URLs below the base path, compressed as the client prefers, or 304 if the client has the
 * current version.
 */
export function createDocumentEncoder(basePath: BasePath | null): EncodeDocument {
  const located = async (response: Response) =>
    basePath ? await basePath.apply(response) : response;
  const prepareOnce = memoizePerObject(async ({ text, headers }: StaticDocument) =>
    prepareDocument(await located(new Response(text, { headers }))),
  );
  return async (route, response, context) => {
    const document = staticDocumentOf(response);
    if (document && context.method === 'GET')
      return respondWith(await prepareOnce(document), response, context);
    return encode(route, await located(response), context);
  };
}

const encode: EncodeDocument = async (route, response, context) => {
  const { headers, status } = response;
  if (route.secretParams && !route.isPublicLink) headers.set('cache-control', 'no-store');
  const type = (headers.get('content-type') ?? '').split(';')[0]!;
  // Browsers get an error page for every wrong URL, with the styles of all pages.
  const isErrorPage = status >= 400 && type === 'text/html';
  const isDocument = (status === 200 && TYPES.includes(type)) || isErrorPage;
  if (context.method !== 'GET' || !isDocument) return response;
  const sent = await prepareDocument(response);
  if (sent.bytes.byteLength === 0) {
    // For a HEAD request, without rendering anything. The length with GET would be another.
    withVary(headers);
    if (encodingOf(context) !== null) headers.delete('content-length');
    return new Response(null, { status, headers });
  }
  const isCompressible = sent.isCompressible && !hasSecret(route);
  return respondWith({ ...sent, isCompressible }, response, context);
};

async function respondWith(
  { bytes, tag, isCompressible, compressed }: SentDocument,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  context: Pick<RequestContext, 'request'>,
): Promise<Response> {
  if (status === 200 && !headers.get('cache-control')?.includes('no-store')) {
    // Weak, because the bytes depend on the encoding.
    headers.set('etag', `W/"${tag}"`);
    if (matchesAny(context.request.headers.get('if-none-match'), `"${tag}"`))
      return new Response(null, { status: 304, headers: fieldsOf304(withVary(headers)) });
  }
  if (!isCompressible) return new Response(bytes, { status, headers });
  withVary(headers);
  const encoding = encodingOf(context);
  if (encoding === null) return new Response(bytes, { status, headers });
  const body = await compressed(encoding);
  headers.set('content-encoding', encoding);
  headers.set('content-length', String(body.byteLength));
  return new Response(body as Uint8Array<ArrayBuffer>, { status, headers });
}

const encodingOf = ({ request }: Pick<RequestContext, 'request'>) =>
  preferredEncoding(request.headers.get('accept-encoding'));

/** The token of a shared link is in the path of its report, but not in the report. */
const hasSecret = ({ secretParams, isPublicLink }: Pick<Route, 'secretParams' | 'isPublicLink'>) =>
  secretParams !== undefined && !isPublicLink;

function withVary(headers: Headers): Headers {
  const vary = headers.get('vary');
  headers.set('vary', vary === null ? 'Accept-Encoding' : `${vary}, Accept-Encoding`);
  return headers;
}

/** Without the fields that describe the body. */
function fieldsOf304(headers: Headers): HeaderFields {
  const { 'content-type': _type, 'content-length': _length, ...rest } = Object.fromEntries(headers);
  return rest;
}
