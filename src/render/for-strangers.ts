/** A report as people may see it who are not of the team: scores, checks and placement, nothing of the message. */

import type { CheckResult } from '../analysis/result.ts';
import { addressRule, type Rule } from './addresses-for-strangers.ts';
import { evidenceForStrangers, LEFT_OUT } from './evidence-for-strangers.ts';
import { namesOfFiles } from './files-for-strangers.ts';
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
  const change: Rule = (text, kind) => {
    const named = names(text);
    return rule(pattern ? named.replace(pattern, '…') : named, kind);
  };
  const checks = report.checks
    .filter(({ id }) => !LEFT_OUT.has(id))
    .map((check) => checkForStrangers(check, change));
  const { message: _, envelope: __, checks: ___, from_address, ...rest } = report;
  return {
    ...changed(rest, (text) => change(text, 'sentence')),
    from_address: from_address && pattern ? from_address.replace(pattern, '…') : from_address,
    checks,
    message: null,
    envelope: null,
  };
}

/** What is shorter stands in ordinary words, too. */
const SHORTEST = 4;

const ENGINES = new Set(['spamassassin', 'rspamd']);

function checkForStrangers(whole: CheckResult, change: Rule): CheckResult {
  // Rules of an engine tell of whom they fired for, in sentences.
  const isEngine = ENGINES.has(whole.id);
  const check = isEngine ? changed(whole, (text) => text.replace(ADDRESS, '…')) : whole;
  const { evidence, ...rest } = check;
  return {
    ...changed(rest, (text) => change(text, 'sentence')),
    evidence: changed(evidenceForStrangers(check.id, evidence), (text) =>
      change(text, isEngine ? 'sentence' : 'evidence'),
    ),
  };
}

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

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** With each text in it changed, names of fields included; references are ours, and stay. */
function changed<T>(value: T, change: (text: string) => string): T {
  const walk = (item: unknown): unknown => {
    if (typeof item === 'string') return change(item);
    if (Array.isArray(item)) return item.map(walk);
    if (!isObject(item as never)) return item;
    return Object.fromEntries(
      Object.entries(item as object).map(([key, inner]) =>
        key === 'reference' ? [key, inner] : [change(key), walk(inner)],
      ),
    );
  };
  return walk(value) as T;
}
