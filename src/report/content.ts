/** Sentences and figures that all variants of the report share. */

import type { Category, CheckStatus } from '../analysis/check.ts';
import {
  type Cap,
  type CategoryScore,
  type CheckResult,
  failedDependencies,
} from '../analysis/result.ts';
import { addressDomain } from '../lib/domain-names.ts';
import { oneLine } from './blocks.ts';
import {
  booleanIn,
  type Evidence,
  evidenceOf,
  numberIn,
  objectIn,
  objectsIn,
  type ReportedResult,
  type SeedPlacement,
  textIn,
  textsIn,
} from './report.ts';

/** Maximum number of findings shown in full. */
export const MAX_FULL_FINDINGS = 5;

/** The headline of a result. */
export function verdictOf(summary: string): string {
  return oneLine(summary, 160);
}

/** "marketing mail (likely)". */
export function kindInWords({ judged_kind: { kind, confidence } }: ReportedResult): string {
  return `${kind} mail (${confidence})`;
}

export function capSentence({ reason, limit }: Cap): string {
  return `${reason} The score is capped at ${limit} until you fix this.`;
}

/** Names the checks that could not be completed; null if there are none. */
export function missingResultsSentence({ checks, coverage }: ReportedResult): string | null {
  const incomplete = checks.filter(({ status, points }) => status === 'error' && points > 0);
  if (incomplete.length === 0) return null;
  const labels = incomplete.map(({ label }) => label).join(', ');
  return `${incomplete.length} of ${checks.length} checks could not be completed (coverage ${coveragePercent(coverage)}%): ${labels}.`;
}

/** In whole percent. Rounded down, so that 100% means that nothing is missing. Coverage has three decimals. */
export const coveragePercent = (coverage: number): number =>
  Math.floor(Math.round(coverage * 1000) / 10);

/** Whether the check was skipped because another one failed, not because it does not apply. */
export function dependsOnFailedCheck(check: CheckResult): boolean {
  return failedDependencies(check).length > 0;
}

