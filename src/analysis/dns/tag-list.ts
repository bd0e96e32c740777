/** Parses tag lists such as `v=DKIM1; k=rsa; p=…`, the syntax of DKIM, DMARC, BIMI and others. */

/**
 * The tags by lower-case name, without surrounding white space (RFC 6376 §3.2). Skips parts without `=`.
 * The last of duplicate tags counts, as in mailauth.
 */
export function parseTagList(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim().toLowerCase();
    if (name !== '') tags.set(name, part.slice(equals + 1).trim());
  }
  return tags;
}

/** A colon-separated value such as `h=` or `t=`: trimmed, in lower case, without empty items. */
export function parseColonList(value: string | undefined): string[] {
  return (value ?? '')
    .split(':')
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== '');
}
