/** Removes percent-encoding from URLs (RFC 3986 §2.1). */

/** The decoded text; the text itself if it has invalid encoding. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Decodes twice, because a URL may contain another URL. Unlike `percentDecoded`, keeps going after invalid UTF-8. */
export function percentDecodedTwice(text: string): string {
  return decodedOnce(decodedOnce(text));
}

function decodedOnce(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}