/** Points and gains to one decimal: `28.5`, `12`. */
export function formatPoints(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** A gain as a headline shows it, in whole points: `+24`. */
export function formatGain(gain: number): string {
  return gain < 0.5 ? '+<1' : `+${Math.round(gain)}`;
}

/** Whether a finding adds points only once the cap on the score is lifted. */
export function isLockedByCap(
  { gain, points }: Pick<CheckResult, 'gain' | 'points'>,
  { cap, score }: Pick<ReportedResult, 'cap' | 'score'>,
): boolean {
  return cap !== null && score !== null && gain === 0 && points > 0;
}

/** Points that a cap holds back. */
export const UNLOCKS_LATER = 'unlocks later';

/** The word for a status, always shown with its icon and color. */
export const STATUS_WORDS: Record<CheckStatus, string> = {
  fail: 'Failed',
  warn: 'Warning',
  pass: 'Passed',
  info: 'Information',
  error: 'Unknown',
  skipped: 'Skipped',
};

/** What the score of a template does not cover. */
export const TEMPLATE_LIMITATIONS =
  'The score covers only the template, and every point has the same weight. Sender, authentication and reputation also affect delivery. Send the template once to check them.';

/** What the score does not cover. */
export const SCORE_LIMITATIONS =
  "The score covers what one message and your DNS show. Mailbox providers also use your sender reputation and how their users treat your mail, which no test can see from outside. A good score helps you avoid rejections for technical reasons. It doesn't guarantee delivery to the inbox.";

/** `spam_filters` → `Spam filters`. */
export function categoryName(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The state of a category with this share of its points. */
export const meterState = (percent: number): 'pass' | 'warn' | 'fail' =>
  percent >= 90 ? 'pass' : percent >= 55 ? 'warn' : 'fail';

// How the score is calculated, in figures that add up as shown.

export interface LedgerRow {
  name: Category;
  earned: number;
  points: number;
  weight: number;
  /** 0–1; null if no check of the category has a result. */
  share: number | null;
  /** Points of the score, to one decimal; null as for `share`. */
  contribution: number | null;
}

export interface Ledger {
  rows: LedgerRow[];
  /** Sum of the weights of the categories with results. */
  weight: number;
  /** Sum of the contributions, before the cap; null without results. */
  sum: number | null;
}

/**
 * What each category adds to the score, rounded so that the displayed figures add up to the displayed sum.
 * The sum is rounded down like the score, so it never exceeds the earned points.
 */
export function ledgerOf({ categories }: Pick<ReportedResult, 'categories'>): Ledger {
  const weight = categories.reduce(
    (sum, category) => sum + (category.points > 0 ? category.weight : 0),
    0,
  );
  const exact = categories.map((category) => exactContribution(category, weight));
  const total = exact.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const tenths = roundTogether(
    exact.map((value) => value ?? 0),
    total,
  );
  const rows = categories.map((category, index) => ({
    name: category.name,
    earned: category.earned,
    points: category.points,
    weight: category.weight,
    share: category.points > 0 ? category.earned / category.points : null,
    contribution: exact[index] === null ? null : tenths[index]! / 10,
  }));
  return { rows, weight, sum: weight === 0 ? null : floorTenths(total) / 10 };
}

function exactContribution(
  { earned, points, weight }: CategoryScore,
  totalWeight: number,
): number | null {
  return points > 0 ? (100 * weight * earned) / points / totalWeight : null;
}

// Like `wholeScore`, tolerates floating-point error.
const floorTenths = (value: number): number => Math.floor(value * 10 + 1e-8);

/** Rounds to tenths that add up to the rounded total (largest remainder method). */
export function roundTogether(values: number[], total: number): number[] {
  const tenths = values.map(floorTenths);
  let remaining = floorTenths(total) - tenths.reduce((sum, value) => sum + value, 0);
  const byRemainder = values
    .map((value, index) => ({ index, remainder: value * 10 - tenths[index]! }))
    .sort((a, b) => b.remainder - a.remainder);
  for (const { index } of byRemainder) {
    if (remaining <= 0) break;
    tenths[index]! += 1;
    remaining -= 1;
  }
  return tenths;
}

// SPF, each DKIM signature and DMARC, with their alignment to the From domain.

/** SPF or one DKIM signature, with the domain that it authenticates. */
export interface Identifier {
  mechanism: 'SPF' | 'DKIM';
  /** A result of RFC 8601; null if not checked. */
  result: string | null;
  domain: string | null;
  /** Whether the domain aligns with the From domain; null if unknown. */
  aligned: boolean | null;
  /** More details, a few words each. */
  notes: string[];
}

interface Authentication {
  fromDomain: string | null;
  identifiers: Identifier[];
  dmarc: {
    result: string | null;
    policy: string | null;
    record: string | null;
    /** The DNS name of the record. */
    recordName: string | null;
  };
  /** The number of DKIM signatures that were not checked. */
  uncheckedSignatures: number;
}

export function authenticationOf({
  checks,
  auth_results,
  from_address,
}: Pick<ReportedResult, 'checks' | 'auth_results' | 'from_address'>): Authentication {
  const dmarc = evidenceOf(checks, 'dmarc');
  const dkim = evidenceOf(checks, 'dkim');
  const fromDomain = textIn(dmarc, 'from_domain') ?? addressDomain(from_address ?? '');
  const recordDomain = textIn(dmarc, 'record_domain');
  const alignmentCheck = checks.find(
    ({ id, status }) => id === 'dkim_alignment' && status !== 'error',
  );
  const signatures = objectsIn(dkim, 'signatures').map((signature) =>
    signatureOf(signature, fromDomain, alignmentCheck?.evidence ?? {}, dmarc),
  );
  return {
    fromDomain,
    identifiers: [
      spfOf(evidenceOf(checks, 'spf'), auth_results.spf, dmarc),
      ...(signatures.length > 0 ? signatures : [missingSignature(auth_results.dkim)]),
    ],
    dmarc: {
      result: auth_results.dmarc,
      policy: textIn(dmarc, 'policy'),
      record: textIn(dmarc, 'record'),
      recordName: recordDomain && `_dmarc.${recordDomain}`,
    },
    uncheckedSignatures: numberIn(dkim, 'signatures_not_looked_at') ?? 0,
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
      ...(ip ? [`from ${ip}`] : []),
      ...(identity ? [identity === 'helo' ? 'HELO name' : 'envelope sender'] : []),
      ...(reason && result !== 'pass' ? [reason] : []),
    ],
  };
}

const missingSignature = (result: string | null): Identifier => ({
  mechanism: 'DKIM',
  result,
  domain: null,
  aligned: null,
  notes: result === 'none' ? ['no DKIM signature'] : [],
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

/** `dkim_alignment` compares the valid signatures, `dmarc` only the best one. */
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

// Placement in the seed mailboxes: a row for each provider, and the inbox rate.

/** In the order of the columns; the inbox and its tabs first. */
const PLACES: Record<string, string> = {
  inbox: 'Inbox',
  promotions: 'Promotions',
  social: 'Social',
  updates: 'Updates',
  forums: 'Forums',
  spam: 'Spam',
  missing: 'Missing',
  pending: 'Pending',
  unknown: 'Unknown',
};
/** The name of a folder or tab for people. */
export const placeName = (place: string): string =>
  Object.hasOwn(PLACES, place) ? PLACES[place]! : place;

/** No result, so excluded from the inbox rate. */
const WITHOUT_RESULT = ['pending', 'unknown'];
const IN_INBOX = ['inbox', 'promotions', 'social', 'updates', 'forums'];

export interface PlacementRow {
  provider: string;
  seeds: number;
  /** One count for each column. */
  counts: number[];
  /** Seeds with a result, and those of them that have the message in the inbox or an inbox tab. */
  settled: number;
  inbox: number;
  /** The first and the last arrival, in seconds after the test address received it; null if none arrived. */
  seconds: [number, number] | null;
}

interface PlacementTable {
  columns: { place: string; name: string }[];
  rows: PlacementRow[];
  /** Seeds that received the message in the inbox or an inbox tab. */
  inbox: number;
  /** Seeds with a result. */
  settled: number;
}

/** Whether any seed mailbox has received the message. If none has, it was probably not sent to them. */
export const wasFound = (seeds: SeedPlacement[]): boolean =>
  seeds.some(
    ({ placement, seconds }) =>
      // It arrived even if it is not known where, or if it has disappeared.
      seconds !== null || placement === 'spam' || IN_INBOX.includes(placement),
  );

export function placementTable(seeds: SeedPlacement[]): PlacementTable {
  const placements = new Set(seeds.map(({ placement }) => placement));
  const knownPlaces = Object.keys(PLACES).filter((place) => placements.has(place));
  const places = [
    ...knownPlaces,
    ...[...placements].filter((place) => !Object.hasOwn(PLACES, place)),
  ];
  const providers = [...new Set(seeds.map(({ provider }) => provider))];
  const settled = seeds.filter(({ placement }) => !WITHOUT_RESULT.includes(placement));
  return {
    columns: places.map((place) => ({
      place,
      name: placeName(place),
    })),
    rows: providers.map((provider) => rowOf(provider, seeds, places)),
    inbox: settled.filter(({ placement }) => IN_INBOX.includes(placement)).length,
    settled: settled.length,
  };
}

function rowOf(provider: string, seeds: SeedPlacement[], places: string[]): PlacementRow {
  const providerSeeds = seeds.filter((seed) => seed.provider === provider);
  const times = providerSeeds.map(({ seconds }) => seconds).filter((seconds) => seconds !== null);
  const settled = providerSeeds.filter(({ placement }) => !WITHOUT_RESULT.includes(placement));
  return {
    provider,
    seeds: providerSeeds.length,
    settled: settled.length,
    inbox: settled.filter(({ placement }) => IN_INBOX.includes(placement)).length,
    counts: places.map(
      (place) => providerSeeds.filter(({ placement }) => placement === place).length,
    ),
    seconds: times.length === 0 ? null : [Math.min(...times), Math.max(...times)],
  };
}
