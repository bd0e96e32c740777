/** Public reports, for people outside the team: scores, checks and placement, but nothing of the message. */

import { shortenBulkFields } from '../analysis/bulk-sender.ts';
import type { CheckDeclaration, Fix, Json, Reference } from '../analysis/check.ts';
import { declarationOf } from '../analysis/declarations.ts';
import { maskTokens } from '../analysis/links/tokens.ts';
import type { PublicEvidence, PublicKind, PublicRule } from '../analysis/public-evidence.ts';
import type { CheckResult, ProviderVerdict } from '../analysis/result.ts';
import { addressRule, hostIn, type TextRule } from './redact-addresses.ts';
import { MIN_QUOTE, type Quote, quoteRule } from './redact-quotes.ts';
import {
  type Evidence,
  isObject,
  objectsIn,
  parseStoredReport,
  type Report,
  type SharedReport,
} from './report.ts';

/** The source of the page, the PDF and the JSON of a shared report. */
export const redactStoredReport = ({ conceal, ...stored }: SharedReport): Report =>
  redactReport(parseStoredReport(stored), conceal);

/**
 * Removes the message, its envelope and its delivery path. Evidence keeps only what its check declares
 * public (`Check.publicEvidence`); sentences do not quote the rest. A check that this version does not
 * know keeps its label and status. Every address in any text is cut to its host. The values in
 * `conceal` (tokens, addresses; at least four characters each) are removed however they are written.
 */
export function redactReport(report: Report, conceal: string[]): Report {
  const { checks, from_address } = report;
  const concealed = concealedPattern([...conceal, ...taggedLocalParts(report)]);
  const withoutConcealed = (text: string) => (concealed ? text.replace(concealed, '…') : text);
  const pages = stringsOf(checks, 'our-page');
  const addresses = addressRule(new Set([...pages, from_address?.toLowerCase() ?? '']));
  const redaction: Redaction = {
    cut: (text, kind) => addresses(withoutConcealed(shortenBulkFields(text)), kind),
    fileNames: fileNameRule(checks),
    isKept: (value) => value.toLowerCase() === from_address?.toLowerCase(),
    titles: [],
  };
  const redacted = checks.flatMap((check) => redactCheck(check, redaction) ?? []);
  // A title may be the beginning of another one.
  redaction.titles.sort(([a], [b]) => b.length - a.length);
  return {
    ...redactRest(report, (text) => redaction.cut(withPublicTitles(text, redaction), 'sentence')),
    from_address: from_address && withoutConcealed(from_address),
    checks: redacted,
    message: null,
    envelope: null,
  };
}

interface Redaction {
  /** Cuts addresses and concealed values. The last step for every text. */
  cut: TextRule;
  /** Cuts the names of attachments where they are whole words. */
  fileNames(text: string): string;
  /** Whether a value is public, so that sentences may quote it. */
  isKept(value: string): boolean;
  /** Titles that changed: the summary and provider rules repeat them. */
  titles: [stored: string, shown: string][];
}

/** null for a check that only shows a part of the message. */
function redactCheck(check: CheckResult, redaction: Redaction): CheckResult | null {
  const declared = declarationOf(check.id);
  if (!declared?.publicEvidence) {
    const label = redaction.cut(check.label, 'sentence');
    if (check.title.length >= MIN_QUOTE) redaction.titles.push([check.title, label]);
    return declared ? null : { ...withoutTexts(check), label, title: label };
  }
  const shown = readEvidence(check.evidence, declared.publicEvidence, redaction);
  const unquoted = sentenceRule(check, declared, shown);
  const title = unquoted(check.title);
  if (title !== check.title) redaction.titles.push([check.title, title]);
  const sentence = (text: string) => redaction.cut(unquoted(text), 'sentence');
  const { label, detail, fix } = check;
  return {
    ...withoutTexts(check),
    label: redaction.cut(label, 'sentence'),
    title: redaction.cut(title, 'sentence'),
    detail: sentence(detail),
    evidence: shown.evidence,
    fix: fix && redactFix(fix, sentence),
  };
}

const redactFix = ({ text, record }: Fix, sentence: (text: string) => string): Fix => ({
  text: outsideOfExamples(text, sentence),
  ...(record && {
    record: {
      type: sentence(record.type),
      name: sentence(record.name),
      value: sentence(record.value),
    },
  }),
});

/** The fields of a check that contain no text of a message. All other stored fields are dropped. */
const withoutTexts = (check: CheckResult): CheckResult => ({
  id: check.id,
  category: check.category,
  label: '',
  status: check.status,
  title: '',
  detail: '',
  evidence: {},
  points: check.points,
  earned: check.earned,
  gain: check.gain,
  reference: referenceOf(check),
  fix: null,
});

