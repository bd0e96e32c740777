/** Replaces the package `brotli` in the executable: Node has Brotli built in, and the package adds 1 MB. */

import { brotliDecompressSync } from 'node:zlib';

/** The API of `brotli/decompress`. The font library calls it only for WOFF2 fonts, which we do not use. */
export default function decompress(bytes: Uint8Array): Uint8Array {
  return brotliDecompressSync(bytes);
}
