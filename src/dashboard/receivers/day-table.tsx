/** All that Google published, by day, folded. */

import type { ReceiverDay } from '../../receivers/schema.ts';
import { ScrollArea } from '../../report/html/components.tsx';
import { rateInWords } from '../../report/spam-rate.ts';
import { formatCount } from '../../report/summary.ts';
import { dayInWords } from '../../report/times.ts';

interface DayColumn {
  title: string;
  cell(day: ReceiverDay): string;
}

/** What is null was not published, which is not 0. */
const orNothing = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value);

const COLUMNS: DayColumn[] = [
  { title: 'Spam rate', cell: ({ spam_rate }) => orNothing(spam_rate, rateInWords) },
  { title: 'SPF', cell: ({ spf }) => orNothing(spf, rateInWords) },
  { title: 'DKIM', cell: ({ dkim }) => orNothing(dkim, rateInWords) },
  { title: 'DMARC', cell: ({ dmarc }) => orNothing(dmarc, rateInWords) },
  { title: 'TLS', cell: ({ tls }) => orNothing(tls, rateInWords) },
  { title: 'TLS messages', cell: ({ tls_messages }) => orNothing(tls_messages, formatCount) },
  { title: 'Rejected', cell: ({ reject_rate }) => orNothing(reject_rate, rateInWords) },
  { title: 'Deferred', cell: ({ temp_fail_rate }) => orNothing(temp_fail_rate, rateInWords) },
];

export const DayTable = ({ days }: { days: ReceiverDay[] }) => (
  <details class="figures-table">
    <summary>Show all days as a table</summary>
    <ScrollArea label="Figures of Gmail by day">
      <table class="compact day-table">
        <thead>
          <tr>
            <th scope="col">Day</th>
            {COLUMNS.map(({ title }) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => (
            <tr key={day.date}>
              <th scope="row">{dayInWords(day.date)}</th>
              {COLUMNS.map(({ title, cell }) => (
                <td key={title} class="number">
                  {cell(day)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  </details>
);
