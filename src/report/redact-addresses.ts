/** Cuts addresses in a text for people outside the team: a URL to its scheme and host, a mailbox to its domain. */

/** A sentence of this program, or a value out of a message, in which an address may hold white space. */
export type TextKind = 'sentence' | 'evidence';

export type TextRule = (text: string, kind: TextKind) => string;

/**
 * Cuts whatever can be opened or written to, with a scheme or without, percent-encoded or not. `kept`
 * stay whole: the From address in lower case, and pages that this program names.
 */
export function addressRule(kept: ReadonlySet<string>): TextRule {
  return (text, kind) => {
    if (isKept(text, kept) || !MAY_HOLD.test(text)) return text;
    if (kind === 'evidence') {
      if (RELATIVE.test(text)) return '…';
      if (BEGINS.test(text)) return hostOnly(text.trim());
    }
    return (kind === 'evidence' ? text.replace(OPAQUE, '$1:…') : text)
      .replace(URLS, (run) => cutRun(run, kept))
      .replace(PASSWORD, '…@')
      .replace(MAILBOX, (mailbox, domain: string) =>
        kept.has(mailbox.replace(/\.+$/, '').toLowerCase()) ? mailbox : `…@${domain}`,
      )
      .replace(PATH, '…');
  };
}

/** Where a policy of MTA-STS is, is for everybody to know (RFC 8461 §3.3). */
const POLICY = /^https:\/\/mta-sts\.[\w.-]+\/\.well-known\/mta-sts\.txt$/i;

const isKept = (text: string, kept: ReadonlySet<string>): boolean =>
  kept.has(text) || POLICY.test(text);

