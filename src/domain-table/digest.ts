/** Reads what the table of domains shows about one domain, from the sources of its picture. */

import type { App } from '../app.ts';
import { latestRecordChange } from '../domains/queries.ts';
import { type Days, lastDays } from '../feedback/sums.ts';
import { SPAM_RATE } from '../figures/gmail.ts';
import { isoTime } from '../lib/clock.ts';
import { dmarcSums } from '../picture/feedback.ts';
import { pictureOf } from '../picture/picture.ts';
import { policyOf } from '../picture/published-policy.ts';
import { googleDays } from '../receivers/queries.ts';
import { inboxRate } from '../report/placement-rates.ts';
import { inSnapshot, type Tx } from '../store/open.ts';
import type { DomainDigestRow, DomainRow } from '../store/tables.generated.ts';

export type Source = Pick<App, 'db' | 'clock' | 'config'>;

/** All from one snapshot; asks no other server. */
export async function readDigest(app: Source, domain: DomainRow): Promise<DomainDigestRow> {
  const read_at = isoTime(app.clock.now());
  const days = lastDays(app);
  return inSnapshot(app.db, async (db) => {
    const { state, headline, since, first_step, problems } = await pictureOf(
      { ...app, db },
      domain,
    );
    return {
      id: domain.id,
      read_at,
      state,
      cost: problems[0]?.cost ?? 0,
      headline,
      since,
      step: first_step?.text ?? null,
      step_path: first_step?.path ?? null,
      ...policyOf(domain),
      ...(await passRates(db, domain, days)),
      ...(await spamRate(db, domain, days)),
      ...(await placementOf(db, domain, days)),
      ...(await lastChange(db, domain)),
    };
  });
}

type Domain = Pick<DomainRow, 'id' | 'name'>;

/** DMARC as the page of the domain counts it; SPF and DKIM with alignment, over the sources of the same messages. */
async function passRates(db: Tx, { id }: Domain, { from, to }: Days) {
  const all = await dmarcSums({ db, domain: { id }, from, to });
  const sources = await db
    .selectFrom('feedback_source_days')
    .select(({ fn }) => [
      fn.sum('messages').as('messages'),
      fn.sum('spf').as('spf'),
      fn.sum('dkim').as('dkim'),
    ])
    .where('domain_id', '=', id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .executeTakeFirstOrThrow();
  return {
    messages: all.messages,
    dmarc_rate: rateOf(all.passed, all.messages),
    spf_rate: rateOf(sources.spf, sources.messages),
    dkim_rate: rateOf(sources.dkim, sources.messages),
  };
}

type Sum = string | number | bigint | null;

/** Null without messages: that says nothing, and 0% would say that all fail. */
function rateOf(part: Sum, whole: Sum): number | null {
  const total = Number(whole ?? 0);
  return total === 0 ? null : Number(part ?? 0) / total;
}

async function spamRate(db: Tx, { name }: Domain, days: Days) {
  const published = await googleDays(db, name, days);
  const latest = published.findLast((day) => day[SPAM_RATE.column] !== null);
  return { spam_rate: latest?.[SPAM_RATE.column] ?? null, spam_day: latest?.day ?? null };
}

async function placementOf(db: Tx, { id }: Domain, { from }: Days) {
  const { samples, inbox } = await db
    .selectFrom('test_tallies')
    .select(({ fn }) => [
      fn.sum('placement_samples').as('samples'),
      fn.sum('placement_inbox').as('inbox'),
    ])
    .where('livemode', '=', 1)
    .where('domain_id', '=', id)
    .where('hour', '>=', from)
    .executeTakeFirstOrThrow();
  const count = Number(samples ?? 0);
  return { samples: count, inbox_rate: inboxRate(Number(inbox ?? 0), count) };
}

// The last change of its records.

/** Events are deleted after a time. The digest keeps the change. */
async function lastChange(db: Tx, { id }: Domain) {
  const event = await latestRecordChange(db, id);
  if (event)
    return {
      changed_at: event.created_at,
      changed: [...new Set(event.changes.map(recordLabel))].join(', '),
    };
  const known = await db
    .selectFrom('domain_digests')
    .select(['changed_at', 'changed'])
    .where('id', '=', id)
    .executeTakeFirst();
  return known ?? { changed_at: null, changed: null };
}

const LABELS: [pattern: RegExp, label: string][] = [
  [/\._domainkey\./, 'DKIM'],
  [/^_dmarc\./, 'DMARC'],
  [/^_mta-sts\./, 'MTA-STS'],
  [/^_smtp\._tls\./, 'TLS-RPT'],
  [/\._bimi\./, 'BIMI'],
];

/** What records are for, in a word. */
export function recordLabel({ name, type }: { name: string; type: string }): string {
  const found = LABELS.find(([pattern]) => pattern.test(name));
  return found?.[1] ?? (type === 'TXT' ? 'SPF' : type);
}
