/** Stands for the package `brotli` in the executable: Node has it built in, that one is a megabyte more. */

import { brotliDecompressSync } from 'node:zlib';

/** As `brotli/decompress`, which the library of the fonts calls for a WOFF2 file; we have none. */
export default function decompress(bytes: Uint8Array): Uint8Array {
  return brotliDecompressSync(bytes);
}