// The public evidence of a check: the declared keys, each value by its kind.

interface Shown {
  evidence: Evidence;
  /** What sentences must not quote, by top-level key of the evidence. */
  quotes: Map<string, Quote[]>;
  /** It has text from a spam engine. */
  isEngine: boolean;
}

function readEvidence(stored: Evidence, rules: PublicEvidence, redaction: Redaction): Shown {
  const shown: Shown = { evidence: {}, quotes: new Map(), isEngine: false };
  for (const [key, value] of Object.entries(stored)) {
    const reading: Reading = { redaction, quotes: [], isEngine: false };
    Object.assign(shown.evidence, readObject({ [key]: value }, rules, reading));
    shown.quotes.set(key, reading.quotes);
    shown.isEngine ||= reading.isEngine;
  }
  return shown;
}

/** Collected while the value of one top-level key is read. */
interface Reading {
  redaction: Redaction;
  quotes: Quote[];
  isEngine: boolean;
}

function readObject(stored: Evidence, rules: PublicEvidence, reading: Reading): Evidence {
  const shown: Evidence = {};
  for (const [key, value] of Object.entries(stored)) {
    const named = Object.hasOwn(rules, key) ? rules[key] : undefined;
    const inner = readValue(value, named ?? rules['*'] ?? 'left-out', rules, reading);
    if (inner === undefined) continue;
    // Under `*` a key may hold an address.
    shown[named === undefined ? reading.redaction.cut(key, 'evidence') : key] = inner;
  }
  return shown;
}

/** undefined for a value that is not public. `parent`: the rules of the object that contains it. */
function readValue(
  value: Json,
  rule: PublicRule,
  parent: PublicEvidence,
  reading: Reading,
): Json | undefined {
  if (typeof rule === 'object' && rule[''] && typeof value === 'string')
    return readValue(value, rule[''], parent, reading);
  const rules = rule === 'as-parent' ? parent : rule;
  const show = typeof rules === 'string' ? KINDS[rules] : null;
  if (!show && typeof rules === 'string') return withhold(value, rule, reading);
  if (Array.isArray(value))
    return value
      .map((item) => readValue(item, rule, parent, reading))
      .filter((item) => item !== undefined);
  if (typeof rules === 'object' && value === null) return null;
  if (typeof value === 'string' && CUT_MARK.test(value)) return value;
  if (isObject(value) && typeof rules === 'object') return readObject(value, rules, reading);
  if (!show || isObject(value)) return withhold(value, rule, reading);
  return typeof value === 'string' ? readText(value, rule as PublicKind, reading) : value;
}

const PLAIN_WORD = /^\p{L}{1,7}$/u;

function readText(stored: string, kind: PublicKind, reading: Reading): string {
  const { redaction, quotes } = reading;
  const shown = KINDS[kind]!(stored, redaction);
  // `<a href="link">` is not an address, so sentences keep the word.
  const isWord = kind === 'host' && PLAIN_WORD.test(stored);
  if (shown !== stored && !isWord && !redaction.isKept(stored)) quotes.push({ stored, shown });
  const isEngine = kind === 'engine-text';
  reading.isEngine ||= isEngine;
  return redaction.cut(shown, isEngine ? 'sentence' : 'evidence');
}

/** Records every text in the value, so that it is removed from sentences too. */
function withhold(value: Json, rule: PublicRule, reading: Reading): undefined {
  if (NEVER_QUOTED.includes(rule)) return;
  if (typeof value === 'string') reading.quotes.push({ stored: value, shown: '…' });
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value) && !OUR_KEY.test(key)) withhold(key, rule, reading);
      withhold(inner, rule, reading);
    }
}

/** The public form of a text by its kind; null for kinds that show no text. */
const KINDS: Record<PublicKind, ((text: string, redaction: Redaction) => string) | null> = {
  shown: (text) => text,
  host: (text) => hostIn(text),
  'mailbox-domain': withoutMailbox,
  'token-free': (text) => maskTokens(text),
  'our-page': (text) => text,
  'file-extension': (text) => (UNNAMED_FILE.test(text) ? text : extensionOf(text)),
  'archive-member': (text) =>
    text.replace(MEMBER, (_, verb: string, member: string) => verb + extensionOf(member)),
  'field-name': (text) => (STANDARD_FIELDS.has(text.toLowerCase()) ? text : '…'),
  'engine-text': (text, { fileNames }) => fileNames(text.replace(ENGINE_ADDRESS, '…')),
  'as-parent': null,
  'left-out': null,
  unquoted: null,
  'file-name': null,
};

/** No sentence of the check quotes them. */
const NEVER_QUOTED: PublicRule[] = ['unquoted', 'file-name'];

/** The mark that `trimEvidence` leaves in a list that is too long or an object that is too deep. */
const CUT_MARK = /^…(?: and \d+ more)?$/;

