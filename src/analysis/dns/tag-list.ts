/** Tag lists, `v=DKIM1; k=rsa; p=…`: the syntax of DKIM signatures and of the records that borrow it. */

/**
 * The tags by name in lower case, white space around names and values removed (RFC 6376 §3.2).
 * Parts without `=` are left out; of a tag that is there twice the last counts, as mailauth has it.
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

/** A value that is a list between colons, as `h=` and `t=`: trimmed, in lower case, nothing empty. */
export function parseColonList(value: string | undefined): string[] {
  return (value ?? '')
    .split(':')
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== '');
}
