/** The JSON of sources and of the advice. */

import { failedOf, STOPPED } from '../../figures/dmarc.ts';
import { valuesOf } from '../../figures/figure.ts';
import type { Db } from '../../store/open.ts';
import type { DomainRow, FeedbackSourceRow } from '../../store/tables.generated.ts';
import type { Period } from '../sums.ts';
import type { StoredAdvice } from './advice-of.ts';
import type { SourceMark } from './kind.ts';
import {
  addressesOf,
  daysOf,
  kindIn,
  overridesOf,
  reportersOfSource,
  reportsOfAddress,
  type SummedSource,
  signaturesOf,
  summed,
  sumsOfDays,
  withAddresses,
} from './queries.ts';
import type { FeedbackSource, FeedbackSourceDetails } from './schema.ts';
import { setupSteps } from './steps.ts';
import { testOfSource } from './test-of.ts';

export function presentSource(source: SummedSource): FeedbackSource {
  const { row, kind, addresses, messages, passed, dkim, spf } = source;
  return {
    id: row.id,
    object: 'feedback_source' as const,
    domain_id: row.domain_id,
    name: row.name,
    label: row.label,
    kind,
    mark: row.mark as SourceMark | null,
    evidence: row.evidence,
    addresses,
    messages,
    passed,
    failed: failedOf(source),
    dkim,
    spf,
    ...valuesOf(STOPPED, 'name', ({ name }) => source[name]),
    forwarded: source.forwarded,
    first_day: source.firstDay,
    last_day: source.lastDay,
  };
}

/** From its own days alone, so that a domain may have any number of other sources. */
async function summedSource(
  db: Db,
  row: FeedbackSourceRow,
  days: Awaited<ReturnType<typeof daysOf>>,
  to: string,
): Promise<SummedSource> {
  const sums = summed(row, sumsOfDays(days));
  const source = { ...sums, kind: await kindIn(db, row, sums, to), lastDay: '' };
  const [found] = await withAddresses(db, [source]);
  return found ?? { ...source, addresses: 0, firstDay: '', lastDay: '' };
}

export async function presentDetails(
  db: Db,
  row: FeedbackSourceRow,
  { domain, from, to }: Period,
  /** The last 30 days, in which tests are matched: the same for the report of a test. */
  recent: Pick<Period, 'from' | 'to'>,
  address?: string,
): Promise<FeedbackSourceDetails> {
  const period = { source: row, from, to };
  const days = await daysOf(db, row.id, period);
  const source = await summedSource(db, row, days, to);
  return {
    ...presentSource(source),
    from,
    to,
    address_list: await addressesOf(db, row.id),
    signatures: await signaturesOf(db, period),
    overrides: await overridesOf(db, period),
    days: days.map(({ day, messages, passed, ...counts }) => ({
      date: day,
      messages,
      passed,
      failed: messages - passed,
      ...valuesOf(STOPPED, 'name', ({ name }) => counts[name]),
    })),
    reporters: await reportersOfSource(db, period),
    test: await testOfSource(db, row, { domain, ...recent }),
    setup_steps: setupSteps(row, source, domain.name),
    reports: address === undefined ? [] : await reportsOfAddress(db, period, address),
  };
}

export async function presentAdvice(db: Db, { id, name }: DomainRow, advice: StoredAdvice) {
  const { state, summary, current, tag, next, ready, since, reporters, messages, missing } = advice;
  const named = new Set(advice.wouldBeRejected.map((source) => source.id));
  const affected = await withAddresses(
    db,
    advice.sources.filter(({ row }) => named.has(row.id)),
  );
  return {
    object: 'dmarc_advice' as const,
    domain_id: id,
    state,
    summary,
    current,
    tag,
    next,
    ready,
    since,
    covered_days: advice.coveredDays,
    reporters,
    messages,
    would_be_rejected: affected.map(presentSource),
    missing,
    record:
      advice.record === null
        ? null
        : { type: 'TXT' as const, name: `_dmarc.${name}`, value: advice.record },
  };
}