/** The form of the keys that checks use. Any other key comes from the message. */
const OUR_KEY = /^[a-z][a-z_]{0,30}$/;

// The sentences of a check: title, detail and fix.

function sentenceRule(
  check: CheckResult,
  { publicTexts = [] }: CheckDeclaration,
  { evidence, quotes, isEngine }: Shown,
): (text: string) => string {
  const steps: ((text: string) => string)[] = [];
  const searched = new Map(quotes);
  for (const rule of publicTexts) {
    if ('matches' in rule) {
      const pattern = new RegExp(rule.matches, 'gs');
      steps.push((text) => text.replace(pattern, () => rule.replacement));
      continue;
    }
    const [stored, shown] = [check.evidence, evidence].map((each) =>
      objectsIn(each, rule.list).map((item) => filled(rule.phrase, item)),
    ) as [string[], string[]];
    const index = stored.findIndex((phrase) => check.title.includes(phrase));
    if (index < 0) continue;
    const inPhrase = phraseValues(rule.phrase, objectsIn(check.evidence, rule.list));
    const others = searched.get(rule.list)?.filter((quote) => !inPhrase.has(quote.stored)) ?? [];
    searched.set(rule.list, others);
    steps.push((text) => text.split(stored[index]!).join(shown[index]!));
  }
  steps.push(quoteRule([...searched.values()].flat()));
  // Engines name the addresses that a rule fired for.
  if (isEngine) steps.push((text) => text.replace(ENGINE_ADDRESS, '…'));
  return (text) => steps.reduce((before, step) => step(before), text);
}

const BRACES = /\{(\w+)\}/g;

const filled = (phrase: string, item: Evidence): string =>
  phrase.replace(BRACES, (_, key: string) => String(item[key] ?? ''));

const phraseValues = (phrase: string, items: Evidence[]): Set<unknown> =>
  new Set([...phrase.matchAll(BRACES)].flatMap(([, key]) => items.map((item) => item[key!])));

/** Example addresses in fixes. They contain nothing of a message. */
const EXAMPLES =
  /(?<=[\s"<])((?:mailto:)?(?:unique-part|news|bounces|support|name)@example\.com|https:\/\/www\.example\.com\/|https:\/\/[\w.-]{1,253}\/unsubscribe\/TOKEN|mailto:unsubscribe@[\w.-]{1,253}\?subject=TOKEN)(?=[.,;]?(?:[\s">]|$))/;

const outsideOfExamples = (text: string, change: (text: string) => string): string =>
  text
    .split(EXAMPLES)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');

// The rest of a report: summary, rules of providers, reasons.

type Rest = Omit<Report, 'from_address' | 'checks' | 'message' | 'envelope'>;

/** Field by field, so that a field that this version does not know is not public. */
function redactRest(report: Report, change: (text: string) => string): Rest {
  const { cap, auth_results, judged_kind } = report;
  return {
    id: report.id,
    name: report.name && change(report.name),
    received_at: report.received_at,
    completed_at: report.completed_at,
    score: report.score,
    grade: report.grade,
    cap: cap && { limit: cap.limit, reason: change(cap.reason), reference: cap.reference },
    coverage: report.coverage,
    summary: change(report.summary),
    subject: report.subject && change(report.subject),
    message_size: report.message_size,
    auth_results: { spf: auth_results.spf, dkim: auth_results.dkim, dmarc: auth_results.dmarc },
    categories: report.categories.map(({ name, score, weight, earned, points }) => ({
      name,
      score,
      weight,
      earned,
      points,
    })),
    providers: report.providers.map((verdict) => redactProvider(verdict, change)),
    ruleset: report.ruleset,
    judged_kind: {
      kind: judged_kind.kind,
      by: judged_kind.by,
      reasons: judged_kind.reasons.map(change),
    },
    placement: report.placement.map(({ provider, placement, seconds }) => ({
      provider,
      placement,
      seconds,
    })),
  };
}

const referenceOf = ({ reference: { name, url } }: { reference: Reference }): Reference => ({
  name,
  url,
});

const redactProvider = (
  { provider, name, ready, reference, rules }: ProviderVerdict,
  change: (text: string) => string,
): ProviderVerdict => ({
  provider,
  name: change(name),
  ready,
  reference: referenceOf({ reference }),
  rules: rules.map(({ id, title, applies, status, detail, checks, error }) => ({
    id,
    title: change(title),
    applies,
    status,
    detail: change(detail),
    checks,
    error: error && change(error),
  })),
});

/** The summary may begin a title with a lowercase letter. */
const withPublicTitles = (text: string, { titles }: Redaction): string =>
  titles
    .flatMap(([stored, shown]) => [
      [stored, shown] as const,
      [uncapitalized(stored), uncapitalized(shown)] as const,
    ])
    .reduce((before, [stored, shown]) => before.split(stored).join(shown), text);

