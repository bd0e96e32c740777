/** What a spam engine's score says about a message, without what has its own check here. */

import { type Context, type Finding, fail, pass, unknown, warn } from './check.ts';
import { clientPtr, usableNames } from './dns/names.ts';
import type { PublicEvidence } from './public-evidence.ts';

export interface FiredRule {
  name: string;
  score: number;
  /** Empty where the engine has none. */
  description: string;
}

interface EngineScore {
  /** `SpamAssassin`, `Rspamd`. */
  engine: string;
  /** The sum as the engine has it. */
  score: number;
  /** At this sum the engine takes a message for spam. */
  threshold: number;
  rules: FiredRule[];
  isCheckedHere(rule: string): boolean;
  /** Where the engine decided without counting: what it decided. */
  forced?: 'spam';
  /** More to show. */
  evidence?: Finding['evidence'];
}

const RULES_SHOWN = 40;
const DESCRIPTION_MAX = 200;

/** Below half of the threshold passes, below it warns, at it fails. */
export function judgeEngine(result: EngineScore): Finding {
  const { engine, threshold } = result;
  if (!(threshold > 0))
    return unknown(
      `${engine} could not be used.`,
      `Its threshold is ${threshold}, so that every message would be spam. This is a setting of the engine, not of your message.`,
    );
  const elsewhere = result.rules.filter(({ name }) => result.isCheckedHere(name));
  const rules = result.rules.filter(({ name }) => !result.isCheckedHere(name));
  const taken = elsewhere.reduce((sum, { score }) => sum + score, 0);
  const score = result.forced ? result.score : rounded(result.score - taken);
  const evidence = {
    score,
    threshold,
    engine_score: rounded(result.score),
    rules: shown(rules),
    checked_elsewhere: shown(elsewhere),
    ...result.evidence,
  };
  const sum = `It gives ${score} of the ${threshold} points at which a message is spam${sideNote(taken)}.`;
  if (result.forced || score >= threshold)
    return fail({
      title: `${engine} takes your message for spam.`,
      detail: `${result.forced ? 'It decided that without counting points.' : sum} Receivers that use it file such mail as spam or refuse it.`,
      fix: fixFor(result.forced ? rules : rules.filter(({ score }) => score > 0)),
      evidence,
    });
  if (score >= threshold / 2)
    return warn({
      title: `${engine} is half-way to taking your message for spam.`,
      detail: `${sum} Receivers add rules and scores of their own, so little is missing.`,
      fix: fixFor(rules.filter(({ score }) => score > 0)),
      evidence,
    });
  return pass(
    `${engine} does not take your message for spam.`,
    `${sum} Its rules look at what many receivers look at.`,
    evidence,
  );
}

/** The engine was asked and gave no usable answer; `reason` follows "… was asked, but". */
export const engineSilent = (engine: string, reason: string): Finding =>
  unknown(
    `${engine} gave no verdict.`,
    `${engine} was asked, but ${reason}. This is not counted against you.`,
  );

const rounded = (score: number): number => Math.round(score * 100) / 100 + 0;

/** What was taken out of the sum, as half a sentence. */
function sideNote(taken: number): string {
  if (rounded(taken) === 0) return '';
  const points = `${Math.abs(rounded(taken))} more ${taken > 0 ? 'against you' : 'in your favour'}`;
  return `, leaving out ${points} for what has a check of its own here`;
}

/** Those that weigh most first. */
function shown(rules: FiredRule[]) {
  return rules
    .toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score) || (a.name < b.name ? -1 : 1))
    .slice(0, RULES_SHOWN)
    .map(({ name, score, description }) => ({
      rule: name.slice(0, 100),
      score: rounded(score),
      description: description.slice(0, DESCRIPTION_MAX),
    }));
}

/** The public part of the evidence of an engine. */
export const PUBLIC_ENGINE: PublicEvidence = {
  score: 'shown',
  threshold: 'shown',
  engine_score: 'shown',
  rules: { rule: 'shown', score: 'shown', description: 'engine-text' },
  checked_elsewhere: { rule: 'shown', score: 'shown', description: 'engine-text' },
};

function fixFor(rules: FiredRule[]): string {
  const heaviest = rules
    .toSorted((a, b) => b.score - a.score)
    .slice(0, 5)
    .map(({ name, score, description }) => {
      const what = description ? `: ${description.slice(0, 100)}` : '';
      return `${name.slice(0, 100)} (${rounded(score)}${what})`;
    });
  if (heaviest.length === 0) return 'Change what the rules found that the evidence lists.';
  return `Change what these rules found, beginning with the heaviest: ${heaviest.join('; ')}.`;
}

// Which rules of the engines judge what a check here judges already.

/**
 * Parts of names, between underscores, that say what a rule of either engine is about: SPF, DKIM,
 * DMARC and ARC; lists of addresses and names in the DNS; the client's name and what it calls itself.
 */
const SUBJECTS = new Set([
  ...['SPF', 'DKIM', 'DKIMWL', 'DKIMDOMAIN', 'ADSP', 'DMARC', 'ARC'],
  ...['DNSBL', 'RBL', 'DNSWL', 'URIBL', 'SURBL', 'SBL', 'XBL', 'PBL', 'ZEN'],
  ...['PTR', 'RDNS', 'NORDNS', 'FCRDNS', 'HELO'],
]);

/** Names of SpamAssassin's rules that the parts do not tell. */
const SPAMASSASSIN = [
  // DNS lists of addresses, and whether the sender's domain has MX or address.
  /^RCVD_IN_/,
  /^NO_DNS_FOR_FROM$/,
  // The engine's trust in its own network, which no other receiver shares.
  /^ALL_TRUSTED$/,
];

const RSPAMD = [
  // DNS lists: prefixes for the client, earlier hops, allow lists, DKIM domains, and the DBL.
  /^(?:RBL|RECEIVED|RWL|DWL|DBL|SPAMHAUS|MAILSPIKE|BLOCKLISTDE)(?:_|$)/,
  /^AUTH_NA/,
  // Names in HELO, in the reverse DNS, and whether the sender's domain has MX or address.
  /^HFILTER_(?:HELO|HOSTNAME|FROMHOST)_/,
];

const names = (rule: string, patterns: RegExp[]): boolean =>
  rule.split('_').some((part) => SUBJECTS.has(part)) ||
  patterns.some((pattern) => pattern.test(rule));

export const checkedHereOfSpamassassin = (rule: string): boolean => names(rule, SPAMASSASSIN);

export const checkedHereOfRspamd = (symbol: string): boolean => names(symbol, RSPAMD);

// The client's name in the reverse DNS, as a spam engine is told it.

/**
 * Null where it has none. Where that could not be found out, what the client says in HELO: an
 * unanswered question must not make an engine count rules for clients without a name.
 */
export async function clientName(context: Context): Promise<string | null> {
  const answer = await context.fact(clientPtr);
  if (answer === null || answer.status === 'error') return context.envelope.helo;
  return usableNames(answer)[0] ?? null;
}
