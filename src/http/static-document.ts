/**
 * Documents that are the same for everyone, such as the API reference. A router hashes and compresses each only once, so
 * that requests without a key cost little, however large a document is.
 */

import { hash } from 'node:crypto';
import { compress, type Encoding, MIN_COMPRESSED_BYTES } from './compression.ts';
import type { HeaderFields } from './response.ts';

/** Made once, and kept: a router recognizes it by its identity. */
export interface StaticDocument {
  text: string;
  headers: HeaderFields;
}

const documents = new WeakMap<Response, StaticDocument>();

export function staticResponse(document: StaticDocument): Response {
  const response = new Response(document.text, { headers: document.headers });
  documents.set(response, document);
  return response;
}

/** The document of a response of `staticResponse`. */
export const staticDocumentOf = (response: Response): StaticDocument | undefined =>
  documents.get(response);

/** A document as it is sent. */
export interface SentDocument {
  bytes: Uint8Array<ArrayBuffer>;
  tag: string;
  isCompressible: boolean;
  compressed(encoding: Encoding): Promise<Uint8Array>;
}

export async function prepareDocument(response: Response): Promise<SentDocument> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const known = new Map<Encoding, Promise<Uint8Array>>();
  return {
    bytes,
    tag: hash('sha256', bytes, 'base64url').slice(0, 22),
    isCompressible: bytes.byteLength >= MIN_COMPRESSED_BYTES,
    compressed(encoding) {
      const compressed = known.get(encoding) ?? compress(bytes, encoding);
      known.set(encoding, compressed);
      return compressed;
    },
  };
}
