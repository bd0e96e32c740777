/** What became of each message of a run, and what the reports say about it. */

import type { Envelope, Fix } from '../../analysis/check.ts';
import type { AnalysisResult, CheckResult } from '../../analysis/result.ts';
import { checksToFix } from '../../analysis/summary.ts';
import { EXIT } from '../command.ts';
import type { Comparison } from './baseline.ts';

export interface CheckedMessage {
  /** The path as reports show it; `-` is standard input. */
  name: string;
  /** Absolute; null for standard input. */
  path: string | null;
  result: AnalysisResult;
  envelope: Envelope;
  /** The message as the API shows a test. */
  test: object;
  /** Why the message fails, as sentences; empty if it passes or has no limits. */
  failures: string[];
  /** null without a baseline. */
  comparison: Comparison | null;
}

/** A message without a result. */
export interface UncheckedMessage {
  name: string;
  path: string | null;
  /** A sentence without a final period. */
  problem: string;
  /** Whether the input is wrong, and not the machine or the network. */
  isUsage: boolean;
}

export type Outcome = CheckedMessage | UncheckedMessage;

export const isChecked = (outcome: Outcome): outcome is CheckedMessage => 'result' in outcome;

export interface Totals {
  messages: number;
  /** Without a limit and a baseline, a message can neither pass nor fail. */
  limited: boolean;
  failed: number;
  unchecked: number;
}

/** The greatest code of all messages wins: what could not be checked is more important than a bad result. */
export function exitCodeOf(outcome: Outcome): number {
  if (!isChecked(outcome)) return outcome.isUsage ? EXIT.usage : EXIT.externalFailure;
  if (outcome.result.temporary) return EXIT.externalFailure;
  return outcome.failures.length > 0 ? EXIT.negative : EXIT.success;
}

export const titleOf = (name: string): string => (name === '-' ? 'Standard input' : name);

export interface ReportedFinding {
  check: CheckResult;
  isRequired: boolean;
  /** Known from the baseline and not worse since. */
  isKnown: boolean;
  /** "Publish a DMARC record. TXT _dmarc.example.com v=DMARC1; p=none"; '' without a fix. */
  fix: string;
}

/** What fails or warns, greatest gain first. */
export function findingsOf({ result, comparison }: CheckedMessage): ReportedFinding[] {
  return checksToFix(result.checks).map((check) => ({
    check,
    isRequired: check.status === 'fail',
    isKnown: comparison !== null && !comparison.worse.some(({ id }) => id === check.id),
    fix: check.fix ? fixText(check.fix) : '',
  }));
}

function fixText({ text, record }: Fix): string {
  return record ? `${text} ${record.type} ${record.name} ${record.value}` : text;
}

/** The checks that could not be completed. */
export const unknownChecks = ({ result }: CheckedMessage): CheckResult[] =>
  result.checks.filter(({ status }) => status === 'error');

export const scoreText = ({ result: { score, grade } }: CheckedMessage): string =>
  score === null ? 'no score' : `${score} ${grade}`;
