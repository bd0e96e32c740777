/** What forms, zone files and word processors leave in the text of a TXT record. */

/** Invisible characters, and a byte order mark. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]|\u00ef\u00bb\u00bf/g;
/** Quotation marks that were read in another encoding. */
const MISREAD_QUOTES = /\u00e2[\u20ac\u0080][\u0153\u009c\u009d\u2122\u0099\u02dc\u0098]?/g;

const startsInvisibly = (text: string): boolean => text.search(INVISIBLE) === 0;

/** The part of a line of a zone file before the text: `@ 3600 IN TXT`. */
export const ZONE_LINE =
  /^(?:[\w@.*-]+\s+)?(?:\d+[smhdw]?\s+)?(?:IN\s+)?(?:TXT|SPF)\s*[:=]?\s+(?=[("]*\s*(?:v\s*[=:]|spf\s*1|p\s*=|rua\s*=))/i;

/**
 * The text in the characters that were meant: spaces, hyphens and tildes of ASCII, nothing invisible, and no escapes
 * (RFC 1035 §5.1). Curly quotation marks become straight ones.
 */
export const plainCharacters = (text: string): string =>
  text
    .replace(MISREAD_QUOTES, '"')
    .replace(INVISIBLE, '')
    .replace(/[\u02dc\u223c\uff5e]/g, '~')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u201c-\u201f\u00ab\u00bb]/g, '"')
    .normalize('NFKC')
    .replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/\\/g, '')
    .replace(/\s+/g, ' ');

/** What a form or zone file left around the text, as the predicate of a sentence; null if nothing. */
export function pastedAround(text: string): string | null {
  if (/^\s*\\?["'`\u2018-\u201f\u00ab\u00bb]/.test(text)) return 'is in quotation marks';
  if (startsInvisibly(text)) return 'begins with an invisible character';
  if (/^\s/.test(text)) return 'begins with a space';
  // RFC 1035 §5.1: an escape of zone files, where a semicolon begins a comment.
  if (text.includes('\\;')) return 'has backslashes before its semicolons';
  // Single spaces bound the work on a hostile record.
  return ZONE_LINE.test(text.replace(/\s+/g, ' ')) ? 'begins with part of a zone-file line' : null;
}

/** The text without brackets around all of it. */
export const withoutBrackets = (text: string): string =>
  /^[([]/.test(text) && /[)\]]$/.test(text) ? text.slice(1, -1).trim() : text;

/** The text of a list of tags, without what was added around it or to its characters. */
export const withoutPasted = (text: string): string =>
  withoutBrackets(
    plainCharacters(text)
      .replace(/["'`\u2018-\u201b]/g, '')
      .trim()
      .replace(ZONE_LINE, ''),
  );
