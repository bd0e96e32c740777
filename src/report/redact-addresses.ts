/** Shortens addresses in public texts: URLs to scheme and host, mailboxes to their domain. */

/** A sentence of this program, or a value from a message, in which addresses may contain white space. */
export type TextKind = 'sentence' | 'evidence';

export type TextRule = (text: string, kind: TextKind) => string;

/**
 * Shortens URLs, mailboxes and paths, with or without a scheme, percent-encoded or not. Addresses in
 * `exempt` are unchanged: the From address in lower case, and URLs chosen by this program.
 */
export function addressRule(exempt: ReadonlySet<string>): TextRule {
  return (text, kind) => {
    if (isExempt(text, exempt) || !MAY_CONTAIN_ADDRESS.test(text)) return text;
    if (kind === 'evidence') {
      if (RELATIVE.test(text)) return '…';
      if (BEGINS.test(text)) return hostOnly(text.trim());
    }
    return (kind === 'evidence' ? text.replace(OPAQUE, '$1:…') : text)
      .replace(URLS, (match) => shortenMatch(match, exempt))
      .replace(CREDENTIALS, '…@')
      .replace(MAILBOX, (mailbox, domain: string) =>
        exempt.has(mailbox.replace(/\.+$/, '').toLowerCase()) ? mailbox : `…@${domain}`,
      )
      .replace(PATH, '…');
  };
}

/** The URL of an MTA-STS policy is public (RFC 8461 §3.3). */
const MTA_STS_POLICY = /^https:\/\/mta-sts\.[\w.-]+\/\.well-known\/mta-sts\.txt$/i;

const isExempt = (text: string, exempt: ReadonlySet<string>): boolean =>
  exempt.has(text) || MTA_STS_POLICY.test(text);

