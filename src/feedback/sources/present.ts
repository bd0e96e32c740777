/** The JSON of sources and of the advice. */

import type { Db } from '../../store/open.ts';
import type { DomainRow, FeedbackSourceRow } from '../../store/tables.generated.ts';
import type { Period } from '../sums.ts';
import type { StoredAdvice } from './advice-of.ts';
import { SUM_COLUMNS } from './days.ts';
import type { SourceMark } from './kind.ts';
import {
  addressesOf,
  daysOf,
  overridesOf,
  reportersOfSource,
  type SummedSource,
  signaturesOf,
  summed,
  withAddresses,
} from './queries.ts';
import type { FeedbackSource, FeedbackSourceDetails } from './schema.ts';
import { testOfSource } from './test-of.ts';

export function presentSource(source: SummedSource): FeedbackSource {
  const { row, kind, addresses, messages, passed, dkim, spf, quarantined, rejected } = source;
  return {
    ...{ id: row.id, object: 'feedback_source' as const, domain_id: row.domain_id },
    ...{ name: row.name, label: row.label, kind, mark: row.mark as SourceMark | null },
    ...{ evidence: row.evidence, addresses, messages, passed, failed: messages - passed },
    ...{ dkim, spf, quarantined, rejected, forwarded: source.forwarded },
    ...{ first_day: source.firstDay, last_day: source.lastDay },
  };
}

/** From its own days alone, so that a domain may have any number of other sources. */
async function summedSource(
  db: Db,
  row: FeedbackSourceRow,
  days: Awaited<ReturnType<typeof daysOf>>,
): Promise<SummedSource> {
  const sumOf = (name: (typeof SUM_COLUMNS)[number]) =>
    days.reduce((sum, day) => sum + day[name], 0);
  const sums = Object.fromEntries(SUM_COLUMNS.map((name) => [name, sumOf(name)]));
  const source = { ...summed(row, sums as Parameters<typeof summed>[1]), lastDay: '' };
  const [found] = await withAddresses(db, [source]);
  return found ?? { ...source, addresses: 0, firstDay: '' };
}

export async function presentDetails(
  db: Db,
  row: FeedbackSourceRow,
  { from, to }: Pick<Period, 'from' | 'to'>,
): Promise<FeedbackSourceDetails> {
  const period = { source: row, from, to };
  const days = await daysOf(db, row.id, period);
  return {
    ...presentSource(await summedSource(db, row, days)),
    ...{ from, to },
    address_list: await addressesOf(db, row.id),
    signatures: await signaturesOf(db, period),
    overrides: await overridesOf(db, period),
    days: days.map(({ day, messages, passed, quarantined, rejected }) => ({
      ...{ date: day, messages, passed, failed: messages - passed, quarantined, rejected },
    })),
    reporters: await reportersOfSource(db, period),
    test: await testOfSource(db, row),
  };
}

export async function presentAdvice(db: Db, { id, name }: DomainRow, advice: StoredAdvice) {
  const { state, summary, current, next, ready, since, reporters, messages, missing } = advice;
  const named = new Set(advice.wouldBeRejected.map((source) => source.id));
  const affected = await withAddresses(
    db,
    advice.sources.filter(({ row }) => named.has(row.id)),
  );
  return {
    object: 'dmarc_advice' as const,
    domain_id: id,
    ...{ state, summary, current, next, ready, since },
    ...{ covered_days: advice.coveredDays, reporters, messages },
    would_be_rejected: affected.map(presentSource),
    missing,
    record:
      advice.record === null
        ? null
        : { type: 'TXT' as const, name: `_dmarc.${name}`, value: advice.record },
  };
}
