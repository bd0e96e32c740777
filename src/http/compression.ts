/** The compression of responses (RFC 9110 §8.4), as the client prefers. */

import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

const COMPRESS = {
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
};
export type Encoding = keyof typeof COMPRESS;

/** A shorter response fits in one packet either way. */
export const MIN_COMPRESSED_BYTES = 1024;

export const compress = (bytes: Uint8Array, encoding: Encoding): Promise<Buffer> =>
  COMPRESS[encoding](bytes);

/**
 * The encoding with the highest weight in `Accept-Encoding` (RFC 9110 §12.5.3); Brotli if several have
 * the same. Null if the client names neither, or prefers none.
 */
export function preferredEncoding(header: string | null): Encoding | null {
  const weights = new Map<string, number>();
  for (const item of (header ?? '').split(',')) {
    const [name, ...params] = item.split(';').map((part) => part.trim().toLowerCase());
    const weight = params.find((param) => param.startsWith('q='));
    if (name) weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const [br, gz] = [weightOf('br'), Math.max(weightOf('gzip'), weights.get('x-gzip') ?? 0)];
  const best = Math.max(br, gz);
  if (best === 0 || best < (weights.get('identity') ?? 0)) return null;
  return br === best ? 'br' : 'gzip';
}