/** What none of is in holds no address. */
const MAY_HOLD = /[@/\\?#:]|%[2345]/;

const SLASH = String.raw`(?:[\\/]|%(?:25){0,3}(?:2f|5c))`;
const COLON = '(?::|%(?:25){0,3}3a)';
const NAME = String.raw`[\w\u0080-\uffff]`;
/** What follows a host in a URL, but not the length of a network (`192.0.2.0/24`). */
const AFTER = String.raw`(?:${COLON}\d{1,5})?(?:(?!/{1,2}\d{1,3}(?://\d{1,3})?(?![\w%/?#=-]|\.\w))[\\/]|[?#](?=[\w%&=/])|%(?:25){0,3}(?:2f|3f|23|5c))`;
/** Never inside of a name; dots and hyphens in front that no name begins with hide nothing. */
const START = String.raw`(?=[\w\u0080-\uffff[])(?<![\w\u0080-\uffff]|[\w\u0080-\uffff-]\.|[\w\u0080-\uffff]-{1,62})`;
/** What people call the providers themselves. */
const CALLED = String.raw`(?!(?:outlook|hotmail|live|gmail|yahoo)\.com/(?:outlook|hotmail|live|msn|gmail|yahoo)(?:[.,;:!?)]{0,2}(?:\s|$)))`;
const HOST = String.raw`${START}${CALLED}(?:localhost|\[[0-9a-f:.]{2,60}\]|(?:${NAME}(?:${NAME}|-){0,62}\.){1,40}[a-z\u0080-\uffff](?:${NAME}|-){1,62}|\d{1,3}(?:\.\d{1,3}){3})\.?`;
/** With slashes; web addresses without them, as browsers take them, too; and those that have none. */
const SCHEME = String.raw`(?:[a-z][a-z0-9+.-]{0,30}${COLON}(?:${SLASH}{2}|(?=(?:\?|%(?:25){0,3}3f)[\w%]))|https?${COLON}${SLASH}*(?=[\w[%])|(?<![a-z])(?:mailto|tel|sms|callto|data|javascript|vbscript|cid|mid|blob|file|intent|geo|facetime|skype|whatsapp|tg|bitcoin|otpauth|magnet|itms-services|sips?|xmpp|webcal|market)${COLON}(?=\S))`;
/** Any other with a path and without slashes in front, but for the terms of SPF (`a:shop.example/24`). */
const OPAQUE =
  /(?<![a-z0-9+.-])(?!(?:a|mx|ip[46]|include|exists|ptr|https?|mailto):)([a-z][a-z0-9+.-]{1,30}):(?![\\/]{2}|:)(?=[^\s<>"/]{0,80}\/(?!\d{1,3}(?![\w./?#-]))[^\s/])[^\s<>"]+/gi;
const BARE = String.raw`(?<![:\w/\\])[\\/]{2}(?=[^\s\\/])`;
/** Where one begins; the rest of it ends with white space, a bracket or a quotation mark. */
const BEGIN = `(?:${SCHEME}|${BARE}|${HOST}${AFTER})`;
const URLS = new RegExp(String.raw`${BEGIN}[^\s<>"“”„«»\u0000-\u001f]*`, 'gi');
const BEGINS = new RegExp(String.raw`^\s*${BEGIN}`, 'i');
/** Of a page whose host nobody named. */
const RELATIVE = /^\s*(?:(?:\.{1,2}\/){1,40}[^\s/]|\/(?!\d{1,3}$)[^\s/]|\?[^\s=]{1,200}=)/;
const PATH =
  /(?<=^|[\s"'“‘(=>[{,;|])(?:(?:\.{1,2}\/){1,40}|\/)(?!\d{1,3}(?:\s|$))[\w%~-][^\s<>"”]*/g;
const PASSWORD =
  /(?<=^|[\s"'“<>(),;=[])(?!mailto:)[^\s"'<>(),;@/:=[\]]{1,64}:[^\s"'<>()@/]{1,128}@/g;
const DOMAIN = String.raw`(?:[a-z0-9\u0080-\uffff._-]{1,255}|\[[^\]\s]{1,60}\])`;
/** Bounded, so that a long word costs nothing. */
const WORD = String.raw`[^\s<>"',;:()[\]@]{1,64}`;
const MAILBOX = new RegExp(
  `(?:${WORD}(?:'${WORD}){0,3}|"[^"@]{1,64}")(?:@|%(?:25){0,3}40)(${DOMAIN})`,
  'gi',
);

const PUNCTUATION = ".,;:!?)]}'’";

/** Of a URL in a sentence, with the punctuation of the sentence behind it. */
function cutRun(run: string, kept: ReadonlySet<string>): string {
  let end = run.length;
  while (end > 0 && PUNCTUATION.includes(run[end - 1]!)) end -= 1;
  const url = run.slice(0, end);
  return (isKept(url, kept) ? url : hostOnly(url)) + run.slice(end);
}

const PARTS = new RegExp(
  `^(?:(?=${SCHEME})([a-z][a-z0-9+.-]{0,30})${COLON})?(${SLASH}*)(.*)$`,
  'is',
);
const NOT_IN_HOST = /[\\/?#\s]|%(?:25){0,3}(?:2f|3f|23|5c|20)/i;

/** `https://shop.example/…`; `shop.example/…`; `mailto:…@shop.example`; `…` where there is no host. */
function hostOnly(address: string): string {
  const [, scheme, slashes, rest] = PARTS.exec(address) as unknown as [
    string,
    string | undefined,
    string,
    string,
  ];
  const name = scheme?.toLowerCase();
  if (name && !/^https?$/.test(name) && countOf(slashes) !== 2) return noHost(name, rest);
  const authority = rest.slice(0, endOf(rest));
  const host = unescaped(authority).replace(/^.*@/s, '');
  if (!/^(?:[\w\u0080-\uffff.-]+|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i.test(host)) return '…';
  const before = name ? `${name}://` : slashes === '' ? '' : '//';
  return `${before}${host}${authority.length < rest.length ? '/…' : ''}`;
}

/** Of a value that is meant to be an address: where it names no host, nothing of it stays. */
export function hostIn(address: string): string {
  const text = address.trim();
  if (BEGINS.test(text)) return hostOnly(text);
  return /^(?:[\w-]+\.)+[a-z]{2,}$/i.test(text) ? text : '…';
}

const endOf = (text: string): number => {
  const at = text.search(NOT_IN_HOST);
  return at < 0 ? text.length : at;
};

const countOf = (slashes: string): number => slashes.replace(/%(?:25)*(?:2f|5c)/gi, '/').length;

/** Percent signs that were escaped themselves stay: such a thing is no host. */
const unescaped = (text: string): string =>
  text.replace(/%(?:25){0,3}40/gi, '@').replace(/%(?:25){0,3}3a/gi, ':');

function noHost(name: string, rest: string): string {
  const domain =
    name === 'mailto' ? /^[^?#]*(?:@|%(?:25){0,3}40)([^?#,;\s/]+)/i.exec(rest)?.[1] : null;
  return domain ? `mailto:…@${domain}` : `${name}:…`;
}