/** Every address contains at least one of these. */
const MAY_CONTAIN_ADDRESS = /[@/\\?#:]|%[2345]/;

const SLASH = String.raw`(?:[\\/]|%(?:25){0,3}(?:2f|5c))`;
const COLON = '(?::|%(?:25){0,3}3a)';
const NAME = String.raw`[\w\u0080-\uffff]`;
/** Follows the host of a URL; excludes the prefix length of a network (`192.0.2.0/24`). */
const AFTER = String.raw`(?:${COLON}\d{1,5})?(?:(?!/{1,2}\d{1,3}(?://\d{1,3})?(?![\w%/?#=-]|\.\w))[\\/]|[?#](?=[\w%&=/])|%(?:25){0,3}(?:2f|3f|23|5c))`;
/** Never inside a name. Leading dots and hyphens, which no name begins with, do not prevent a match. */
const START = String.raw`(?=[\w\u0080-\uffff[])(?<![\w\u0080-\uffff]|[\w\u0080-\uffff-]\.|[\w\u0080-\uffff]-{1,62})`;
/** Names of mailbox providers that look like URLs, such as `Outlook.com/Hotmail`. */
const PROVIDER_NAME = String.raw`(?!(?:outlook|hotmail|live|gmail|yahoo)\.com/(?:outlook|hotmail|live|msn|gmail|yahoo)(?:[.,;:!?)]{0,2}(?:\s|$)))`;
const HOST = String.raw`${START}${PROVIDER_NAME}(?:localhost|\[[0-9a-f:.]{2,60}\]|(?:${NAME}(?:${NAME}|-){0,62}\.){1,40}[a-z\u0080-\uffff](?:${NAME}|-){1,62}|\d{1,3}(?:\.\d{1,3}){3})\.?`;
/** A scheme with slashes, `http` and `https` also without, as browsers accept them, and schemes without slashes. */
const SCHEME = String.raw`(?:[a-z][a-z0-9+.-]{0,30}${COLON}(?:${SLASH}{2}|(?=(?:\?|%(?:25){0,3}3f)[\w%]))|https?${COLON}${SLASH}*(?=[\w[%])|(?<![a-z])(?:mailto|tel|sms|callto|data|javascript|vbscript|cid|mid|blob|file|intent|geo|facetime|skype|whatsapp|tg|bitcoin|otpauth|magnet|itms-services|sips?|xmpp|webcal|market)${COLON}(?=\S))`;
/** Any other scheme without slashes but with a path; excludes SPF mechanisms (`a:shop.example/24`). */
const OPAQUE =
  /(?<![a-z0-9+.-])(?!(?:a|mx|ip[46]|include|exists|ptr|https?|mailto):)([a-z][a-z0-9+.-]{1,30}):(?![\\/]{2}|:)(?=[^\s<>"/]{0,80}\/(?!\d{1,3}(?![\w./?#-]))[^\s/])[^\s<>"]+/gi;
/** The beginning of a protocol-relative URL. */
const PROTOCOL_RELATIVE = String.raw`(?<![:\w/\\])[\\/]{2}(?=[^\s\\/])`;
/** The beginning of a URL, which extends to white space, a bracket or a quotation mark. */
const BEGIN = `(?:${SCHEME}|${PROTOCOL_RELATIVE}|${HOST}${AFTER})`;
const URLS = new RegExp(String.raw`${BEGIN}[^\s<>"“”„«»\u0000-\u001f]*`, 'gi');
const BEGINS = new RegExp(String.raw`^\s*${BEGIN}`, 'i');
/** A relative URL. */
const RELATIVE = /^\s*(?:(?:\.{1,2}\/){1,40}[^\s/]|\/(?!\d{1,3}$)[^\s/]|\?[^\s=]{1,200}=)/;
const PATH =
  /(?<=^|[\s"'“‘(=>[{,;|])(?:(?:\.{1,2}\/){1,40}|\/)(?!\d{1,3}(?:\s|$))[\w%~-][^\s<>"”]*/g;
const CREDENTIALS =
  /(?<=^|[\s"'“<>(),;=[])(?!mailto:)[^\s"'<>(),;@/:=[\]]{1,64}:[^\s"'<>()@/]{1,128}@/g;
const DOMAIN = String.raw`(?:[a-z0-9\u0080-\uffff._-]{1,255}|\[[^\]\s]{1,60}\])`;
/** Bounded, so that long words take linear time. */
const WORD = String.raw`[^\s<>"',;:()[\]@]{1,64}`;
const MAILBOX = new RegExp(
  `(?:${WORD}(?:'${WORD}){0,3}|"[^"@]{1,64}")(?:@|%(?:25){0,3}40)(${DOMAIN})`,
  'gi',
);

const PUNCTUATION = ".,;:!?)]}'’";

/** Shortens a URL in a sentence and keeps the punctuation after it. */
function shortenMatch(match: string, exempt: ReadonlySet<string>): string {
  let end = match.length;
  while (end > 0 && PUNCTUATION.includes(match[end - 1]!)) end -= 1;
  const url = match.slice(0, end);
  return (isExempt(url, exempt) ? url : hostOnly(url)) + match.slice(end);
}

const PARTS = new RegExp(
  `^(?:(?=${SCHEME})([a-z][a-z0-9+.-]{0,30})${COLON})?(${SLASH}*)(.*)$`,
  'is',
);
const NOT_IN_HOST = /[\\/?#\s]|%(?:25){0,3}(?:2f|3f|23|5c|20)/i;

/** `https://shop.example/…`; `shop.example/…`; `mailto:…@shop.example`; `…` without a host. */
function hostOnly(address: string): string {
  const [, rawScheme, slashes, remainder] = PARTS.exec(address) as unknown as [
    string,
    string | undefined,
    string,
    string,
  ];
  const scheme = rawScheme?.toLowerCase();
  if (scheme && !/^https?$/.test(scheme) && countSlashes(slashes) !== 2)
    return withoutHost(scheme, remainder);
  const authority = remainder.slice(0, authorityEnd(remainder));
  const host = unescaped(authority).replace(/^.*@/s, '');
  if (!/^(?:[\w\u0080-\uffff.-]+|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i.test(host)) return '…';
  const prefix = scheme ? `${scheme}://` : slashes === '' ? '' : '//';
  return `${prefix}${host}${authority.length < remainder.length ? '/…' : ''}`;
}

/** The host of a value that should be an address; `…` if it has none. */
export function hostIn(address: string): string {
  const text = address.trim();
  if (BEGINS.test(text)) return hostOnly(text);
  return /^(?:[\w-]+\.)+[a-z]{2,}$/i.test(text) ? text : '…';
}

const authorityEnd = (text: string): number => {
  const end = text.search(NOT_IN_HOST);
  return end < 0 ? text.length : end;
};

const countSlashes = (slashes: string): number =>
  slashes.replace(/%(?:25)*(?:2f|5c)/gi, '/').length;

/** Decodes `@` and `:` only: text with any other encoded character is not a host. */
const unescaped = (text: string): string =>
  text.replace(/%(?:25){0,3}40/gi, '@').replace(/%(?:25){0,3}3a/gi, ':');

function withoutHost(scheme: string, remainder: string): string {
  const domain =
    scheme === 'mailto' ? /^[^?#]*(?:@|%(?:25){0,3}40)([^?#,;\s/]+)/i.exec(remainder)?.[1] : null;
  return domain ? `mailto:…@${domain}` : `${scheme}:…`;
}
