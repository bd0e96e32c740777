/** The picture of a domain: what each source says about it, what is wrong, since when, and what to do first. */

/** In the order of the page. */
export const SOURCES = ['dns', 'tests', 'placement', 'feedback', 'receivers'] as const;
export type SourceId = (typeof SOURCES)[number];

/** `unknown` is never fine. */
export const STATES = ['fail', 'warn', 'pass', 'unknown'] as const;
export type State = (typeof STATES)[number];

export const SOURCE_STATES = [...STATES, 'not_set_up'] as const;

/** What statements of different sources can agree or disagree about. */
export const TOPICS = [
  'spf',
  'dkim',
  // Whether mail passes DMARC.
  'dmarc',
  'dmarc_policy',
  // On the way to receivers, and on the way to the domain.
  'tls',
  'incoming_tls',
  'reverse_dns',
  'mail_servers',
  'blocklists',
  'rejections',
  'reputation',
  'spam_reports',
  'placement',
  'unsubscribe',
  'content',
  'bimi',
  'verification',
] as const;
export type Topic = (typeof TOPICS)[number];

/** What one source says about one topic. */
export interface Statement {
  source: SourceId;
  /** Who says it, such as `Google Postmaster Tools` or `DMARC reports`. */
  origin: string;
  state: State;
  /** One sentence. */
  text: string;
  /** When it was measured: a time in ISO 8601, or a day such as `2026-11-21`. */
  at: string | null;
  /** Since when it has been so, in the same form; null if that is not known. */
  since: string | null;
  /** The period, reporters and messages behind it; null if the text says it. */
  basis: string | null;
  /** The page with the details, from the root, with a fragment if it is on the page of the domain. */
  path: string;
}

/** What to do. */
export interface FirstStep {
  text: string;
  /** The DNS record to publish, if that is the step. */
  record: { type: string; name: string; value: string } | null;
  path: string;
}

export interface Problem {
  topic: Topic;
  state: 'fail' | 'warn';
  /** What is wrong, as a sentence of at most 90 characters that names no date. */
  title: string;
  /** Since when, in the form of statements; null if that is not known. */
  since: string | null;
  /** What it costs: the problem with the highest number is in the headline. */
  cost: number;
  first_step: FirstStep;
  /** What all sources say about it, those that see the problem first. */
  statements: Statement[];
  /** Whether another source says that all is well. */
  is_disputed: boolean;
}

/** One source at a glance. */
export interface SourceLine {
  source: SourceId;
  name: string;
  /** `not_set_up`: the text says how to set it up. */
  state: (typeof SOURCE_STATES)[number];
  text: string;
  /** When it was last measured; null if never. */
  at: string | null;
  basis: string | null;
  path: string;
}

export interface Picture {
  domain: { id: string; name: string };
  state: State;
  /** One sentence of at most 90 characters. */
  headline: string;
  since: string | null;
  first_step: FirstStep | null;
  /** What costs most first. */
  problems: Problem[];
  /** One for each source, in the order of `SOURCES`. */
  sources: SourceLine[];
}
