/** A report as people may see it who are not of the team: scores, checks and placement, nothing of the message. */

import type { CheckResult } from '../analysis/result.ts';
import { addressRule, type Rule } from './addresses-for-strangers.ts';
import { evidenceForStrangers, LEFT_OUT } from './evidence-for-strangers.ts';
import { escaped, type FileNames, namesOfFiles } from './files-for-strangers.ts';
import { isObject, objectsIn, textIn } from './read-evidence.ts';
import type { Report } from './report.ts';
import type { SharedReport } from './thread/job.ts';
import { unsealed } from './unsealed.ts';

/** Every form of a shared report is made of this: page, PDF and JSON. */
export const reportForStrangers = ({ conceal, ...sealed }: SharedReport): Report =>
  forStrangers(unsealed(sealed), conceal);

/**
 * Without the message, its envelope and the way it came; without what would let a stranger act for
 * its reader: of every address in it, in whichever text of whichever check, the host alone stays. What
 * is in `conceal` (tokens, addresses; at least four characters each) is nowhere in it, however it is
 * written.
 */
export function forStrangers(report: Report, conceal: string[]): Report {
  const rule = addressRule(keptOf(report));
  const names = namesOfFiles(report.checks);
  const wanted = conceal.filter((text) => text.length >= SHORTEST);
  const pattern = wanted.length === 0 ? null : patternOf(wanted);
  const change: Rule = (text, kind) => rule(pattern ? text.replace(pattern, '…') : text, kind);
  const checks = report.checks
    .filter(({ id }) => !LEFT_OUT.has(id))
    .map((check) => checkForStrangers(check, change, names));
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
const SHORTEST = 4;

const ENGINES = new Set(['spamassassin', 'rspamd']);

function checkForStrangers(whole: CheckResult, change: Rule, names: FileNames): CheckResult {
  // Rules of an engine tell of whom they fired for, in sentences.
  const isEngine = ENGINES.has(whole.id);
  const check = isEngine ? engineForStrangers(whole, names) : sentenceCut(whole, names);
  const { evidence, fix, ...rest } = check;
  const sentence = (text: string) => change(text, 'sentence');
  return {
    ...sentences(rest, sentence),
    fix: fix && { ...sentences(fix, sentence), text: outsideOfExamples(fix.text, sentence) },
    evidence: changed(evidenceForStrangers(check.id, evidence), (text) =>
      change(text, isEngine ? 'sentence' : 'evidence'),
    ),
  };
}

/** What it says of a rule stands in the remedy, too. */
function engineForStrangers(whole: CheckResult, { outOfWords }: FileNames): CheckResult {
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
    .map((text) => text.split('@').map(escaped).join('(?:@|=|%40)'));
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
