/** What a summary and a scheduled report tell: the answer of the API, the e-mail and the PDF show the same. */

import type { Grade } from '../analysis/result.ts';

/** What some tests have come to, and how much that rests on. Scores are 0–100; rates are 0–1. */
interface Means {
  /** How many of the tests have a score; with 0, `avg_score` is 0 and tells nothing. */
  scored: number;
  avg_score: number;
  inbox_rate: number;
  /** How many samples `inbox_rate` rests on; with 0 it is 0 and tells nothing. */
  placement_samples: number;
}

type Authentication = Record<'spf' | 'dkim' | 'dmarc', number>;

/** The tests of a period, counted. Times are ISO 8601. */
export interface Summary extends Means {
  /** Tests count that were completed from here … */
  from: string;
  /** … until here. */
  to: string;
  total_tests: number;
  grades: Record<Grade, number>;
  /** What passed out of what is known; 0 where nothing is. */
  auth_rates: Authentication;
  /** How many tests that is known of. */
  auth_samples: Authentication;
  top_issues: { check: string; issue: string; count: number }[];
  /** The period before. */
  previous: Means & { total_tests: number };
  /** The period in slices, oldest first. */
  trend: (Means & { from: string; tests: number })[];
}

/** What a report by e-mail tells. */
export interface ScheduledReport {
  /** Of the schedule. */
  name: string;
  frequency: 'daily' | 'weekly' | 'monthly';
  /** In which its times are written: an IANA name. */
  timezone: string;
  sections: ('summary' | 'trends' | 'alerts')[];
  /** Always there, for the subject and the totals. */
  summary: Summary;
  /** Worst first, at most 20. */
  domains: {
    name: string;
    health: 'healthy' | 'warning' | 'critical' | 'unknown';
    score: number | null;
  }[];
  domainsLeftOut: number;
  /** Open ones first, at most 20; times are ISO 8601. */
  incidents: {
    rule: string;
    subject: string;
    condition: string;
    opened_at: string;
    resolved_at: string | null;
  }[];
  incidentsLeftOut: number;
  appUrl: string;
}
