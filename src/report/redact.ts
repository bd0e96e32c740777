/** A report as people may see it who are not of the team: scores, checks and placement, nothing of the message. */

import type { Json } from '../analysis/check.ts';
import { hideTokens } from '../analysis/links/tokens.ts';
import type { CheckResult } from '../analysis/result.ts';
import {
  type Evidence,
  evidenceOf,
  isObject,
  objectsIn,
  parseStoredReport,
  type Report,
  type SharedReport,
  textIn,
  textsIn,
} from './report.ts';

/** Every form of a shared report is made of this: page, PDF and JSON. */
export const redactStoredReport = ({ conceal, ...sealed }: SharedReport): Report =>
  redactReport(parseStoredReport(sealed), conceal);

/**
 * Without the message, its envelope and the way it came; without what would let a stranger act for
 * its reader: of every address in it, in whichever text of whichever check, the host alone stays. What
 * is in `conceal` (tokens, addresses; at least four characters each) is nowhere in it, however it is
 * written.
 */
export function redactReport(report: Report, conceal: string[]): Report {
  const rule = addressRule(keptOf(report));
  const names = namesOfFiles(report.checks);
  const wanted = conceal.filter((text) => text.length >= MIN_CONCEALED_LENGTH);
  const pattern = wanted.length === 0 ? null : patternOf(wanted);
  const change: Rule = (text, kind) => rule(pattern ? text.replace(pattern, '…') : text, kind);
  const checks = report.checks
    .filter(({ id }) => !LEFT_OUT.has(id))
    .map((check) => redactCheck(check, change, names));
  const { message: _, envelope: __, checks: ___, from_address, ...rest } = report;
  return {
    ...sentences(rest, (text) => change(names.outOfQuote(text), 'sentence')),
    from_address: from_address && pattern ? from_address.replace(pattern, '…') : from_address,
    checks,
    message: null,
    envelope: null,
  };
}

/** What is shorter stands in ordinary words, too. */
const MIN_CONCEALED_LENGTH = 4;

const ENGINES = new Set(['spamassassin', 'rspamd']);

function redactCheck(whole: CheckResult, change: Rule, names: FileNames): CheckResult {
  // Rules of an engine tell of whom they fired for, in sentences.
  const isEngine = ENGINES.has(whole.id);
  const check = isEngine ? redactEngineCheck(whole, names) : sentenceCut(whole, names);
  const { evidence, fix, ...rest } = check;
  const sentence = (text: string) => change(text, 'sentence');
  return {
    ...sentences(rest, sentence),
    fix: fix && { ...sentences(fix, sentence), text: outsideOfExamples(fix.text, sentence) },
    evidence: changed(redactEvidence(check.id, evidence), (text) =>
      change(text, isEngine ? 'sentence' : 'evidence'),
    ),
  };
}

/** What it says of a rule stands in the remedy, too. */
function redactEngineCheck(whole: CheckResult, { outOfWords }: FileNames): CheckResult {
  const check = sentences(whole, (text) => text.replace(ADDRESS, '…'));
  let fix = check.fix;
  const evidence = walk(check.evidence, String, (key, inner, next) => {
    if (key !== 'description' || typeof inner !== 'string') return [key, next(inner)];
    const cut = outOfWords(inner);
    const [told, shown] = [inner.slice(0, IN_REMEDY), cut.slice(0, IN_REMEDY)];
    if (fix && cut !== inner)
      fix = { ...fix, text: fix.text.split(`: ${told})`).join(`: ${shown})`) };
    return [key, cut];
  }) as CheckResult['evidence'];
  return { ...check, evidence, fix };
}

/** The length to which a remedy has the description of a rule. */
const IN_REMEDY = 100;

function sentenceCut(check: CheckResult, names: FileNames): CheckResult {
  if (check.id === 'attachments') return names.outOfCheck(check);
  if (check.id !== 'encoding') return check;
  return { ...check, detail: check.detail.replace(HEADER_LINE, 'The line has no field name') };
}

/** It is quoted as it is. */
const HEADER_LINE = /".*" has no field name(?= before a colon\.)/s;

/** Those that remedies of ours give, as they are written there; nothing of a message is in them. */
const EXAMPLES =
  /(?<=[\s"<])((?:mailto:)?(?:unique-part|news|bounces|support|name)@example\.com|https:\/\/www\.example\.com\/|https:\/\/[\w.-]{1,253}\/unsubscribe\/TOKEN|mailto:unsubscribe@[\w.-]{1,253}\?subject=TOKEN)(?=[.,;]?(?:[\s">]|$))/;

const outsideOfExamples = (text: string, change: (text: string) => string): string =>
  text
    .split(EXAMPLES)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');

