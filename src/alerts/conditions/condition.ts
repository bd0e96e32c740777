/** How an alert condition is declared: what it reads, when it is met and resolved, and all its texts. */

import type { CheckResult } from '../../analysis/result.ts';
import type { App } from '../../app.ts';
import type { Config } from '../../config/config.ts';
import type { ObservationKind, Observations } from '../../events/observations.ts';
import type { Finding } from '../../monitors/findings.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { TestRow } from '../../store/tables.generated.ts';
import type { History } from './history.ts';

/**
 * Each condition has its own file, and a line in `index.ts` with its id. `Kind` is what it observes. `Value` is what an
 * incident stores of an observation: plain JSON, which the API shows.
 */
export interface Condition<Kind extends ObservationKind = ObservationKind, Value = unknown> {
  observes: Kind[];
  /** The rule's `threshold`; null if the condition has none. */
  threshold: Threshold | null;
  /** Whether a rule can be limited to a domain. Absent: it can. */
  isOfNoDomain?: true;
  /** Whether an observation could meet the condition, if that is known without the work of `evaluate`. */
  canMeet?(observation: ObservationOf<Kind>): boolean;
  /** `threshold`: the rule's threshold, or the default. */
  evaluate(observation: ObservationOf<Kind>, threshold: number): Verdict<Value>;
  /** Adds what only the database knows to the value of an incident that is about to be opened. */
  completeValue?(tx: Tx, app: App, value: Value): Promise<Value>;
  /** Whether a new value of an open incident warrants a notification. If so, the incident gets it, and a reminder is sent. */
  isSignificantChange?(before: Value, now: Value): boolean;
  /**
   * How an observation that doesn't meet the condition resolves an incident, or null if it doesn't. If absent, the
   * first "no" resolves it.
   */
  resolutionOf?(
    opened: OpenedIncident<Value>,
    observation: ObservationOf<Kind>,
    context: { answer: 'no' | 'unknown'; blocklistsInUse: ReadonlySet<string> },
  ): IncidentEnd | null;
  /** The value of an incident whose subject became part of another: it follows, or ends with that as the reason. */
  movedValue?(value: Value, to: ObservationOf<Kind>, isFollowing: boolean): Value;
  /** How often it was met lately. If absent, only the incidents of an existing rule show that. */
  history?: History;
  /** Which of the subjects of open incidents still exist. Absent: a later observation resolves each. */
  findWatched?(db: Db | Tx, config: Config, subjects: string[]): Promise<Set<string>>;

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
  /** What people call the subject; by default, as it is stored. */
  subjectName?(opened: OpenedIncident<Value>): string;
  /** The name of the domain, if the subject does not tell it. */
  domainName?(opened: OpenedIncident<Value>): string;
  /** The page with the details, for a subject that has neither a test nor a run. */
  page?(opened: OpenedIncident<Value>): { label: string; path: string };
  /** The texts if the incident ends because its subject is no longer watched; there is a text for monitors. */
  unwatchedText?(incident: OpenedIncident<Value>): { title: string; lead: string };
  /** A plausible value, for the sample that tests a rule's channels. */
  sampleValue(threshold: number): Value;
}

/** Range and default of a threshold, and what it means. */
export interface Threshold {
  min: number;
  max: number;
  default: number;
  text: string;
  unit: string;
  /** If it has few values: what each means. */
  options?: [value: number, text: string][];
}

/** "unknown" neither opens nor resolves an incident. */
export type Verdict<Value = unknown> =
  | { answer: 'yes'; value: Value }
  | { answer: 'no' }
  | { answer: 'unknown' };

export const NO: Verdict<never> = { answer: 'no' };
export const UNKNOWN: Verdict<never> = { answer: 'unknown' };

/** The observations of these kinds. */
export type ObservationOf<Kind extends ObservationKind> = Observations[Kind];

/** The resolutions that an observation can cause; changes of a rule cause the others. */
export type IncidentEnd = 'condition_ended' | 'no_longer_watched';

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
