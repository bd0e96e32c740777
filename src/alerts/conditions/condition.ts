/** How an alert condition is declared: what it reads, when it is met and resolved, and all its texts. */

import type { CheckResult } from '../../analysis/result.ts';
import type { Changes, Finding } from '../../monitors/findings.ts';
import type { AlertRow, SeedMailboxRow, TestRow } from '../../store/tables.generated.ts';

/**
 * Each condition has its own file; `index.ts` lists them. `Facts` is what it reads from a result.
 * `Value` is what an incident stores of the facts: plain JSON, which the API shows. The id must also
 * be in the CHECK constraints of `alerts.condition` and `alert_incidents.condition`.
 */
export interface Condition<Facts = unknown, Value = unknown> {
  id: AlertRow['condition'];
  /** Range and default of the rule's `threshold`; null if the condition has none. */
  threshold: { min: number; max: number; default: number } | null;

  /** What a test says about its From domain, or null for nothing. If absent, tests are ignored. */
  factsOfTest?(test: ObservedTest): Facts | null;
  /** What a monitor run says about one target, or null for nothing. If absent, runs are ignored. */
  factsOfRun?(run: ObservedRun, target: string): Facts | null;
  /** What a look into a seed mailbox says about it. If absent, looks are ignored. */
  factsOfSeed?(seed: ObservedSeed): Facts | null;
  /** Whether a rule can be limited to a domain. Absent: it can. */
  isOfNoDomain?: true;
  /** `threshold`: the rule's threshold, or the default. */
  evaluate(facts: Facts, threshold: number): Verdict<Value>;
  /**
   * How facts that don't meet the condition resolve an incident, or null if they don't. If absent, the
   * first "no" resolves it.
   */
  resolutionOf?(
    opened: OpenedIncident<Value>,
    facts: Facts,
    context: { answer: 'no' | 'unknown'; blocklistsInUse: ReadonlySet<string> },
  ): IncidentEnd | null;

  /** The option in the form for rules, which follows "Alert when", and its explanation. */
  choice: { text: string; hint: string };
  /** Follows "Alerts when": "a test scores below 70". */
  alertsWhen(threshold: number): string;
  /** The same for the table in docs/monitoring.md, as Markdown. */
  documentation: string;
  /** Names the problem in a scheduled report, after the subject: "the score is too low". */
  shortText: string;
  /** The title has no period: it is a heading and an email subject. */
  openedText(incident: OpenedIncident<Value>): { title: string; lead: string };
  /** The title when the incident is resolved. `test` is the one that resolved it, if any. */
  resolvedTitle(
    incident: OpenedIncident<Value>,
    context: { threshold: number; test: TestSummary | null },
  ): string;
  /** What was measured. `endedBy` is the test that resolved the incident, if any. */
  measurements(
    incident: OpenedIncident<Value>,
    context: { threshold: number; isOver: boolean; endedBy: TestSummary | null },
  ): [label: string, value: string][];
  /** Whether the fix of this check of a test helps against the condition. */
  isRelevantFix(check: CheckResult): boolean;
  /** Fixes for what a monitor run found; `findings` are all findings of that run. */
  fixesForRun?(incident: OpenedIncident<Value>, findings: Finding[]): Step[];
  /** Fixes that depend on the incident only. They replace those of a test or a run. */
  fixes?(incident: OpenedIncident<Value>): Step[];
  /** What the subject is, in notifications; by default, a From domain or the target of a monitor. */
  subjectLabel?: string;
  /** The page with the details, for a subject that has neither a test nor a run. */
  page?: { label: string; path: string };
  /** The texts if the incident ends because its subject is no longer watched; there is a text for monitors. */
  unwatchedText?(incident: OpenedIncident<Value>): { title: string; lead: string };
  /** A plausible value, for the sample that tests a rule's channels. */
  sampleValue(threshold: number): Value;
}

/** "unknown" neither opens nor resolves an incident. */
export type Verdict<Value = unknown> =
  | { answer: 'yes'; value: Value }
  | { answer: 'no' }
  | { answer: 'unknown' };

export const NO: Verdict<never> = { answer: 'no' };
export const UNKNOWN: Verdict<never> = { answer: 'unknown' };

/** The resolutions that a result can cause; changes of a rule cause the others. */
export type IncidentEnd = 'condition_ended' | 'no_longer_watched';

/** A completed test with its checks parsed. Authentication results are those of RFC 8601 §2.7. */
export interface ObservedTest extends Pick<TestRow, 'score' | 'spf' | 'dkim' | 'dmarc'> {
  checks: CheckResult[];
}

/** A monitor run with its JSON parsed. */
export interface ObservedRun {
  /** The name of the monitor. */
  monitor: string;
  findings: Finding[];
  changes: Changes;
}

/** A seed mailbox after a look. `at` is the time of the look in milliseconds since the Unix epoch. */
export interface ObservedSeed {
  seed: SeedMailboxRow;
  at: number;
}

export interface OpenedIncident<Value = unknown> {
  subject: string;
  value: Value;
  /** Whether a monitor run opened it, rather than a test. */
  foundByRun: boolean;
}

/** What notifications need of a test. */
export type TestSummary = Pick<
  TestRow,
  'id' | 'checks' | 'subject' | 'score' | 'spf' | 'dkim' | 'dmarc'
>;

export interface Step {
  /** What is wrong, as a sentence; empty if the heading already says it. */
  title: string;
  /** What to do about it. */
  text: string;
  /** The DNS record to publish, if known. */
  record: { type: string; name: string; value: string } | null;
}
