/** The addresses that mail programs make links of in plain text. */

/** As much of a text as is looked at, in characters. */
const MAX_TEXT = 5_000_000;

// No quantifier within another, so that no text makes it slow.
const URL_START =
  /(?<![\w@.-])(?:https?:\/\/|www\.)[^\s<>"\u0000-\u001f\u3000-\u303f\uff01-\uff0f\uff1a\uff1b\uff1f]{1,4000}/giu;

interface BareUrl {
  /** As written, without the punctuation of the sentence around it. */
  href: string;
  /** Its place in the text. */
  at: number;
}

/** At most `limit` of them. */
export function bareUrls(text: string, limit: number): BareUrl[] {
  const found: BareUrl[] = [];
  if (limit <= 0) return found;
  for (const { 0: url, index } of text.slice(0, MAX_TEXT).matchAll(URL_START)) {
    const trimmed = trimEnd(url);
    // `http://` or `www.` alone is no address.
    if (!/[\p{L}\p{N}[]/u.test(trimmed.replace(/^https?:\/\/|^www\./i, ''))) continue;
    found.push({ href: trimmed, at: index });
    if (found.length >= limit) break;
  }
  return found;
}

const CLOSING: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/** Without final punctuation, and without a bracket that was opened before the address. */
function trimEnd(url: string): string {
  const open = new Map<string, number>();
  for (const sign of url) if ('()[]{}'.includes(sign)) open.set(sign, (open.get(sign) ?? 0) + 1);
  let end = url.length;
  for (; end > 0; end -= 1) {
    const last = url[end - 1]!;
    if (".,;:!?'*_~|»”’…".includes(last)) continue;
    const partner = CLOSING[last];
    if (!partner || (open.get(last) ?? 0) <= (open.get(partner) ?? 0)) break;
    open.set(last, open.get(last)! - 1);
  }
  return url.slice(0, end);
}
