/** Scheduled reports for tests and screenshots: a week, a month, a day, an empty one, and hostile names. */

import { NO_MAIL } from '../../src/figures/mail-shares.ts';
import type {
  FeedbackFigures,
  ReceiverFigures,
  ScheduledReport,
  Summary,
} from '../../src/report/summary.ts';

const DAY_MS = 86_400_000;
/** Midnight in Berlin. */
const END = Date.parse('2026-11-22T23:00:00.000Z');

/** A slice for each number of tests; slices without tests have no score. */
function trendOf(count: number, sliceMs: number): Summary['trend'] {
  return Array.from({ length: count }, (_, index) => {
    const tests = (index * 7 + 3) % 9;
    return {
      from: new Date(END - (count - index) * sliceMs).toISOString(),
      tests,
      avg_score: tests === 0 ? 0 : 62 + ((index * 13) % 37),
      inbox_rate: tests === 0 ? 0 : 0.9,
      scored: tests,
      placement_samples: tests * 3,
    };
  });
}

const providerTrend = (slices: number, length: number) =>
  trendOf(slices, length).map(({ from }) => ({
    from,
    samples: 12,
    inbox: 11,
    spam: 1,
    missing: 0,
    inbox_rate: 0.9167,
  }));

/** What receivers report about two domains in the same week. */
export const FIGURES: FeedbackFigures = {
  from: '2026-11-16',
  to: '2026-11-22',
  reporters: 5,
  messages: 12_480,
  passed: 12_385,
  pass_rate: 0.9924,
  shares: { ...NO_MAIL, own: 12_420, own_passed: 12_385, forged: 60 },
  spoofed: { messages: 60, stopped: 45 },
  failing_sources: {
    total: 1,
    sources: [
      {
        id: 'src_1',
        domain_id: 'dom_1',
        domain: 'shop.example',
        name: 'SendGrid',
        messages: 84,
        passed: 54,
      },
    ],
  },
  new_sources: {
    total: 5,
    sources: ['Mailchimp', 'crm.example.net', '203.0.114.0/24', 'other.example'].map(
      (name, index) => ({
        id: `src_${index + 2}`,
        domain_id: `dom_${1 + (index % 2)}`,
        name,
        domain: index % 2 === 0 ? 'shop.example' : 'example.com',
        messages: 1400 - index * 300,
        passed: 1400 - index * 301,
      }),
    ),
  },
  tls: { reporters: 2, sessions: 1240, failed: 3 },
  complaints: { providers: 1, total: 4 },
};

const CHECKED_AT = '2026-11-22T06:10:00.000Z';
const since = (day: string) => `2026-11-${day}T06:10:00.000Z`;

/** What Google and Microsoft publish about two domains and four addresses in the same week. */
export const PUBLISHED: ReceiverFigures = {
  from: '2026-11-16',
  to: '2026-11-22',
  gmail: {
    total: 2,
    domains: [
      {
        domain_id: 'dom_1',
        domain: 'shop.example',
        spam_rate: {
          days: 5,
          latest: { day: '2026-11-20', rate: 0.0004 },
          highest: { day: '2026-11-18', rate: 0.0034 },
        },
        rejected: { day: '2026-11-18', rate: 0.021, reason: 'low_ip_reputation' },
        deferred: null,
        requirements: {
          checked_at: CHECKED_AT,
          needs_work: [
            {
              requirement: 'DMARC_ALIGNMENT',
              name: 'DMARC alignment',
              since: since('19'),
            },
            {
              requirement: 'ONE_CLICK_UNSUBSCRIBE',
              name: 'One-click unsubscribe',
              since: null,
            },
          ],
        },
      },
      {
        domain_id: 'dom_2',
        domain: 'example.com',
        spam_rate: null,
        rejected: null,
        deferred: null,
        requirements: { checked_at: CHECKED_AT, needs_work: [] },
      },
    ],
  },
  outlook: {
    days: 6,
    addresses: 4,
    spam: { total: 1, addresses: [{ address: '203.0.113.9', days: 5, red_days: 2 }] },
    blocked: {
      checked_at: CHECKED_AT,
      total: 1,
      addresses: [
        {
          address: '203.0.113.16-203.0.113.31',
          since: since('21'),
          details: 'Blocked due to user complaints or other evidence of spamming',
        },
      ],
    },
  },
};

