/** A team with many domains: reports, days at Google, placements, tests, tags and events of each. */

import { isoTime } from '../../src/lib/clock.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { newTestRow } from '../../src/mailtests/queries.ts';
import { TALLY_COLUMNS } from '../../src/mailtests/tally.ts';
import type { Db } from '../../src/store/open.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
const SOURCES = 5;
const TESTS = 3;
const CLIENTS = 40;

const CHECK_IDS = [
  'spf_record',
  'dkim_selector',
  'dmarc_record',
  'dmarc_policy',
  'mx',
  'mta_sts',
  'tls_rpt',
  'bimi',
  'dnssec',
  'name_servers',
  'blocklist_domain',
];

const checkOf = (id: string, isBad: boolean) => ({
  id,
  label: id,
  category: 'authentication',
  status: isBad ? 'warn' : 'pass',
  severity: isBad ? 'warning' : null,
  title: isBad ? `The record of ${id} needs attention` : `The record of ${id} is fine`,
  detail: 'What was found, and why it matters, in a few sentences. '.repeat(4),
  points: 4,
  gain: isBad ? 4 : 0,
  reference: { name: 'RFC 9989', url: 'https://www.rfc-editor.org/rfc/rfc9989' },
  evidence: id === 'dmarc_policy' ? { record: 'v=DMARC1; p=none', tag: 'p' } : {},
  fix: isBad ? { text: 'Change the record, then check the domain again.' } : null,
});

const COMPLETED = {
  status: 'completed',
  score: 90,
  grade: 'A',
  spf: 'pass',
  dkim: 'pass',
  dmarc: 'pass',
  summary: 'No problems found.',
  subject: 'Hello',
} as const;

/** Inserts `count` domains. Returns the name of one. */
export async function fillDomains(db: Db, count: number): Promise<string> {
  const now = Date.now();
  const clock = { now: () => now };
  const newId = createIdGenerator(clock);
  const at = (days: number) => isoTime(now - days * DAY_MS);
  const dayAt = (days: number) => at(days).slice(0, 10);
  const days = Array.from({ length: DAYS }, (_, i) => i + 1);
  for (let i = 0; i < count; i++) {
    const [id, name] = [newId('dom'), `customer-${i}.example`];
    const tags = [`client:c${i % CLIENTS}`, ...(i % 3 === 0 ? ['marketing'] : [])];
    const isBad = i % 4 === 0;
    await db.transaction().execute(async (tx) => {
      await tx
        .insertInto('domains')
        .values({
          id,
          name,
          status: i % 50 === 0 ? 'pending' : 'verified',
          token: 'x',
          created_at: at(90),
          verified_at: at(90),
          pending_since: at(90),
          last_checked_at: at(1),
          last_check_detail: null,
          next_check_at: null,
          missing_since: null,
          given_selectors: '[]',
          learnt_selectors: '[]',
          badge_enabled: 0,
          health_status: i % 20 === 0 ? 'critical' : isBad ? 'warning' : 'healthy',
          health_score: 80,
          health_checks: JSON.stringify(
            CHECK_IDS.map((check) => checkOf(check, isBad && check === 'dmarc_policy')),
          ),
          health_checked_at: at(0.5),
          lease: null,
          leased_until: null,
          next_look_at: null,
          watched: JSON.stringify({
            sets: { 'DMARC record': { values: [`v=DMARC1; p=${isBad ? 'none' : 'reject'}`] } },
            failures: 0,
          }),
          tags: JSON.stringify(tags),
        })
        .execute();
      await tx
        .insertInto('feedback_domains')
        .values({
          id,
          token: String(i).padStart(16, '0'),
          records: '[]',
          lookup_at: at(-1),
          first_at: at(60),
          last_at: at(0.4),
          stopped_at: null,
          lease: null,
          leased_until: null,
        })
        .execute();
      await tx
        .insertInto('dmarc_days')
        .values(
          days.map((day) => ({
            domain_id: id,
            day: dayAt(day),
            messages: 1000,
            passed: 1000 - (i % 90),
            failed: i % 90,
            none: i % 90,
            quarantined: 0,
            rejected: 0,
            overridden: 0,
          })),
        )
        .execute();
      const sources = Array.from({ length: SOURCES }, () => newId('src'));
      await tx
        .insertInto('feedback_sources')
        .values(
          sources.map((source, s) => ({
            id: source,
            domain_id: id,
            key: `host h${s}.example`,
            name: `h${s}.example`,
            evidence: '',
            mark: s === 0 ? 'own' : null,
            label: null,
            new_since: null,
            failing_since: null,
            claim: null,
          })),
        )
        .execute();
      await tx
        .insertInto('feedback_source_days')
        .values(
          sources.flatMap((source_id) =>
            days.map((day) => ({
              source_id,
              domain_id: id,
              day: dayAt(day),
              messages: 200,
              passed: 190,
              dkim: 190,
              spf: 180,
              quarantined: 0,
              rejected: 0,
              forwarded: 0,
            })),
          ),
        )
        .execute();
      await tx
        .insertInto('receiver_days')
        .values(
          days.map((day) => ({
            name,
            day: dayAt(day),
            receiver_id: 'google_postmaster',
            spam_rate: (i % 40) / 10_000,
            spf_rate: 0.99,
            dkim_rate: 1,
            dmarc_rate: 0.99,
            tls_rate: 1,
            tls_messages: 100,
            reject_rate: 0,
            temp_fail_rate: 0,
            errors: null,
            feedback_loops: null,
            fetched_at: at(0.5),
          })),
        )
        .execute();
      await tx
        .insertInto('test_tallies')
        .values(
          days.slice(0, 10).map((day) => ({
            ...(Object.fromEntries(TALLY_COLUMNS.map((column) => [column, 1])) as Record<
              (typeof TALLY_COLUMNS)[number],
              number
            >),
            livemode: 1,
            domain_id: id,
            hour: `${at(day).slice(0, 13)}:00:00.000Z`,
            issues: '{}',
            placement_samples: 6,
            placement_inbox: 5,
            placement_counts: '{"gmail inbox":5,"gmail spam":1}',
          })),
        )
        .execute();
      const test = { kind: 'auto', metadata: {}, expires_in: 86_400, livemode: true } as const;
      await tx
        .insertInto('tests')
        .values(
          Array.from({ length: TESTS }, (_, t) => ({
            ...newTestRow({ clock, newId } as Parameters<typeof newTestRow>[0], test),
            ...COMPLETED,
            received_at: at(t + 1),
            domain_id: id,
            from_domain: name,
            from_address: `s${t}@${name}`,
            completed_at: at(t + 1),
            checks: JSON.stringify(CHECK_IDS.map((check) => checkOf(check, false))),
          })),
        )
        .execute();
      if (i % 5 === 0)
        await tx
          .insertInto('events')
          .values({
            id: newId('evt'),
            type: 'domain.records_changed',
            livemode: 1,
            created_at: at(0.1),
            position: null,
            data: JSON.stringify({
              id,
              object: 'domain',
              name,
              changes: [
                {
                  name: `_dmarc.${name}`,
                  type: 'TXT',
                  before: ['v=DMARC1; p=none'],
                  after: ['v=DMARC1; p=reject'],
                  dns_change_id: null,
                },
              ],
            }),
          })
          .execute();
    });
  }
  return `customer-${Math.floor(count / 2)}.example`;
}
