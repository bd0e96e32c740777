/** Public reports, for people outside the team: scores, checks and placement, but no message content. */

import { shortenBulkFields } from '../analysis/bulk-sender.ts';
import type { CheckDeclaration, Fix, Json, Reference } from '../analysis/check.ts';
import { declarationOf } from '../analysis/declarations.ts';
import { asClause } from '../analysis/headline-cause.ts';
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
export const redactStoredReport = ({ conceal, message: _, ...stored }: SharedReport): Report =>
  redactReport(parseStoredReport(stored), conceal);

/** Shortens addresses and removes concealed values in the text of the message, for its public preview. */
export function publicTextOf({ conceal, message: _, ...stored }: SharedReport): PublicText {
  const { redactText } = redactionOf(parseStoredReport(stored), conceal);
  return (text) => redactText(text, 'sentence');
}

export type PublicText = (text: string) => string;

/**
 * Removes the message, its envelope and its delivery path. Evidence keeps only what its check declares
 * public (`Check.publicEvidence`); sentences do not quote other evidence. A check that this version does
 * not know keeps its label and status. Every address in a text is shortened to its host. The values in
 * `conceal` (tokens, addresses; at least four characters each) are removed in every notation.
 */
export function redactReport(report: Report, conceal: string[]): Report {
  const { checks, from_address } = report;
  const redaction = redactionOf(report, conceal);
  const redacted = checks.flatMap((check) => redactCheck(check, redaction) ?? []);
  // One title may be a prefix of another.
  redaction.titles.sort(([a], [b]) => b.length - a.length);
  return {
    ...redactRemainingFields(report, (text) =>
      redaction.redactText(withPublicTitles(text, redaction), 'sentence'),
    ),
    from_address: from_address && redaction.withoutConcealed(from_address),
    checks: redacted,
    message: null,
    preview: null,
    envelope: null,
  };
}

function redactionOf(report: Report, conceal: string[]): Redaction {
  const { checks, from_address } = report;
  const concealed = concealedPattern([...conceal, ...taggedLocalParts(report)]);
  const withoutConcealed = (text: string) => (concealed ? text.replace(concealed, '…') : text);
  const publicPages = stringsOf(checks, 'our-page');
  const addresses = addressRule(new Set([...publicPages, from_address?.toLowerCase() ?? '']));
  return {
    redactText: (text, kind) => addresses(withoutConcealed(shortenBulkFields(text)), kind),
    withoutConcealed,
    fileNames: fileNameRule(checks),
    isPublic: (value) => value.toLowerCase() === from_address?.toLowerCase(),
    titles: [],
  };
}

interface Redaction {
  /** Shortens addresses and removes concealed values. The last step for every text. */
  redactText: TextRule;
  /** Removes concealed values only. */
  withoutConcealed(text: string): string;
  /** Removes attachment names that occur as whole words. */
  fileNames(text: string): string;
  /** Whether a value is public, so that sentences may quote it. */
  isPublic(value: string): boolean;
  /** Titles that changed: the summary and provider rules repeat them. */
  titles: [stored: string, shown: string][];
}

/** null for a check that only shows a part of the message. */
function redactCheck(check: CheckResult, redaction: Redaction): CheckResult | null {
  const declared = declarationOf(check.id);
  if (!declared?.publicEvidence) {
    const label = redaction.redactText(check.label, 'sentence');
    if (check.title.length >= MIN_QUOTE) redaction.titles.push([check.title, label]);
    return declared ? null : { ...withoutTexts(check), label, title: label };
  }
  const shown = readEvidence(check.evidence, declared.publicEvidence, redaction);
  const unquoted = sentenceRule(check, declared, shown);
  const title = unquoted(check.title);
  if (title !== check.title) redaction.titles.push([check.title, title]);
  const sentence = (text: string) => redaction.redactText(unquoted(text), 'sentence');
  const { label, detail, fix } = check;
  return {
    ...withoutTexts(check),
    label: redaction.redactText(label, 'sentence'),
    title: redaction.redactText(title, 'sentence'),
    detail: sentence(detail),
    evidence: shown.evidence,
    fix: fix && redactFix(fix, sentence),
  };
}

const redactFix = (
  { text, record, caution, guide }: Fix,
  sentence: (text: string) => string,
): Fix => ({
  text: outsideExamples(text, sentence),
  ...(record && {
    record: {
      type: sentence(record.type),
      name: sentence(record.name),
      value: sentence(record.value),
    },
  }),
  ...(caution && { caution: sentence(caution) }),
  ...(guide && { guide: { name: guide.name, url: guide.url } }),
});

