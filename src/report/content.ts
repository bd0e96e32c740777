/** The sentences and figures that every form of the report has in common. */

import type { Category, CheckStatus } from '../analysis/check.ts';
import {
  type Cap,
  type CategoryScore,
  type CheckResult,
  failedDependencies,
} from '../analysis/result.ts';
import { addressDomain } from '../lib/domain-names.ts';
import {
  booleanIn,
  type Evidence,
  evidenceOf,
  numberIn,
  objectIn,
  objectsIn,
  type Reported,
  type SeedPlacement,
  textIn,
  textsIn,
} from './report.ts';

/** How many findings are told in full; the rest take a line each. */
export const FIRST_FINDINGS = 5;

/** The verdict of a summary alone: what to do first and what was not checked have places of their own. */
export function verdictOf(summary: string): string {
  return summary.replace(/ First: .*$/s, '');
}

export function capSentence({ reason, limit }: Cap): string {
  return `${reason} Until this is fixed no score above ${limit} is possible.`;
}

/** Which checks could not be made; null where all could that apply. */
export function missedSentence({ checks, coverage }: Reported): string | null {
  const missed = checks.filter(({ status, points }) => status === 'error' && points > 0);
  if (missed.length === 0) return null;
  const labels = missed.map(({ label }) => label).join(', ');
  return `${missed.length} of ${checks.length} checks could not be made (coverage ${Math.round(coverage * 100)} %): ${labels}.`;
}

/** Skipped because another check failed, not because it does not apply. */
export function followsFromAnother(check: CheckResult): boolean {
  return failedDependencies(check).length > 0;
}

