/** How the condition of an alert rule is declared: what it reads, when it is met and over, and every text about it. */

import type { CheckResult } from '../../analysis/result.ts';
import type { Changes, Finding } from '../../monitors/findings.ts';
import type { AlertRow, TestRow } from '../../store/tables.generated.ts';

/**
 * One condition, in one file; `index.ts` lists them. `Facts` is what it reads from a result, `Value`
 * what an incident keeps of them (plain JSON, which the API shows). The id also has to be in the
 * CHECK constraints of `alerts.condition` and `alert_incidents.condition`.
 */
export interface Condition<Facts = unknown, Value = unknown> {
  id: AlertRow['condition'];
  /** The range of the rule's `threshold`, and its value where none is given; null where it has no meaning. */
  threshold: { min: number; max: number; default: number } | null;

  /** What a test says about its From domain; null for nothing. Without this, tests don't count. */
  factsOfTest?(test: ObservedTest): Facts | null;
  /** What a monitor run says about one of its targets; null for nothing. Without this, runs don't count. */
  factsOfRun?(run: ObservedRun, target: string): Facts | null;
  /** `threshold`: the rule's own or the default. */
  judge(facts: Facts, threshold: number): Verdict<Value>;
  /**
   * How facts that don't meet the condition end an incident; null where they don't. Without this, an
   * incident ends with the first "no".
   */
  endOf?(
    opened: OpenedIncident<Value>,
    facts: Facts,
    context: { answer: 'no' | 'unknown'; blocklistsInUse: ReadonlySet<string> },
  ): IncidentEnd | null;

  /** When it is met, after "Alerts when": "a test scores below 70". */
  alertsWhen(threshold: number): string;
  /** The same in the table of docs/monitoring.md, in Markdown. */
  documentation: string;
  /** What an incident says in a scheduled report, after its subject: "the score is too low". */
  shortText: string;
  /** The title has no full stop: it is a heading, and the subject of a mail. */
  openedText(incident: OpenedIncident<Value>): { title: string; lead: string };
  /** The title of the end. `test`: the one that ended it, where there is one. */
  endedTitle(
    incident: OpenedIncident<Value>,
    context: { threshold: number; test: TestSummary | null },
  ): string;
  /** What was measured. `endedBy`: the test that ended the incident, where it is over and there is one. */
  measurements(
    incident: OpenedIncident<Value>,
    context: { threshold: number; isOver: boolean; endedBy: TestSummary | null },
  ): [label: string, value: string][];
  /** Whether the fix of a test's check is a remedy. */
  isRemedy(check: CheckResult): boolean;
  /** What to do about what a monitor run found; `findings` are all of that run. */
  remediesOfRun?(incident: OpenedIncident<Value>, findings: Finding[]): Step[];
  /** A value that could be, for the sample that tries a rule's channels. */
  sampleValue(threshold: number): Value;
}

/** "unknown" opens and ends nothing. */
export type Verdict<Value = unknown> =
  | { answer: 'yes'; value: Value }
  | { answer: 'no' }
  | { answer: 'unknown' };

export const NO: Verdict<never> = { answer: 'no' };
export const UNKNOWN: Verdict<never> = { answer: 'unknown' };

/** Ends that a result brings about; rules bring about others. */
export type IncidentEnd = 'condition_ended' | 'no_longer_watched';

/** A completed test, its checks parsed; results of authentication are words of RFC 8601 §2.7. */
export interface ObservedTest extends Pick<TestRow, 'score' | 'spf' | 'dkim' | 'dmarc'> {
  checks: CheckResult[];
}

/** A monitor run, its JSON parsed. */
export interface ObservedRun {
  findings: Finding[];
  changes: Changes;
}

export interface OpenedIncident<Value = unknown> {
  subject: string;
  value: Value;
  /** A monitor run opened it, otherwise a test. */
  foundByRun: boolean;
}

/** What notifications say about a test. */
export type TestSummary = Pick<
  TestRow,
  'id' | 'checks' | 'subject' | 'score' | 'spf' | 'dkim' | 'dmarc'
>;

export interface Step {
  /** What is wrong, in a sentence; empty where the heading has said it. */
  title: string;
  /** What to do about it. */
  text: string;
  /** What to publish in the DNS, where it is known. */
  record: { type: string; name: string; value: string } | null;
}