/** Bounded, so that a long word costs nothing. */
const ADDRESS = /[^\s<>"',;:()[\]@]{1,64}@[a-z0-9\u0080-\uffff.-]{1,255}/gi;

/** The From address, and pages that are ours to name: of blocklists, and of what mail programs support. */
function keptOf({ from_address, checks }: Report): Set<string> {
  const kept = new Set(from_address === null ? [] : [from_address.toLowerCase()]);
  const keep = (url: string | null) => url !== null && kept.add(url);
  for (const { id, evidence } of checks) {
    if (LISTS.has(id))
      for (const list of objectsIn(evidence, 'lists')) keep(textIn(list, 'delisting'));
    if (id === 'client_support')
      for (const feature of objectsIn(evidence, 'features')) keep(textIn(feature, 'url'));
  }
  return kept;
}

const LISTS = new Set(['ip_blocklists', 'domain_blocklists', 'link_blocklists', 'allowlists']);

/** Each as it is, with its @ as addresses inside of addresses have it, and in URLs. */
function patternOf(texts: string[]): RegExp {
  const parts = texts
    .toSorted((a, b) => b.length - a.length)
    .map((text) => text.split('@').map(escapeRegExp).join('(?:@|=|%40)'));
  return new RegExp(parts.join('|'), 'gi');
}

/** Words, times and references of ours, by which programs read a report. */
const OURS = new Set([
  'id',
  'category',
  'status',
  'grade',
  'received_at',
  'completed_at',
  'ruleset',
  'auth_results',
  'categories',
  'placement',
  'provider',
  'applies',
  'checks',
  'kind',
  'by',
  'reference',
]);

/** With each text in it changed, but for what is ours; names of fields stay. */
const sentences = <T>(value: T, change: (text: string) => string): T =>
  walk(value, change, (key, inner, next) => [key, OURS.has(key) ? inner : next(inner)]) as T;

/** Of evidence, where names of fields may be out of the message. */
const changed = <T>(value: T, change: (text: string) => string): T =>
  walk(value, change, (key, inner, next) =>
    key === 'reference' ? [key, inner] : [change(key), next(inner)],
  ) as T;

type Next = (item: unknown) => unknown;

function walk(
  value: unknown,
  change: (text: string) => string,
  field: (key: string, inner: unknown, next: Next) => [string, unknown],
): unknown {
  const next: Next = (item) => {
    if (typeof item === 'string') return change(item);
    if (Array.isArray(item)) return item.map(next);
    if (!isObject(item as never)) return item;
    return Object.fromEntries(
      Object.entries(item as object).map(([key, inner]) => field(key, inner, next)),
    );
  };
  return next(value);
}

// What of a check's evidence would hand out the message or act for its reader, and what stays of it.

/** Checks that do nothing but show a part of the message: its beginning, the way that it came. */
const LEFT_OUT: ReadonlySet<string> = new Set(['preheader', 'received_path']);

type Cut = (evidence: Evidence) => Evidence;

const CUTS: Record<string, Cut> = {
  // Whose envelope sender names the reader (VERP) is not for us to tell.
  spf: (evidence) => without(['explanation'], eachText(['checked'], evidence, withoutMailbox)),
  return_path: (evidence) => eachText(['mail_from'], evidence, withoutMailbox),
  // Answers to such an address are taken for the reader's.
  reply_to: (evidence) => eachText(['reply_to'], evidence, hideTokens),
  // The same addresses stand beside it, one by one.
  list_unsubscribe: (evidence) =>
    without(['values'], eachText(['https', 'http', 'mailto'], evidence, hostIn)),
  one_click: (evidence) => eachText(['https'], evidence, hostIn),
  // Loading it says that the reader opened the message.
  tracking_pixel: (evidence) => eachText(['found'], evidence, hostIn),
  // Whose name the parts before the sender's are is for the sender to know.
  feedback_id: (evidence) => without(['feedback_id'], evidence),
  attachments: (evidence) => without(['files'], evidence),
  message_size: (evidence) =>
    eachObject('largest_parts', evidence, (part) => without(['filename'], part)),
  hidden_text: (evidence) => eachObject('hidden', evidence, (each) => without(['text'], each)),
  unsubscribe_link: (evidence) => eachObject('links', evidence, (link) => without(['text'], link)),
  text_matches_html: (evidence) => without(['only_in_html', 'only_in_text'], evidence),
};

/** Of links and images, whichever check shows them. */
const ADDRESSES = ['href', 'src'];

/** Of a check by its id; of what is not known here, links and images are cut alone. */
function redactEvidence(id: string, evidence: Evidence): Evidence {
  const cut = Object.hasOwn(CUTS, id) ? CUTS[id]!(evidence) : evidence;
  return linksByHost(cut) as Evidence;
}

function linksByHost(value: Json): Json {
  if (Array.isArray(value)) return value.map(linksByHost);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      typeof inner === 'string' && ADDRESSES.includes(key) ? hostIn(inner) : linksByHost(inner),
    ]),
  );
}

const without = (keys: string[], evidence: Evidence): Evidence =>
  Object.fromEntries(Object.entries(evidence).filter(([key]) => !keys.includes(key)));

/** Applies to the text under these keys, and to each in a list there. */
function eachText(keys: string[], evidence: Evidence, change: (text: string) => string): Evidence {
  const changed = (value: Json): Json =>
    typeof value === 'string' ? change(value) : Array.isArray(value) ? value.map(changed) : value;
  return Object.fromEntries(
    Object.entries(evidence).map(([key, value]) => [
      key,
      keys.includes(key) ? changed(value) : value,
    ]),
  );
}

