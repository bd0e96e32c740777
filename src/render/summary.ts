/** What a summary and a scheduled report tell: the answer of the API, the e-mail and the PDF show the same. */

import type { Grade } from '../analysis/result.ts';

/** The tests of a period, counted. Times are ISO 8601; scores are 0–100; rates are 0–1, and 0 where nothing is known. */
export interface Summary {
  /** Tests count that were completed from here … */
  from: string;
  /** … until here. */
  to: string;
  total_tests: number;
  avg_score: number;
  inbox_rate: number;
  /** How many samples `inbox_rate` rests on; 0 says that it tells nothing. */
  placement_samples: number;
  grades: Record<Grade, number>;
  /** What passed out of what is known. */
  auth_rates: { spf: number; dkim: number; dmarc: number };
  top_issues: { check: string; issue: string; count: number }[];
  /** The period of the same length before. */
  previous: { total_tests: number; avg_score: number; inbox_rate: number };
  /** The period in slices, oldest first. */
  trend: { from: string; tests: number; avg_score: number; inbox_rate: number }[];
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