/** The fields of a check that contain no message text. All other stored fields are dropped. */
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
  goes_with: check.goes_with,
  reference: referenceOf(check),
  fix: null,
});

// The public evidence of a check: the declared keys, each value by its kind.

interface RedactedEvidence {
  evidence: Evidence;
  /** What sentences must not quote, by top-level key of the evidence. */
  quotes: Map<string, Quote[]>;
  /** Whether it contains text from a spam engine. */
  hasEngineText: boolean;
}

function readEvidence(
  stored: Evidence,
  rules: PublicEvidence,
  redaction: Redaction,
): RedactedEvidence {
  const shown: RedactedEvidence = { evidence: {}, quotes: new Map(), hasEngineText: false };
  for (const [key, value] of Object.entries(stored)) {
    const state: ReadState = { redaction, quotes: [], hasEngineText: false };
    Object.assign(shown.evidence, readObject({ [key]: value }, rules, state));
    shown.quotes.set(key, state.quotes);
    shown.hasEngineText ||= state.hasEngineText;
  }
  return shown;
}

/** Collected while the value of one top-level key is read. */
interface ReadState {
  redaction: Redaction;
  quotes: Quote[];
  hasEngineText: boolean;
}

function readObject(stored: Evidence, rules: PublicEvidence, state: ReadState): Evidence {
  const shown: Evidence = {};
  for (const [key, value] of Object.entries(stored)) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    const inner = readValue(value, rule ?? rules['*'] ?? 'left-out', rules, state);
    if (inner === undefined) continue;
    // A key that matches `*` may contain an address.
    shown[rule === undefined ? state.redaction.redactText(key, 'evidence') : key] = inner;
  }
  return shown;
}

/** undefined for a value that is not public. `parent`: the rules of the object that contains it. */
function readValue(
  value: Json,
  rule: PublicRule,
  parent: PublicEvidence,
  state: ReadState,
): Json | undefined {
  if (typeof rule === 'object' && rule[''] && typeof value === 'string')
    return readValue(value, rule[''], parent, state);
  const rules = rule === 'as-parent' ? parent : rule;
  const publicForm = typeof rules === 'string' ? PUBLIC_FORMS[rules] : null;
  if (!publicForm && typeof rules === 'string') return withhold(value, rule, state);
  if (Array.isArray(value))
    return value
      .map((item) => readValue(item, rule, parent, state))
      .filter((item) => item !== undefined);
  if (typeof rules === 'object' && value === null) return null;
  if (typeof value === 'string' && TRIM_MARK.test(value)) return value;
  if (isObject(value) && typeof rules === 'object') return readObject(value, rules, state);
  if (!publicForm || isObject(value)) return withhold(value, rule, state);
  return typeof value === 'string' ? readText(value, rule as PublicKind, state) : value;
}

const PLAIN_WORD = /^\p{L}{1,7}$/u;

function readText(stored: string, kind: PublicKind, state: ReadState): string {
  const { redaction, quotes } = state;
  const shown = PUBLIC_FORMS[kind]!(stored, redaction);
  // `<a href="link">` is not an address, so sentences keep the word.
  const isWord = kind === 'host' && PLAIN_WORD.test(stored);
  if (shown !== stored && !isWord && !redaction.isPublic(stored)) quotes.push({ stored, shown });
  const hasEngineText = kind === 'engine-text';
  state.hasEngineText ||= hasEngineText;
  return redaction.redactText(shown, hasEngineText ? 'sentence' : 'evidence');
}

/** Records every text in the value, so that it is removed from sentences too. */
function withhold(value: Json, rule: PublicRule, state: ReadState): undefined {
  if (NEVER_QUOTED.includes(rule)) return;
  if (typeof value === 'string') state.quotes.push({ stored: value, shown: '…' });
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value) && !CHECK_KEY.test(key)) withhold(key, rule, state);
      withhold(inner, rule, state);
    }
}

