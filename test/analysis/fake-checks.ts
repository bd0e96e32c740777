/** Small checks for tests of the analysis, and an analysis of the good message with them. */

import { type AnalyzeOptions, analyze } from '../../src/analysis/analyze.ts';
import {
  type AnalysisInput,
  type Check,
  type CheckStatus,
  type Finding,
  rfc,
} from '../../src/analysis/check.ts';
import type { AnalysisResult, CheckResult } from '../../src/analysis/result.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { ENVELOPE, RECEIVED_AT } from '../helpers/analysis.ts';
import { goodMessage } from '../helpers/good-message.ts';

export const INPUT: AnalysisInput = {
  raw: Buffer.from(goodMessage().replaceAll('\n', '\r\n')),
  envelope: ENVELOPE,
  receivedAt: RECEIVED_AT,
  kind: 'auto',
};

/** A check of 10 points with this status, or with this `run`. */
export function fakeCheck(
  id: string,
  found: CheckStatus | Check['run'],
  more: Partial<Check> = {},
): Check {
  const finding = (status: CheckStatus): Finding => ({
    status,
    title: `${id} says ${status}.`,
    detail: `Because of ${id}.`,
    ...(status === 'fail' || status === 'warn' ? { fix: { text: `Fix ${id}.` } } : {}),
  });
  return {
    id,
    category: 'authentication',
    points: 10,
    label: id.toUpperCase(),
    reference: rfc(5322),
    publicEvidence: {},
    run: typeof found === 'string' ? () => finding(found) : found,
    ...more,
  };
}

export const never = (): Promise<never> => new Promise(() => {});

export interface FakeResult extends AnalysisResult {
  /** The result of one check, by its id. */
  of(id: string): CheckResult;
}

/** Adds passing SPF, DKIM and DMARC checks unless `checks` has them, so that there is a score. */
export async function analyzeBy(
  checks: Check[],
  options: Partial<AnalyzeOptions> = {},
): Promise<FakeResult> {
  const known = ['spf', 'dkim', 'dmarc']
    .filter((id) => !checks.some((check) => check.id === id))
    .map((id) => fakeCheck(id, 'pass'));
  const all = [...known, ...checks];
  const resolver = zoneResolver({ 'example.com': {} });
  const result = await analyze(INPUT, { resolver, checks: all, ...options });
  const of = (id: string) => result.checks.find((check) => check.id === id)!;
  return { ...result, of };
}
