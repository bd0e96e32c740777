/** What Google publishes about the mail of a domain to Gmail on a day. */

import { rateInWords } from '../lib/format/numbers.ts';
import type { Figure, Limits } from './figure.ts';

interface GmailFigure extends Figure {
  /** Of the table `receiver_days`, and in queries to Google. */
  column: string;
  /** Those of a group are asked for in one query. */
  metric: { group: string; standardMetric: string; filter?: string };
}

export const SPAM_RATE = {
  name: 'spam_rate',
  column: 'spam_rate',
  unit: 'share',
  title: 'Spam rate',
  description: 'The share of messages in inboxes that users reported as spam',
  example: 0.0008,
  metric: { group: 'spam', standardMetric: 'SPAM_RATE' },
} as const satisfies GmailFigure;

/** Google’s own limits. Yahoo sets the upper one too, for the complaints that it counts. */
export const SPAM_LIMITS = { better: 'lower', warn: 0.001, fail: 0.003 } as const satisfies Limits;
/** As texts say them: `0.1%` and `0.3%`. */
export const SPAM_GOAL_TEXT = rateInWords(SPAM_LIMITS.warn);
export const SPAM_LIMIT_TEXT = rateInWords(SPAM_LIMITS.fail);

/** Which mail is counted, as Google names it: with the domain in From, or with a DKIM signature of it. */
export type LoopAggregation = 'FROM_HEADER' | 'ALL_DKIM';

/** One spam rate of the identifier in Feedback-ID headers. */
export interface FeedbackLoop {
  id: string;
  aggregation_key_type: LoopAggregation;
  /** From 0 to 1; null if none was published. */
  [SPAM_RATE.name]: number | null;
}

/** A share that should be high. What mail did and does, in words. */
interface PassRate extends GmailFigure {
  word: string;
  past: string;
  present: string;
}

const authentication = <Name extends 'spf' | 'dkim' | 'dmarc'>(name: Name, example: number) => {
  const title = name.toUpperCase();
  return {
    name,
    column: `${name}_rate`,
    unit: 'share',
    title,
    description: `The share of messages that pass ${title}`,
    example,
    metric: {
      group: 'authentication',
      standardMetric: 'AUTH_SUCCESS_RATE',
      filter: `auth_type = "${name}"`,
    },
    word: 'passed',
    past: `passed ${title}`,
    present: `passes ${title}`,
  } as const;
};

const TLS = { group: 'tls', filter: 'traffic_direction = "inbound"' };

export const PASS_RATES = [
  authentication('spf', 0.99),
  authentication('dkim', 1),
  authentication('dmarc', 0.99),
  {
    name: 'tls',
    column: 'tls_rate',
    unit: 'share',
    title: 'TLS',
    description: 'The share of messages that arrived over TLS',
    example: 1,
    metric: { ...TLS, standardMetric: 'TLS_ENCRYPTION_RATE' },
    word: 'encrypted',
    past: 'arrived with TLS',
    present: 'arrives with TLS',
  },
] as const satisfies PassRate[];

export const PASS_LIMITS: Limits = { better: 'higher', warn: 0.95, fail: null };

const TLS_MESSAGES = {
  name: 'tls_messages',
  column: 'tls_messages',
  unit: 'count',
  title: 'TLS messages',
  description: 'Messages that arrived over TLS',
  example: 1840,
  metric: { ...TLS, standardMetric: 'TLS_ENCRYPTION_MESSAGE_COUNT' },
} as const satisfies GmailFigure;

const errors = (type: string) => ({
  group: 'errors',
  standardMetric: 'DELIVERY_ERROR_RATE',
  filter: `error_type = "${type}"`,
});

interface RefusedRate extends GmailFigure {
  type: 'reject' | 'temp_fail';
  /** The name of its worst day in a summary. */
  ofPeriod: string;
  /** What Gmail does. */
  present: string;
  limits: Limits;
}

/** Gmail delays some mail of every sender, and accepts it later. */
export const ERROR_RATES = [
  {
    name: 'reject_rate',
    column: 'reject_rate',
    unit: 'share',
    title: 'Rejected',
    description: 'The share of messages that Google rejected',
    example: 0.02,
    metric: errors('reject'),
    type: 'reject',
    ofPeriod: 'rejected',
    present: 'rejects',
    limits: { better: 'lower', warn: 0.01, fail: 0.05 },
  },
  {
    name: 'temp_fail_rate',
    column: 'temp_fail_rate',
    unit: 'share',
    title: 'Deferred',
    description: 'The share of messages that Google deferred',
    example: 0.01,
    metric: errors('temp_fail'),
    type: 'temp_fail',
    ofPeriod: 'deferred',
    present: 'defers',
    limits: { better: 'lower', warn: 0.1, fail: null },
  },
] as const satisfies RefusedRate[];

export type ErrorRate = (typeof ERROR_RATES)[number];

export const errorRateOf = (type: ErrorRate['type']): ErrorRate =>
  ERROR_RATES.find((figure) => figure.type === type)!;

/** In the order in which they are shown. */
export const GMAIL_FIGURES = [SPAM_RATE, ...PASS_RATES, TLS_MESSAGES, ...ERROR_RATES] as const;

type GmailColumn = (typeof GMAIL_FIGURES)[number]['column'];

/** What is null was not published. */
export type GmailValues = Record<GmailColumn, number | null>;
