/** The JSON of sources and of the advice. */

import type { Db } from '../../store/open.ts';
import type { DomainRow, FeedbackSourceRow } from '../../store/tables.generated.ts';
import type { Period } from '../sums.ts';
import type { StoredAdvice } from './advice-of.ts';
import { kindOf, type SourceMark } from './kind.ts';
import {
  addressesOf,
  daysOf,
  reportersOfSource,
  type SummedSource,
  signaturesOf,
  sourcesOf,
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

/** A source without messages in the period. */
async function silentSource(db: Db, row: FeedbackSourceRow): Promise<SummedSource> {
  const zero = {
    ...{ messages: 0, passed: 0, dkim: 0, spf: 0, quarantined: 0, rejected: 0, forwarded: 0 },
  };
  const addresses = await addressesOf(db, row.id);
  const days = addresses.flatMap(({ first_day, last_day }) => [first_day, last_day]).sort();
  return {
    ...{ row, ...zero, kind: kindOf(row.key, row.mark as SourceMark | null, zero) },
    ...{ addresses: addresses.length, firstDay: days[0] ?? '', lastDay: days.at(-1) ?? '' },
  };
}

export async function presentDetails(
  db: Db,
  row: FeedbackSourceRow,
  { domain, from, to }: Period,
): Promise<FeedbackSourceDetails> {
  const period = { source: row, from, to };
  const all = await sourcesOf(db, { domain, from, to });
  const summed = all.find((source) => source.row.id === row.id) ?? (await silentSource(db, row));
  const days = await daysOf(db, row.id, period);
  return {
    ...presentSource({ ...summed, row }),
    ...{ from, to },
    address_list: await addressesOf(db, row.id),
    signatures: await signaturesOf(db, period),
    days: days.map(({ day, messages, passed, quarantined, rejected }) => ({
      ...{ date: day, messages, passed, failed: messages - passed, quarantined, rejected },
    })),
    reporters: await reportersOfSource(db, period),
    test: await testOfSource(db, row),
  };
}

export function presentAdvice({ id, name }: DomainRow, advice: StoredAdvice) {
  const { state, summary, current, next, ready, since, reporters, messages, missing } = advice;
  const named = new Set(advice.wouldBeRejected.map((source) => source.id));
  return {
    object: 'dmarc_advice' as const,
    domain_id: id,
    ...{ state, summary, current, next, ready, since },
    ...{ covered_days: advice.coveredDays, reporters, messages },
    would_be_rejected: advice.sources.filter(({ row }) => named.has(row.id)).map(presentSource),
    missing,
    record:
      advice.record === null
        ? null
        : { type: 'TXT' as const, name: `_dmarc.${name}`, value: advice.record },
  };
}
