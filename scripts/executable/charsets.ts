/**
 * Replaces the packages `iconv-lite` and `encoding-japanese` in the threads: Node has these decoders built in, and the tables
 * add 600 KB to each thread. Only libmime uses them there, for parameters of header fields.
 */

const codecs = new Map<string, object>();

/** libmime compares codecs, and reads `decoder`. */
function getCodec(name: string): object {
  const known = codecs.get(name);
  if (known) return known;
  const codec = { decoder: {} };
  codecs.set(name, codec);
  return codec;
}

/** Throws for an unknown character set, as both packages do. */
const decode = (bytes: Uint8Array, charset: string): string =>
  new TextDecoder(charset).decode(bytes);

const convert = (bytes: Uint8Array, { from }: { from: string }): string => decode(bytes, from);

export default { getCodec, decode, convert };
