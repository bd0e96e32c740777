/** A database with one domain, and what each source says about it, as rows. */

import type { TestContext } from 'node:test';
import type { CheckStatus } from '../../src/analysis/check.ts';
import type { DomainCheck } from '../../src/analysis/domain/health.ts';
import type { App } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { valuesOf } from '../../src/figures/figure.ts';
import { GMAIL_FIGURES } from '../../src/figures/gmail.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { newTestRow } from '../../src/mailtests/queries.ts';
import { pictureOf } from '../../src/picture/picture.ts';
import type { Picture } from '../../src/picture/schema.ts';
import type { Db } from '../../src/store/open.ts';
import type {
  DomainRow,
  FeedbackSourceDayRow,
  ReceiverAddressRow,
  ReceiverDayRow,
} from '../../src/store/tables.generated.ts';
import { testClock } from '../helpers/clock.ts';
import { openTestStore } from '../helpers/store.ts';

export const NOW = Date.UTC(2026, 10, 22, 10);
const DAY = 86_400_000;
/** The time, or the day, so many days before now. */
export const ago = (days: number): string => isoTime(NOW - days * DAY);
export const dayAgo = (days: number): string => ago(days).slice(0, 10);

export const DOMAIN = { id: 'dom_01kag5z7m8q4x2c9n6t3r1w5y0', name: 'example.com' };
export const ADDRESS = '192.0.2.10';

const SEEDS = ['a', 'b', 'c'].map((name) => ({
  provider: 'gmail',
  address: `${name}@gmail.example`,
  imap: 'imap://a:b@127.0.0.1:9',
}));
const RECEIVERS = [
  { receiver: 'google_postmaster', client_id: 'id', client_secret: 'secret' },
  { receiver: 'microsoft_snds', key: 'key' },
];

export interface WorldOptions {
  seeds?: boolean;
  receivers?: boolean;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/** By default, nothing but the domain itself is known. */
export async function startWorld(
  t: TestContext,
  { seeds = true, receivers = true }: WorldOptions = {},
) {
  const { db } = await openTestStore(t);
  const clock = testClock(NOW);
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: '/nonexistent',
    DELIVERABILITY_INBOX_DOMAIN: 'inbox.example',
    DELIVERABILITY_SECRET_KEY: 'a secret key that only tests use',
    ...(seeds && { DELIVERABILITY_SEED_MAILBOXES: JSON.stringify(SEEDS) }),
    ...(receivers && { DELIVERABILITY_RECEIVERS: JSON.stringify(RECEIVERS) }),
  });
  const app = { db, clock, config };
  await db.insertInto('domains').values(domainRow()).execute();
  return {
    app,
    db,
    picture: async (): Promise<Picture> => pictureOf(app, await domainIn(db)),
    ...writers(app),
  };
}

const domainIn = (db: Db): Promise<DomainRow> =>
  db.selectFrom('domains').selectAll().where('id', '=', DOMAIN.id).executeTakeFirstOrThrow();

const domainRow = (): DomainRow => ({
  ...DOMAIN,
  status: 'verified',
  token: 'q3v9k2m7x5t1w8b4',
  created_at: ago(90),
  verified_at: ago(90),
  pending_since: ago(90),
  last_checked_at: ago(0),
  last_check_detail: null,
  next_check_at: null,
  missing_since: null,
  given_selectors: '[]',
  learnt_selectors: '[]',
  badge_enabled: 0,
  health_status: 'unknown',
  health_score: null,
  health_checks: '[]',
  tags: '[]',
  health_checked_at: null,
  lease: null,
  leased_until: null,
  next_look_at: null,
  watched: null,
});

const REFERENCE = { name: 'RFC', url: 'https://rfc.example' };

/** A finding of the health check, or of a test. A problem has a fix. */
const checkOf = (id: string, status: CheckStatus) => ({
  id,
  label: id,
  category: 'authentication' as const,
  status,
  detail: '',
  evidence: {},
  title: `${id}: ${status}.`,
  points: 3,
  earned: null,
  reference: REFERENCE,
  gain: status === 'fail' ? 10 : status === 'warn' ? 5 : 0,
  fix: status === 'fail' || status === 'warn' ? { text: `Fix ${id}.` } : null,
});

type Checks = Record<string, CheckStatus>;

const NO_FIGURES: ReceiverDayRow = {
  name: DOMAIN.name,
  day: '',
  receiver_id: 'google_postmaster',
  fetched_at: ago(0),
  ...valuesOf(GMAIL_FIGURES, 'column', () => null),
  errors: null,
  feedback_loops: null,
};

let written = 0;