export const WEEK: ScheduledReport = {
  name: 'Shop and newsletter',
  frequency: 'weekly',
  timezone: 'Europe/Berlin',
  sections: ['summary', 'trends', 'alerts'],
  summary: {
    from: new Date(END - 7 * DAY_MS).toISOString(),
    to: new Date(END).toISOString(),
    total_tests: 42,
    scored: 42,
    avg_score: 87.4,
    inbox_rate: 0.923,
    placement_samples: 126,
    grades: { A: 20, B: 12, C: 5, D: 3, F: 2 },
    auth_rates: { spf: 0.98, dkim: 0.952, dmarc: 0.93 },
    auth_samples: { spf: 42, dkim: 41, dmarc: 1 },
    top_issues: [
      {
        check: 'dmarc_policy',
        issue: 'Your DMARC policy is missing or not enforced.',
        count: 12,
      },
      { check: 'one_click', issue: 'Nobody can unsubscribe with one click.', count: 7 },
      { check: 'image_alt', issue: 'Images have no text for those who do not see them.', count: 3 },
      { check: 'ptr', issue: 'The address of your server has no name.', count: 1 },
    ],
    previous: {
      total_tests: 36,
      scored: 36,
      avg_score: 83.9,
      inbox_rate: 0.95,
      placement_samples: 90,
    },
    trend: trendOf(7, DAY_MS),
    placement: {
      seeds: 6,
      by_provider: [
        {
          provider: 'gmail',
          samples: 84,
          inbox: 80,
          inbox_rate: 0.9524,
          tabs: 30,
          spam: 4,
          missing: 0,
          trend: providerTrend(7, DAY_MS),
        },
        {
          provider: 'gmx',
          samples: 2,
          inbox: 1,
          inbox_rate: null,
          tabs: 0,
          spam: 0,
          missing: 1,
          trend: providerTrend(7, DAY_MS),
        },
      ],
    },
    feedback: FIGURES,
    receivers: PUBLISHED,
  },
  domains: [
    {
      name: 'shop.example',
      health: 'critical',
      score: 41,
      headline: 'Gmail users report 0.34% of your mail as spam. The limit is 0.3%.',
    },
    {
      name: 'news.shop.example',
      health: 'warning',
      score: 78,
      headline: 'Your DMARC policy is p=none: failing mail is still delivered.',
    },
    {
      name: 'example.com',
      health: 'healthy',
      score: 100,
      headline: 'No problems found in DNS and tests.',
    },
    {
      name: 'example.net',
      health: 'unknown',
      score: null,
      headline: 'Nothing is known about this domain yet.',
    },
  ],
  omittedDomainCount: 0,
  incidents: [
    {
      rule: 'Authentication of the shop',
      subject: 'shop.example',
      condition: 'SPF, DKIM or DMARC fails',
      opened_at: '2026-11-20T13:05:00.000Z',
      resolved_at: null,
    },
    {
      rule: 'Score below 70',
      subject: 'news.shop.example',
      condition: 'the score is too low',
      opened_at: '2026-11-18T08:00:00.000Z',
      resolved_at: '2026-11-18T16:30:00.000Z',
    },
  ],
  omittedIncidentCount: 0,
  appUrl: 'https://app.example.com',
};

export const MONTH: ScheduledReport = {
  ...WEEK,
  frequency: 'monthly',
  summary: {
    ...WEEK.summary,
    from: new Date(END - 31 * DAY_MS).toISOString(),
    trend: trendOf(31, DAY_MS),
  },
};

export const DAY: ScheduledReport = {
  ...WEEK,
  frequency: 'daily',
  summary: {
    ...WEEK.summary,
    from: new Date(END - DAY_MS).toISOString(),
    trend: trendOf(24, DAY_MS / 24),
  },
};

const NO_MEANS = { scored: 0, avg_score: 0, inbox_rate: 0, placement_samples: 0 };

/** Tests without a score or authentication results. */
export const UNSCORED: ScheduledReport = {
  ...WEEK,
  summary: {
    ...WEEK.summary,
    ...NO_MEANS,
    total_tests: 3,
    grades: { A: 0, B: 0, C: 0, D: 0, F: 0 },
    auth_rates: { spf: 0, dkim: 0, dmarc: 0 },
    auth_samples: { spf: 0, dkim: 0, dmarc: 0 },
    top_issues: [],
    trend: WEEK.summary.trend.map(({ from }, index) => ({
      from,
      tests: index === 2 ? 3 : 0,
      ...NO_MEANS,
    })),
  },
};

/** No tests and no domains. */
export const NOTHING: ScheduledReport = {
  ...WEEK,
  summary: {
    ...WEEK.summary,
    total_tests: 0,
    ...NO_MEANS,
    grades: { A: 0, B: 0, C: 0, D: 0, F: 0 },
    auth_rates: { spf: 0, dkim: 0, dmarc: 0 },
    auth_samples: { spf: 0, dkim: 0, dmarc: 0 },
    top_issues: [],
    previous: { total_tests: 0, ...NO_MEANS },
    trend: WEEK.summary.trend.map(({ from }) => ({ from, tests: 0, ...NO_MEANS })),
    placement: { seeds: 0, by_provider: [] },
    feedback: null,
    receivers: null,
  },
  domains: [],
  incidents: [],
};

/** HTML, right-to-left text, bidi controls, half a surrogate pair and line ends; also very long names. */
export const EVIL =
  '"><script>alert(1)</script>&amp;\r\nBcc: x@example.net\u0000\u202eתיבה\ud800\'';
const LONG = 'Wörterbuchverlagsgesellschaft'.repeat(8).slice(0, 200);

export const HOSTILE: ScheduledReport = {
  ...MONTH,
  name: EVIL,
  summary: {
    ...MONTH.summary,
    total_tests: 1_234_567,
    top_issues: Array.from({ length: 10 }, (_, index) => ({
      check: EVIL,
      issue: index % 2 ? EVIL : LONG,
      count: 1_000_000,
    })),
    feedback: {
      ...FIGURES,
      messages: 1_234_567_890,
      failing_sources: {
        total: 5000,
        sources: [EVIL, LONG, EVIL].map((name, index) => ({
          id: `src_${index}`,
          domain_id: `dom_${index}`,
          domain: index % 2 ? EVIL : LONG,
          name,
          messages: 1_000_000,
          passed: 0,
        })),
      },
    },
  },
  domains: Array.from({ length: 20 }, (_, index) => ({
    name: index % 2 ? `${EVIL}${index}` : `${LONG}.example`,
    health: 'critical' as const,
    score: 0,
    headline: index % 2 ? EVIL : LONG,
  })),
  omittedDomainCount: 980,
  incidents: Array.from({ length: 20 }, (_, index) => ({
    rule: index % 2 ? LONG : EVIL,
    subject: index % 2 ? EVIL : LONG,
    condition: index % 2 ? 'constructor' : LONG,
    opened_at: '2026-11-20T13:05:00.000Z',
    resolved_at: index % 2 ? '2026-11-20T14:05:00.000Z' : null,
  })),
  omittedIncidentCount: 1,
};