/** 28.5, 12: points and gains as people read them, to a tenth. */
export function formatPoints(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The word for a status, always shown beside its icon and colour. */
export const STATUS_WORDS: Record<CheckStatus, string> = {
  fail: 'Required',
  warn: 'Recommended',
  pass: 'Passed',
  info: 'For your information',
  error: 'Unknown',
  skipped: 'Does not apply',
};

/** What no score can tell. */
export const BEYOND_THE_SCORE =
  'The score tells what can be seen in one message and in the DNS. Receivers also weigh your reputation with them and how their users treat your mail, which nobody can see from outside: a good score keeps you from being refused for a fault of your own, and promises nothing more.';

/** `spam_filters` → `Spam filters`. */
export function categoryName(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// How the score comes about, in figures that add up as they are shown.

export interface LedgerRow {
  name: Category;
  earned: number;
  points: number;
  weight: number;
  /** 0–1; null where no check of the category ran. */
  share: number | null;
  /** Points of the score, in tenths; null as for `share`. */
  adds: number | null;
}

export interface Ledger {
  rows: LedgerRow[];
  /** Sum of the weights of the categories that ran. */
  weight: number;
  /** Sum of `adds`, before the cap; null where nothing ran. */
  sum: number | null;
}

/**
 * What each category adds, rounded so that the rounded figures have the rounded sum. Everything is
 * rounded down, as the score is: what is shown never claims more than was earned.
 */
export function ledgerOf({ categories }: Pick<Reported, 'categories'>): Ledger {
  const weight = categories.reduce((sum, each) => sum + (each.points > 0 ? each.weight : 0), 0);
  const exact = categories.map((each) => addsExactly(each, weight));
  const total = exact.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const tenths = roundTogether(
    exact.map((value) => value ?? 0),
    total,
  );
  const rows = categories.map((each, index) => ({
    name: each.name,
    earned: each.earned,
    points: each.points,
    weight: each.weight,
    share: each.points > 0 ? each.earned / each.points : null,
    adds: exact[index] === null ? null : tenths[index]! / 10,
  }));
  return { rows, weight, sum: weight === 0 ? null : floorTenths(total) / 10 };
}

function addsExactly({ earned, points, weight }: CategoryScore, all: number): number | null {
  return points > 0 ? (100 * weight * earned) / points / all : null;
}

// As `wholeScore` does: a sum of fractions may fall short of what it is by less than this.
const floorTenths = (value: number): number => Math.floor(value * 10 + 1e-8);

/** Tenths that sum to the total's: those cut the most get back what is left. */
function roundTogether(values: number[], total: number): number[] {
  const tenths = values.map(floorTenths);
  let left = floorTenths(total) - tenths.reduce((sum, value) => sum + value, 0);
  const byLoss = values
    .map((value, index) => ({ index, loss: value * 10 - tenths[index]! }))
    .sort((a, b) => b.loss - a.loss);
  for (const { index } of byLoss) {
    if (left <= 0) break;
    tenths[index]! += 1;
    left -= 1;
  }
  return tenths;
}

// SPF, each DKIM signature and DMARC side by side, with what of them is aligned with From.

/** SPF, or one signature: a domain that was authenticated, or was not. */
export interface Identifier {
  mechanism: 'SPF' | 'DKIM';
  /** In the words of RFC 8601; null where it was not asked. */
  result: string | null;
  domain: string | null;
  /** Whether the domain belongs to that of From; null where that is not known or nothing to compare. */
  aligned: boolean | null;
  /** What else is known of it, a few words each. */
  notes: string[];
}

interface Authentication {
  fromDomain: string | null;
  identifiers: Identifier[];
  dmarc: { result: string | null; policy: string | null; record: string | null; at: string | null };
  /** DKIM signatures that were not looked at. */
  ignored: number;
}

export function authenticationOf({
  checks,
  auth_results,
  from_address,
}: Pick<Reported, 'checks' | 'auth_results' | 'from_address'>): Authentication {
  const dmarc = evidenceOf(checks, 'dmarc');
  const dkim = evidenceOf(checks, 'dkim');
  const fromDomain = textIn(dmarc, 'from_domain') ?? addressDomain(from_address ?? '');
  const recordDomain = textIn(dmarc, 'record_domain');
  const compared = checks.find(({ id, status }) => id === 'dkim_alignment' && status !== 'error');
  const signatures = objectsIn(dkim, 'signatures').map((signature) =>
    signatureOf(signature, fromDomain, compared?.evidence ?? {}, dmarc),
  );
  return {
    fromDomain,
    identifiers: [
      spfOf(evidenceOf(checks, 'spf'), auth_results.spf, dmarc),
      ...(signatures.length > 0 ? signatures : [unsigned(auth_results.dkim)]),
    ],
    dmarc: {
      result: auth_results.dmarc,
      policy: textIn(dmarc, 'policy'),
      record: textIn(dmarc, 'record'),
      at: recordDomain && `_dmarc.${recordDomain}`,
    },
    ignored: numberIn(dkim, 'signatures_not_looked_at') ?? 0,
  };
}

function spfOf(spf: Evidence, result: string | null, dmarc: Evidence): Identifier {
  const ip = textIn(spf, 'client_ip');
  const identity = textIn(spf, 'identity');
  const reason = textIn(spf, 'reason');
  return {
    mechanism: 'SPF',
    result,
    domain: textIn(spf, 'domain'),
    aligned: booleanIn(objectIn(dmarc, 'spf'), 'aligned'),
    notes: [
      ...(ip ? [`sent by ${ip}`] : []),
      ...(identity ? [identity === 'helo' ? 'by the name in HELO' : 'by the envelope sender'] : []),
      ...(reason && result !== 'pass' ? [reason] : []),
    ],
  };
}

const unsigned = (result: string | null): Identifier => ({
  mechanism: 'DKIM',
  result,
  domain: null,
  aligned: null,
  notes: result === 'none' ? ['the message is not signed'] : [],
});

function signatureOf(
  signature: Evidence,
  fromDomain: string | null,
  alignment: Evidence,
  dmarc: Evidence,
): Identifier {
  const domain = textIn(signature, 'domain');
  const result = textIn(signature, 'result');
  const selector = textIn(signature, 'selector');
  const bits = numberIn(signature, 'bits');
  const reason = textIn(signature, 'reason');
  return {
    mechanism: 'DKIM',
    result,
    domain,
    aligned: domain === null ? null : isAligned(domain, result, fromDomain, alignment, dmarc),
    notes: [
      ...(selector ? [`selector ${selector}`] : []),
      ...[textIn(signature, 'algorithm')].filter((text) => text !== null),
      ...(bits === null ? [] : [`${bits} bits`]),
      ...(reason && result !== 'pass' ? [reason] : []),
    ],
  };
}

/** `dkim_alignment` compares the valid signatures, `dmarc` the one that helps most. */
function isAligned(
  domain: string,
  result: string | null,
  fromDomain: string | null,
  alignment: Evidence,
  dmarc: Evidence,
): boolean | null {
  if (domain === fromDomain || textsIn(alignment, 'aligned').includes(domain)) return true;
  const best = objectIn(dmarc, 'dkim');
  if (textIn(best, 'domain') === domain) return booleanIn(best, 'aligned');
  return result === 'pass' && 'aligned' in alignment ? false : null;
}

// Where the seed mailboxes found the message: a row for each provider, and the rate.

/** In the order of the columns; the inbox and its tabs first. */
const PLACES: Record<string, string> = {
  inbox: 'Inbox',
  promotions: 'Promotions',
  social: 'Social',
  updates: 'Updates',
  forums: 'Forums',
  spam: 'Spam',
  missing: 'Missing',
  pending: 'Waiting',
  unknown: 'Unknown',
};
/** Neither an answer: they count in no rate. */
const UNSETTLED = ['pending', 'unknown'];
const IN_THE_INBOX = ['inbox', 'promotions', 'social', 'updates', 'forums'];

export interface PlacementRow {
  provider: string;
  seeds: number;
  /** As many as there are columns. */
  counts: number[];
  /** The first and the last arrival after the test address had it; null where none arrived. */
  seconds: [number, number] | null;
}

interface PlacementTable {
  columns: { place: string; name: string }[];
  rows: PlacementRow[];
  /** Seeds found in the inbox or one of its tabs, of those whose place is known. */
  inbox: number;
  settled: number;
}

export function placementTable(seeds: SeedPlacement[]): PlacementTable {
  const present = new Set(seeds.map(({ placement }) => placement));
  const known = Object.keys(PLACES).filter((place) => present.has(place));
  const places = [...known, ...[...present].filter((place) => !Object.hasOwn(PLACES, place))];
  const providers = [...new Set(seeds.map(({ provider }) => provider))];
  const settled = seeds.filter(({ placement }) => !UNSETTLED.includes(placement));
  return {
    columns: places.map((place) => ({
      place,
      name: Object.hasOwn(PLACES, place) ? PLACES[place]! : place,
    })),
    rows: providers.map((provider) => rowOf(provider, seeds, places)),
    inbox: settled.filter(({ placement }) => IN_THE_INBOX.includes(placement)).length,
    settled: settled.length,
  };
}

function rowOf(provider: string, seeds: SeedPlacement[], places: string[]): PlacementRow {
  const own = seeds.filter((seed) => seed.provider === provider);
  const times = own.map(({ seconds }) => seconds).filter((seconds) => seconds !== null);
  return {
    provider,
    seeds: own.length,
    counts: places.map((place) => own.filter(({ placement }) => placement === place).length),
    seconds: times.length === 0 ? null : [Math.min(...times), Math.max(...times)],
  };
}