function writers({ db, clock }: Pick<App, 'db' | 'clock'>) {
  const insertTest = async (checks: Checks, days: number, more: object) => {
    const newId = ((prefix: string) =>
      `${prefix}_${isoTime(NOW - days * DAY)}_${String(written++).padStart(6, '0')}`) as App['newId'];
    const seed = { kind: 'auto', metadata: {}, expires_in: 3600, livemode: true } as const;
    const row = newTestRow({ clock, newId }, { ...seed, domain_id: DOMAIN.id });
    const resultOf = (id: string) => checks[id] ?? null;
    await db
      .insertInto('tests')
      .values({
        ...row,
        token: `t${written}`,
        status: 'completed',
        completed_at: ago(days),
        from_address: `news@${DOMAIN.name}`,
        score: 80,
        spf: resultOf('spf'),
        dkim: resultOf('dkim'),
        dmarc: resultOf('dmarc'),
        envelope: JSON.stringify({ client_ip: ADDRESS }),
        checks: JSON.stringify(Object.entries(checks).map(([id, status]) => checkOf(id, status))),
        ...more,
      })
      .execute();
    return row.id;
  };
  return {
    async setDomain(change: Partial<DomainRow>): Promise<void> {
      await db.updateTable('domains').set(change).where('id', '=', DOMAIN.id).execute();
    },

    /** Failures are critical. */
    async health(checks: Checks, days = 0, more: Partial<DomainCheck> = {}): Promise<void> {
      const statuses = Object.values(checks);
      const severityOf = (status: CheckStatus) =>
        status === 'fail' ? 'critical' : status === 'warn' ? 'warning' : null;
      const health_status = statuses.includes('fail')
        ? 'critical'
        : statuses.includes('error')
          ? 'unknown'
          : statuses.includes('warn')
            ? 'warning'
            : 'healthy';
      const found = Object.entries(checks).map(([id, status]) => ({
        ...checkOf(id, status),
        severity: severityOf(status),
        ...more,
      }));
      await this.setDomain({
        health_status,
        health_checked_at: ago(days),
        health_checks: JSON.stringify(found),
      });
    },

    /** An event of the domain, so many days ago. */
    async healthChanged(status: DomainRow['health_status'], days: number): Promise<void> {
      await db
        .insertInto('events')
        .values({
          id: `evt_${ago(days)}`,
          type: 'domain.health_changed',
          livemode: 1,
          created_at: ago(days),
          position: null,
          data: JSON.stringify({ id: DOMAIN.id, health: { status } }),
        })
        .execute();
    },

    /** Returns the ID of the test. */
    test: (checks: Checks, days = 0, more: object = {}): Promise<string> =>
      insertTest(checks, days, more),

    /** Samples in seed mailboxes on a day, such as `{ 'gmail spam': 3 }`. */
    async placement(days: number, counts: Record<string, number>): Promise<void> {
      const samples = Object.values(counts).reduce((sum, count) => sum + count, 0);
      await db
        .insertInto('test_tallies')
        .values({
          livemode: 1,
          domain_id: DOMAIN.id,
          hour: `${ago(days).slice(0, 13)}:00:00.000Z`,
          tests: 1,
          scored: 0,
          score_sum: 0,
          grade_a: 0,
          grade_b: 0,
          grade_c: 0,
          grade_d: 0,
          grade_f: 0,
          spf_known: 0,
          spf_pass: 0,
          dkim_known: 0,
          dkim_pass: 0,
          dmarc_known: 0,
          dmarc_pass: 0,
          issues: '{}',
          placement_samples: samples,
          placement_inbox: 0,
          placement_counts: JSON.stringify(counts),
        })
        .execute();
    },

    /** An own sender in DMARC reports about yesterday. */
    async sender(
      counts: Partial<Pick<FeedbackSourceDayRow, 'messages' | 'passed' | 'rejected'>>,
      { failingSince = null, days = 1 }: { failingSince?: string | null; days?: number } = {},
    ): Promise<void> {
      const { messages = 100, passed = messages, rejected = 0 } = counts;
      const id = `src_${written++}`;
      const sums = { messages, passed, quarantined: 0, rejected };
      await db
        .insertInto('feedback_sources')
        .values({
          id,
          domain_id: DOMAIN.id,
          key: `own host${id}.example`,
          name: 'mail.example.com',
          evidence: '',
          mark: 'own',
          label: null,
          new_since: null,
          failing_since: failingSince,
        })
        .execute();
      const shared = { source_id: id, domain_id: DOMAIN.id, ...sums };
      await db
        .insertInto('feedback_source_days')
        .values({ ...shared, day: dayAgo(days), dkim: passed, spf: passed, forwarded: 0 })
        .execute();
      await db
        .insertInto('dmarc_days')
        .values({
          domain_id: DOMAIN.id,
          day: dayAgo(days),
          messages,
          passed,
          failed: messages - passed,
          none: 0,
          quarantined: 0,
          rejected,
          overridden: 0,
        })
        .execute();
    },

    /** Records with the feedback address, and when the last report arrived. */
    async reporting(published: boolean, lastAt: string | null = null): Promise<void> {
      const record = { type: 'TXT', name: '_dmarc', current: null, value: '', published };
      await db
        .insertInto('feedback_domains')
        .values({
          id: DOMAIN.id,
          token: 'q3v9k2m7x5t1w8b4',
          records: JSON.stringify([record]),
          lookup_at: ago(0),
          first_at: lastAt && ago(60),
          last_at: lastAt,
          stopped_at: null,
          lease: null,
          leased_until: null,
        })
        .execute();
    },

    /** Complaints or bounces of yesterday, such as `bounce class`, `policy`. */
    async messages(subject: string, value: string, count: number): Promise<void> {
      await db
        .insertInto('feedback_message_sums')
        .values({ domain_id: DOMAIN.id, subject, period: dayAgo(1), value, count })
        .execute();
    },

    /** Messages that a reporter says were rejected by policy yesterday. */
    async rejections(count: number, trusted: 0 | 1 = 1): Promise<void> {
      const id = `rejections${written++}`;
      const at = ago(1);
      await db
        .insertInto('feedback_reporters')
        .values({
          id,
          name: id,
          trusted,
          first_at: at,
          last_at: at,
          reports: 1,
          counted: 1,
          kind: 'dkim',
          title: id,
          label: null,
        })
        .execute();
      await db
        .insertInto('feedback_reports')
        .values({
          id,
          mail_id: id,
          position: 0,
          type: 'bounce',
          status: 'counted',
          reason: null,
          detail: null,
          identity: id,
          figures: null,
          original_id: null,
          reporter_id: id,
          domain_id: DOMAIN.id,
          policy_domain: null,
          period_from: null,
          period_to: null,
          messages: count,
          passed: 0,
          failed: count,
          verified: 1,
          source: 'smtp',
          suffix: null,
          repaired: '[]',
          content: '{}',
          row_count: 0,
          stored_rows: 0,
          counted_rows: 0,
          received_at: at,
          label: null,
          file_identity: id,
          attributed: 1,
        })
        .execute();
      const bounce = {
        report_id: id,
        domain_id: DOMAIN.id,
        received_at: at,
        day: dayAgo(1),
        class: 'policy',
        action: 'failed',
        status_code: null,
        diagnostic: null,
        remote_server: null,
        reporting_server: null,
        provider: 'unknown',
        from_domain: null,
        recipient_domain: null,
        message_id: null,
        authenticated: 1,
      };
      await db
        .insertInto('bounces')
        .values(
          Array.from({ length: count }, (_, position) => ({
            ...bounce,
            id: `${id}.${position}`,
            position,
          })),
        )
        .execute();
      await db
        .insertInto('feedback_message_sums')
        .values({
          domain_id: DOMAIN.id,
          subject: 'bounce class',
          period: dayAgo(1),
          value: 'policy',
          count,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    async tlsReports(succeeded: number, failed: number): Promise<void> {
      await db
        .insertInto('tls_days')
        .values({ domain_id: DOMAIN.id, day: dayAgo(1), succeeded, failed })
        .execute();
    },

    /** What Google publishes about a day. */
    async google(days: number, figures: Partial<ReceiverDayRow>): Promise<void> {
      await db
        .insertInto('receiver_days')
        .values({ ...NO_FIGURES, day: dayAgo(days), ...figures })
        .execute();
    },

    async requirement(
      requirement: string,
      status: string,
      { days = 0, previous = null, reason = null }: RequirementOptions = {},
    ): Promise<void> {
      await db
        .insertInto('receiver_requirements')
        .values({
          name: DOMAIN.name,
          requirement,
          receiver_id: 'google_postmaster',
          status,
          reason,
          previous,
          since: ago(days + 3),
          checked_at: ago(days),
        })
        .execute();
    },

    async snds(days: number, change: Partial<ReceiverAddressRow>): Promise<void> {
      await db
        .insertInto('receiver_addresses')
        .values({
          address: ADDRESS,
          day: dayAgo(days),
          receiver_id: 'microsoft_snds',
          started_at: ago(days + 1),
          ended_at: ago(days),
          rcpt_commands: 100,
          data_commands: 100,
          recipients: 100,
          filter_result: 'GREEN',
          complaint_rate: null,
          is_below_rate: 0,
          trap_hits: 0,
          sample_helo: null,
          sample_mail_from: null,
          comments: null,
          fetched_at: ago(0),
          ...change,
        })
        .execute();
    },

    async block(first: string, last: string, blocked: 0 | 1, days = 0): Promise<void> {
      await db
        .insertInto('receiver_blocks')
        .values({
          receiver_id: 'microsoft_snds',
          first_address: first,
          last_address: last,
          blocked,
          details: blocked ? 'Blocked due to user complaints' : '',
          since: ago(days + 4),
          checked_at: ago(days),
        })
        .execute();
    },
  };
}

interface RequirementOptions {
  days?: number;
  previous?: string | null;
  reason?: string | null;
}
