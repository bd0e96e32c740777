/** A report as people may see it who are not of the team: scores, checks and placement, nothing of the message. */

import type { CheckResult } from '../analysis/result.ts';
import { evidenceForStrangers, LEFT_OUT } from './evidence-for-strangers.ts';
import type { Report } from './report.ts';
import type { SharedReport } from './thread/job.ts';
import { unsealed } from './unsealed.ts';

/** Every form of a shared report is made of this: page, PDF and JSON. */
export const reportForStrangers = ({ conceal, ...sealed }: SharedReport): Report =>
  forStrangers(unsealed(sealed), conceal);

/**
 * Without the message, its envelope and the way it came; without what would let a stranger act for
 * its reader. What is in `conceal` (tokens, addresses; at least four characters each) is nowhere in
 * it, however it is written.
 */
export function forStrangers(report: Report, conceal: string[]): Report {
  const checks = report.checks.filter(({ id }) => !LEFT_OUT.has(id)).map(withoutTheMessage);
  const cut = { ...report, checks, message: null, envelope: null };
  const wanted = conceal.filter((text) => text.length >= SHORTEST);
  return wanted.length === 0 ? cut : concealed(cut, patternOf(wanted));
}

/** What is shorter stands in ordinary words, too. */
const SHORTEST = 4;

const ENGINES = new Set(['spamassassin', 'rspamd']);

function withoutTheMessage(check: CheckResult): CheckResult {
  const evidence = evidenceForStrangers(check.id, check.evidence);
  // Rules of an engine tell of whom they fired for.
  return ENGINES.has(check.id)
    ? concealed({ ...check, evidence }, ADDRESS)
    : { ...check, evidence };
}

/** Bounded, so that a long word costs nothing. */
const ADDRESS = /[^\s<>"',;:()[\]@]{1,64}@[a-z0-9\u0080-\uffff.-]{1,255}/gi;

/** Each as it is, with its @ as addresses inside of addresses have it, and in URLs. */
function patternOf(texts: string[]): RegExp {
  const parts = texts
    .toSorted((a, b) => b.length - a.length)
    .map((text) => text.split('@').map(escaped).join('(?:@|=|%40)'));
  return new RegExp(parts.join('|'), 'gi');
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** The same with `…` for each match in any text of it, names of fields included. */
function concealed<T>(value: T, pattern: RegExp): T {
  const change = (item: unknown): unknown => {
    if (typeof item === 'string') return item.replace(pattern, '…');
    if (Array.isArray(item)) return item.map(change);
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(
      Object.entries(item).map(([key, inner]) => [key.replace(pattern, '…'), change(inner)]),
    );
  };
  return change(value) as T;
}