function eachObject(key: string, evidence: Evidence, change: Cut): Evidence {
  const list = evidence[key];
  if (!Array.isArray(list)) return evidence;
  return { ...evidence, [key]: list.map((item) => (isObject(item) ? change(item) : item)) };
}

/** `…@shop.example`; what holds no mailbox stays. */
function withoutMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? address : `…${address.slice(at)}`;
}

// Names of attached files, which strangers do not read; of files that are a finding the extension is part of it.

/** Shorter ones say nothing, and stand in ordinary words. */
const MIN_FILE_NAME_LENGTH = 4;

/** How the names of a report's files are left out, each where it can stand and nowhere else. */
interface FileNames {
  /** Out of what a spam engine says of the message: as whole words. */
  outOfWords: (text: string) => string;
  /** Out of a sentence of ours that may quote the verdict on the attachments. */
  outOfQuote: (text: string) => string;
  /** Out of that verdict and its evidence. */
  outOfCheck: (check: CheckResult) => CheckResult;
}

function namesOfFiles(checks: CheckResult[]): FileNames {
  const outOfWords = wordsOut(checks);
  const outOfCheck = (check: CheckResult): CheckResult => withoutNames(check, outOfWords);
  const check = checks.find(({ id }) => id === 'attachments');
  const [own, told] = check ? [check.title, outOfCheck(check).title] : ['', ''];
  return {
    outOfWords,
    outOfCheck,
    outOfQuote: (text) => (own === told ? text : text.split(own).join(told)),
  };
}

/** A name may be a word that we write ourselves, so it is cut where our sentence has it. */
function withoutNames(check: CheckResult, outOfWords: FileNames['outOfWords']): CheckResult {
  const found = objectsIn(check.evidence, 'found');
  const first = found.find((each) => check.title.startsWith(beginningOf(each)));
  const title = first
    ? beginningOf(cutFound(first)) + check.title.slice(beginningOf(first).length)
    : check.title.startsWith('Your attachment ')
      ? outOfWords(check.title)
      : check.title;
  const evidence = { ...check.evidence };
  if (Array.isArray(evidence.found))
    evidence.found = evidence.found.map((each) => (isObject(each) ? cutFound(each) : each));
  return { ...check, title, evidence };
}

type Found = CheckResult['evidence'];

const beginningOf = (found: Found): string =>
  `Your attachment ${textIn(found, 'file')} ${textIn(found, 'problem')}`;

function cutFound(found: Found): Found {
  const [file, problem] = [textIn(found, 'file'), textIn(found, 'problem')];
  const cut = { ...found };
  if (file !== null && !TYPE.test(file)) cut.file = extensionOf(file);
  if (problem !== null)
    cut.problem = problem.replace(
      MEMBER,
      (_, holds: string, member: string) => holds + extensionOf(member),
    );
  return cut;
}

function wordsOut(checks: CheckResult[]): FileNames['outOfWords'] {
  const shown = new Map<string, string>();
  const attachments = evidenceOf(checks, 'attachments');
  for (const part of objectsIn(evidenceOf(checks, 'message_size'), 'largest_parts'))
    shown.set(textIn(part, 'filename') ?? '', '…');
  for (const name of textsIn(attachments, 'files')) shown.set(name, '…');
  for (const found of objectsIn(attachments, 'found')) {
    const name = textIn(found, 'file') ?? '';
    shown.set(name, extensionOf(name));
    const member = MEMBER.exec(textIn(found, 'problem') ?? '')?.[2] ?? '';
    shown.set(member, extensionOf(member));
  }
  const names = [...shown.keys()]
    .filter((name) => name.length >= MIN_FILE_NAME_LENGTH && !TYPE.test(name))
    .sort((a, b) => b.length - a.length);
  if (names.length === 0) return (text) => text;
  const any = names.map(escapeRegExp).join('|');
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${any})(?![\p{L}\p{N}_])`, 'gu');
  return (text) => text.replace(pattern, (name) => shown.get(name)!);
}

/** As a regular expression finds it. */
const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** In an archive; it is named by the end of its path. */
const MEMBER = /^(holds )(.+)(?=, which (?:is|has) )/s;

/** What a file without a name is called. */
const TYPE = /^\([\w.+-]+\/[\w.+-]+\)$/;

/** `….exe`. */
function extensionOf(name: string): string {
  const extension = /\.[a-z0-9_-]{1,10}$/i.exec(name.trim())?.[0] ?? '';
  return `…${extension}`;
}

// What stays of the addresses in a text before strangers read it: of a URL scheme and host, of a mailbox its domain.

/** Sentences of ours, or what a message has: there an address may hold white space. */
type Kind = 'sentence' | 'evidence';

/** `kept` are whole: the From address, and the pages of ours that tell what to do. */
type Rule = (text: string, kind: Kind) => string;

/** Whatever can be opened or written to is cut, with a scheme or without, percent-encoded or not. */
export function addressRule(kept: ReadonlySet<string>): Rule {
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

/** Of what a message has for an address: where it names no host, nothing of it stays. */
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