const uncapitalized = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);

/**
 * Local parts that identify a recipient (`bounce+reader=mail.example@…`). SPF macros write them into DNS
 * names (RFC 7208 §7). Other names have no `+` or `=`, so nothing else is cut.
 */
const taggedLocalParts = ({ checks, from_address }: Report): string[] =>
  stringsOf(checks, 'mailbox-domain')
    .map((mailbox) => /([^\s<>"@]+)@[^@]*$/.exec(mailbox)?.[1] ?? '')
    .filter((local) => /[+=]/.test(local) && !from_address?.startsWith(`${local}@`));

/** Matches each value, also with its @ as VERP addresses and URLs write it. */
function concealedPattern(conceal: string[]): RegExp | null {
  const parts = conceal
    .filter((text) => text.length >= MIN_QUOTE)
    .toSorted((a, b) => b.length - a.length)
    .map((text) => text.split('@').map(escapeRegExp).join('(?:@|=|%40)'));
  return parts.length === 0 ? null : new RegExp(parts.join('|'), 'gi');
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Header fields of RFC 5322, RFC 2045, RFC 2369 and common use: their names reveal nothing about a sender. */
const STANDARD_FIELDS = new Set(
  [
    'from sender reply-to to cc bcc subject date message-id in-reply-to references comments keywords',
    'return-path received resent-from resent-sender resent-to resent-cc resent-bcc resent-date',
    'resent-message-id mime-version content-type content-transfer-encoding content-disposition',
    'content-id content-description content-language content-location list-id list-unsubscribe',
    'list-unsubscribe-post list-subscribe list-post list-owner list-help list-archive precedence',
    'auto-submitted feedback-id dkim-signature arc-seal arc-message-signature',
    'arc-authentication-results authentication-results received-spf delivered-to organization',
    'importance priority x-priority x-mailer user-agent disposition-notification-to thread-topic',
    'thread-index bimi-selector',
  ]
    .join(' ')
    .split(' '),
);

// Mailboxes and file names.

/** Also as spam engines write it, `reader(at)mail.example`. Bounded, so that long words take linear time. */
const ENGINE_ADDRESS = /[^\s<>"',;:()[\]@]{1,64}(?:@|[([]at[)\]])[a-z0-9\u0080-\uffff.-]{1,255}/gi;

/** `…@shop.example`; text without a mailbox stays. */
function withoutMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? address : `…${address.slice(at)}`;
}

/** A file in an archive, named by the end of its path; stored reports may still say "holds". */
const MEMBER = /^((?:contains|holds) )(.+)(?=, which (?:is|has) )/s;

/** The placeholder for a file without a name: its media type. */
const UNNAMED_FILE = /^\([\w.+-]+\/[\w.+-]+\)$/;

/** `….exe`. */
function extensionOf(name: string): string {
  const extension = /\.[a-z0-9_-]{1,10}$/i.exec(name.trim())?.[0] ?? '';
  return `…${extension}`;
}

/** Cuts file names as whole words. File names in findings keep their extension. */
function fileNameRule(checks: CheckResult[]): (text: string) => string {
  const shown = new Map<string, string>();
  for (const name of stringsOf(checks, 'file-name')) shown.set(name, '…');
  for (const name of stringsOf(checks, 'file-extension')) shown.set(name, extensionOf(name));
  for (const problem of stringsOf(checks, 'archive-member')) {
    const member = MEMBER.exec(problem)?.[2] ?? '';
    shown.set(member, extensionOf(member));
  }
  const names = [...shown.keys()]
    .filter((name) => name.length >= MIN_QUOTE && !UNNAMED_FILE.test(name))
    .sort((a, b) => b.length - a.length);
  if (names.length === 0) return (text) => text;
  const any = names.map(escapeRegExp).join('|');
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${any})(?![\p{L}\p{N}_])`, 'gu');
  return (text) => text.replace(pattern, (name) => shown.get(name)!);
}

/** The texts of this kind in the evidence of all checks. */
function stringsOf(checks: CheckResult[], kind: PublicKind): string[] {
  const found: string[] = [];
  const read = (value: Json, rule: PublicRule | undefined): void => {
    if (Array.isArray(value)) for (const item of value) read(item, rule);
    else if (typeof value === 'string' && rule === kind) found.push(value);
    else if (isObject(value) && typeof rule === 'object')
      for (const [key, inner] of Object.entries(value))
        if (Object.hasOwn(rule, key)) read(inner, rule[key]);
  };
  for (const { id, evidence } of checks)
    read(evidence, declarationOf(id)?.publicEvidence ?? undefined);
  return found;
}