/** The public form of a text by its kind; null for kinds that show no text. */
const PUBLIC_FORMS: Record<PublicKind, ((text: string, redaction: Redaction) => string) | null> = {
  shown: (text) => text,
  host: (text) => hostIn(text),
  'mailbox-domain': withoutMailbox,
  'token-free': (text) => maskTokens(text),
  'our-page': (text) => text,
  'file-extension': (text) => (UNNAMED_FILE.test(text) ? text : extensionOf(text)),
  'archive-member': (text) =>
    text.replace(ARCHIVE_MEMBER, (_, verb: string, member: string) => verb + extensionOf(member)),
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
const TRIM_MARK = /^…(?: and \d+ more)?$/;

/** The form of the keys that checks use. Any other key comes from the message. */
const CHECK_KEY = /^[a-z][a-z_]{0,30}$/;

// The sentences of a check: title, detail and fix.

function sentenceRule(
  check: CheckResult,
  { publicTexts = [] }: CheckDeclaration,
  { evidence, quotes, hasEngineText }: RedactedEvidence,
): (text: string) => string {
  const steps: ((text: string) => string)[] = [];
  const quotesByKey = new Map(quotes);
  for (const rule of publicTexts) {
    if ('matches' in rule) {
      const pattern = new RegExp(rule.matches, 'gs');
      steps.push((text) => text.replace(pattern, () => rule.replacement));
      continue;
    }
    const [stored, shown] = [check.evidence, evidence].map((source) =>
      objectsIn(source, rule.list).map((item) => fillPhrase(rule.phrase, item)),
    ) as [string[], string[]];
    const index = stored.findIndex((phrase) => check.title.includes(phrase));
    if (index < 0) continue;
    const phraseQuotes = phraseValues(rule.phrase, objectsIn(check.evidence, rule.list));
    const otherQuotes =
      quotesByKey.get(rule.list)?.filter((quote) => !phraseQuotes.has(quote.stored)) ?? [];
    quotesByKey.set(rule.list, otherQuotes);
    steps.push((text) => text.split(stored[index]!).join(shown[index]!));
  }
  steps.push(quoteRule([...quotesByKey.values()].flat()));
  // Engines quote the addresses that triggered a rule.
  if (hasEngineText) steps.push((text) => text.replace(ENGINE_ADDRESS, '…'));
  return (text) => steps.reduce((result, step) => step(result), text);
}

const PLACEHOLDER = /\{(\w+)\}/g;

const fillPhrase = (phrase: string, item: Evidence): string =>
  phrase.replace(PLACEHOLDER, (_, key: string) => String(item[key] ?? ''));

const phraseValues = (phrase: string, items: Evidence[]): Set<unknown> =>
  new Set([...phrase.matchAll(PLACEHOLDER)].flatMap(([, key]) => items.map((item) => item[key!])));

/** Example addresses in fixes. They contain no message content. */
const EXAMPLES =
  /(?<=[\s"<])((?:mailto:)?(?:unique-part|news|bounces|support|name)@example\.com|https:\/\/www\.example\.com\/|https:\/\/[\w.-]{1,253}\/unsubscribe\/TOKEN|mailto:unsubscribe@[\w.-]{1,253}\?subject=TOKEN)(?=[.,;]?(?:[\s">]|$))/;

const outsideExamples = (text: string, redact: (text: string) => string): string =>
  text
    .split(EXAMPLES)
    .map((part, index) => (index % 2 === 1 ? part : redact(part)))
    .join('');

// The remaining fields of a report: summary, provider rules, reasons.

type RemainingFields = Omit<Report, 'from_address' | 'checks' | 'message' | 'preview' | 'envelope'>;

/** Copied field by field, so that a field unknown to this version never becomes public. */
function redactRemainingFields(report: Report, redact: (text: string) => string): RemainingFields {
  const { cap, auth_results, judged_kind, alternative } = report;
  return {
    id: report.id,
    name: report.name && redact(report.name),
    received_at: report.received_at,
    completed_at: report.completed_at,
    score: report.score,
    grade: report.grade,
    cap: cap && { limit: cap.limit, reason: redact(cap.reason), reference: cap.reference },
    coverage: report.coverage,
    summary: redact(report.summary),
    subject: report.subject && redact(report.subject),
    message_size: report.message_size,
    auth_results: { spf: auth_results.spf, dkim: auth_results.dkim, dmarc: auth_results.dmarc },
    categories: report.categories.map(({ name, score, weight, earned, points }) => ({
      name,
      score,
      weight,
      earned,
      points,
    })),
    providers: report.providers.map((verdict) => redactProvider(verdict, redact)),
    ruleset: report.ruleset,
    judged_kind: {
      kind: judged_kind.kind,
      by: judged_kind.by,
      confidence: judged_kind.confidence,
      reasons: judged_kind.reasons.map(redact),
    },
    alternative: alternative && {
      kind: alternative.kind,
      score: alternative.score,
      grade: alternative.grade,
    },
    placement: report.placement.map(({ provider, placement, seconds }) => ({
      provider,
      placement,
      seconds,
    })),
    ...(report.placement_status === undefined ? {} : { placement_status: report.placement_status }),
  };
}

