/** Mail that Gmail rejected or deferred, by reason, with what to do about it. */

import { type ErrorRate, errorRateOf } from '../../figures/gmail.ts';
import { formatCount, rateInWords } from '../../lib/format/numbers.ts';
import { codeInWords } from '../../receivers/requirements.ts';
import type { ReceiverDay } from '../../receivers/schema.ts';
import { explainError } from '../../report/delivery-errors.ts';
import { DataTable } from '../frame/table.tsx';
import { Day } from '../frame/times.tsx';

interface ErrorSums {
  type: ErrorRate['type'];
  reason: string;
  /** Null if no day has a count. */
  count: number | null;
  /** The day with the highest rate; null if no day has a rate. */
  peak: { rate: number; date: string } | null;
}

export function DeliveryErrors({ days }: { days: ReceiverDay[] }) {
  if (days.every(({ errors }) => errors === null))
    return <p class="muted">Google published no delivery errors in this period.</p>;
  const sums = sumErrors(days);
  if (sums.length === 0) return <p>Gmail rejected and deferred no mail on the days with data.</p>;
  return (
    <div class="stacking">
      <DataTable
        label="Delivery errors by reason"
        rows={sums}
        keyOf={({ type, reason }) => `${type} ${reason}`}
        columns={[
          {
            title: 'Reason',
            cell: ({ type, reason }) => {
              const { name, fix } = explainError(type, reason);
              return (
                <>
                  <strong>{capitalized(name ?? codeInWords(reason.toUpperCase()))}</strong>
                  <span class="row-note small">{`${errorRateOf(type).title}. ${fix}`}</span>
                </>
              );
            },
          },
          {
            title: 'Messages',
            number: true,
            cell: ({ count }) => (
              <>
                <span class="stacked-title">Messages: </span>
                {count === null ? '–' : formatCount(count)}
              </>
            ),
          },
          {
            title: 'Highest rate',
            number: true,
            cell: ({ peak }) => (
              <>
                <span class="stacked-title">Highest rate: </span>
                {peak === null ? '–' : rateInWords(peak.rate)}
                {peak && (
                  <div class="small muted">
                    <Day day={peak.date} />
                  </div>
                )}
              </>
            ),
          },
        ]}
      />
    </div>
  );
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What rejects mail first, then what concerns most messages. Reasons without any error are left out. */
export function sumErrors(days: ReceiverDay[]): ErrorSums[] {
  const sums = new Map<string, ErrorSums>();
  for (const { date, errors } of days)
    for (const { type, reason, rate, count } of errors ?? []) {
      if ((rate ?? 0) === 0 && (count ?? 0) === 0) continue;
      const key = `${type} ${reason}`;
      const sum = sums.get(key) ?? { type, reason, count: null, peak: null };
      if (count !== null) sum.count = (sum.count ?? 0) + count;
      if (rate !== null && rate > (sum.peak?.rate ?? 0)) sum.peak = { rate, date };
      sums.set(key, sum);
    }
  const rank = ({ type }: ErrorSums) => (type === 'reject' ? 0 : 1);
  return [...sums.values()].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      (b.count ?? 0) - (a.count ?? 0) ||
      (b.peak?.rate ?? 0) - (a.peak?.rate ?? 0),
  );
}
