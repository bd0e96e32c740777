/** Evaluates the score of a spam filter (SpamAssassin, Rspamd), excluding rules that other checks cover. */

import { type Context, type Finding, fail, pass, unknown, warn } from './check.ts';
import { clientPtr, usableNames } from './dns/names.ts';
import type { PublicEvidence } from './public-evidence.ts';

export interface FiredRule {
  name: string;
  score: number;
  /** Empty if the filter has none. */
  description: string;
}

interface EngineScore {
  /** `SpamAssassin`, `Rspamd`. */
  engine: string;
  /** The total as the filter reports it. */
  score: number;
  /** At this score or above, the filter classifies a message as spam. */
  threshold: number;
  rules: FiredRule[];
  isCoveredRule(rule: string): boolean;
  /** Set if the filter decided without a score. */
  forced?: 'spam';
  /** Additional evidence. */
  evidence?: Finding['evidence'];
}

const MAX_RULES_SHOWN = 40;
const MAX_DESCRIPTION = 200;

/** Below half the threshold: pass. Below the threshold: warn. At or above it: fail. */
export function evaluateSpamScore(result: EngineScore): Finding {
  const { engine, threshold } = result;
  if (!(threshold > 0))
    return unknown(
      `Could not use the score of ${engine}.`,
      `Its threshold is ${threshold}, so it classifies every message as spam. This is a setting of ${engine}, not a problem with your message.`,
    );
  const coveredRules = result.rules.filter(({ name }) => result.isCoveredRule(name));
  const rules = result.rules.filter(({ name }) => !result.isCoveredRule(name));
  const excludedScore = coveredRules.reduce((sum, { score }) => sum + score, 0);
  const score = result.forced ? result.score : rounded(result.score - excludedScore);
  const evidence = {
    score,
    threshold,
    engine_score: rounded(result.score),
    rules: rulesAsEvidence(rules),
    checked_elsewhere: rulesAsEvidence(coveredRules),
    ...result.evidence,
  };
  const points = `Your message scores ${score} points. ${engine} classifies mail as spam at ${threshold} points or more.${excludedPoints(excludedScore)}`;
  if (result.forced || score >= threshold)
    return fail({
      title: `${engine} classifies your message as spam.`,
      detail: `${result.forced ? `${engine} decided this without counting points.` : points} Mailbox providers that use ${engine} send such mail to spam or reject it.`,
      fix: fixFor(result.forced ? rules : rules.filter(({ score }) => score > 0)),
      evidence,
    });
  if (score >= threshold / 2)
    return warn({
      title: `Your message reaches at least half of ${engine}'s spam threshold.`,
      detail: `${points} Mailbox providers add rules and scores of their own, so they may classify your message as spam.`,
      fix: fixFor(rules.filter(({ score }) => score > 0)),
      evidence,
    });
  return pass(
    `${engine} does not classify your message as spam.`,
    `${points} Many mailbox providers check for the same things.`,
    evidence,
  );
}

/** The filter returned no usable result. `reason` is a clause that follows "… was queried, but". */
export const engineUnavailable = (engine: string, reason: string): Finding =>
  unknown(
    `Could not get a verdict from ${engine}.`,
    `${engine} was queried, but ${reason}. This does not affect your score.`,
  );

const rounded = (score: number): number => Math.round(score * 100) / 100 + 0;

/** A sentence about the points of rules that other checks cover; empty if there are none. */
function excludedPoints(excludedScore: number): string {
  if (rounded(excludedScore) === 0) return '';
  const points = `${Math.abs(rounded(excludedScore))} points ${excludedScore > 0 ? 'against your message' : 'in its favor'}`;
  return ` Not counted: ${points}, from rules that other checks in this report cover.`;
}

/** At most 40 rules, those with the most points in either direction first. */
function rulesAsEvidence(rules: FiredRule[]) {
  return rules
    .toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score) || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_RULES_SHOWN)
    .map(({ name, score, description }) => ({
      rule: name.slice(0, 100),
      score: rounded(score),
      description: description.slice(0, MAX_DESCRIPTION),
    }));
}

/** The public part of the evidence of a spam filter. */
export const PUBLIC_ENGINE: PublicEvidence = {
  score: 'shown',
  threshold: 'shown',
  engine_score: 'shown',
  rules: { rule: 'shown', score: 'shown', description: 'engine-text' },
  checked_elsewhere: { rule: 'shown', score: 'shown', description: 'engine-text' },
};

function fixFor(rules: FiredRule[]): string {
  const topRules = rules
    .toSorted((a, b) => b.score - a.score)
    .slice(0, 5)
    .map(({ name, score, description }) => {
      const suffix = description ? `: ${description.slice(0, 100)}` : '';
      return `${name.slice(0, 100)} (${rounded(score)}${suffix})`;
    });
  if (topRules.length === 0) return 'Fix the problems that the rules in the evidence found.';
  return `Fix the problems that these rules found, highest points first: ${topRules.join('; ')}.`;
}

// The spam filter rules that other checks cover.

/**
 * Parts of rule names, between underscores, that identify the subject of a rule in either filter: SPF,
 * DKIM, DMARC and ARC; DNS blocklists and allowlists; reverse DNS and HELO names.
 */
const SUBJECTS = new Set([
  'SPF',
  'DKIM',
  'DKIMWL',
  'DKIMDOMAIN',
  'ADSP',
  'DMARC',
  'ARC',
  'DNSBL',
  'RBL',
  'DNSWL',
  'URIBL',
  'SURBL',
  'SBL',
  'XBL',
  'PBL',
  'ZEN',
  'PTR',
  'RDNS',
  'NORDNS',
  'FCRDNS',
  'HELO',
]);

/** SpamAssassin rules that `SUBJECTS` does not match. */
const SPAMASSASSIN = [
  // DNS lists of IP addresses, and whether the From domain has MX or address records.
  /^RCVD_IN_/,
  /^NO_DNS_FOR_FROM$/,
  // SpamAssassin's trust in its own network, which does not apply elsewhere.
  /^ALL_TRUSTED$/,
];

/** Rspamd symbols that `SUBJECTS` does not match. */
const RSPAMD = [
  // DNS lists: of sending IP addresses, earlier hops, allowlists, DKIM domains, and the DBL.
  /^(?:RBL|RECEIVED|RWL|DWL|DBL|SPAMHAUS|MAILSPIKE|BLOCKLISTDE)(?:_|$)/,
  /^AUTH_NA/,
  // HELO and reverse DNS names, and whether the From domain has MX or address records.
  /^HFILTER_(?:HELO|HOSTNAME|FROMHOST)_/,
];

const matches = (rule: string, patterns: RegExp[]): boolean =>
  rule.split('_').some((part) => SUBJECTS.has(part)) ||
  patterns.some((pattern) => pattern.test(rule));

export const isCoveredSpamassassinRule = (rule: string): boolean => matches(rule, SPAMASSASSIN);

export const isCoveredRspamdSymbol = (symbol: string): boolean => matches(symbol, RSPAMD);

/**
 * The reverse DNS name of the sending server, as input for a spam filter; null if it has none. If the
 * lookup failed, the HELO name: a failed lookup must not trigger rules for servers without a name.
 */
export async function clientName(context: Context): Promise<string | null> {
  const answer = await context.fact(clientPtr);
  if (answer === null || answer.status === 'error') return context.envelope.helo;
  return usableNames(answer)[0] ?? null;
}