const referenceOf = ({ reference: { name, url } }: { reference: Reference }): Reference => ({
  name,
  url,
});

const redactProvider = (
  { provider, name, ready, status, reference, rules }: ProviderVerdict,
  redact: (text: string) => string,
): ProviderVerdict => ({
  provider,
  name: redact(name),
  ready,
  status,
  reference: referenceOf({ reference }),
  rules: rules.map(({ id, title, applies, status, detail, checks, error }) => ({
    id,
    title: redact(title),
    applies,
    status,
    detail: redact(detail),
    checks,
    error: error && redact(error),
  })),
});

/** The summary may quote a title with a lowercase first letter, or as a clause. */
const withPublicTitles = (text: string, { titles }: Redaction): string =>
  titles
    .flatMap(([stored, shown]) => [
      [stored, shown] as const,
      [uncapitalized(stored), uncapitalized(shown)] as const,
      [asClause(stored), asClause(shown)] as const,
    ])
    .reduce((result, [stored, shown]) => result.split(stored).join(shown), text);

const uncapitalized = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);

/**
 * Local parts that identify a recipient (`bounce+reader=mail.example@…`). SPF macros write them into DNS
 * names (RFC 7208 §7). Other names have no `+` or `=`, so nothing else is cut.
 */
const taggedLocalParts = ({ checks, from_address }: Report): string[] =>
  stringsOf(checks, 'mailbox-domain')
    .map((mailbox) => /([^\s<>"@]+)@[^@]*$/.exec(mailbox)?.[1] ?? '')
    .filter((local) => /[+=]/.test(local) && !from_address?.startsWith(`${local}@`));

/** Matches each value, also with `=` (VERP) or `%40` (URLs) instead of `@`. */
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

/** A mailbox, also as spam engines write it: `reader(at)mail.example`. Bounded, so that long words take linear time. */
const ENGINE_ADDRESS = /[^\s<>"',;:()[\]@]{1,64}(?:@|[([]at[)\]])[a-z0-9\u0080-\uffff.-]{1,255}/gi;

/** `…@shop.example`; text without `@` is unchanged. */
function withoutMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? address : `…${address.slice(at)}`;
}

/** A file in an archive, named by the end of its path; stored reports may still say "holds". */
const ARCHIVE_MEMBER =
  /^((?:contains|holds) )(.+)(?=, which (?:is|has|some email clients open as) )/s;

/** The placeholder for a file without a name: its media type. */
const UNNAMED_FILE = /^\([\w.+-]+\/[\w.+-]+\)$/;

/** `….exe`. */
function extensionOf(name: string): string {
  const extension = /\.[a-z0-9_-]{1,10}$/i.exec(name.trim())?.[0] ?? '';
  return `…${extension}`;
}

/** Removes file names that occur as whole words. Those in findings keep their extension. */
function fileNameRule(checks: CheckResult[]): (text: string) => string {
  const publicNames = new Map<string, string>();
  for (const name of stringsOf(checks, 'file-name')) publicNames.set(name, '…');
  for (const name of stringsOf(checks, 'file-extension')) publicNames.set(name, extensionOf(name));
  for (const problem of stringsOf(checks, 'archive-member')) {
    const member = ARCHIVE_MEMBER.exec(problem)?.[2] ?? '';
    publicNames.set(member, extensionOf(member));
  }
  const names = [...publicNames.keys()]
    .filter((name) => name.length >= MIN_QUOTE && !UNNAMED_FILE.test(name))
    .sort((a, b) => b.length - a.length);
  if (names.length === 0) return (text) => text;
  const alternatives = names.map(escapeRegExp).join('|');
  const pattern = new RegExp(
    String.raw`(?<![\p{L}\p{N}_])(?:${alternatives})(?![\p{L}\p{N}_])`,
    'gu',
  );
  return (text) => text.replace(pattern, (name) => publicNames.get(name)!);
}

/** The texts of this kind in the evidence of all checks. */
function stringsOf(checks: CheckResult[], kind: PublicKind): string[] {
  const texts: string[] = [];
  const collect = (value: Json, rule: PublicRule | undefined): void => {
    if (Array.isArray(value)) for (const item of value) collect(item, rule);
    else if (typeof value === 'string' && rule === kind) texts.push(value);
    else if (isObject(value) && typeof rule === 'object')
      for (const [key, inner] of Object.entries(value))
        if (Object.hasOwn(rule, key)) collect(inner, rule[key]);
  };
  for (const { id, evidence } of checks)
    collect(evidence, declarationOf(id)?.publicEvidence ?? undefined);
  return texts;
}
