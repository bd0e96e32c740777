/** What Google Postmaster Tools publishes about a domain: spam rate, authentication, TLS, errors, requirements. */

import type { ComponentChildren } from 'preact';
import { daysOfPeriod } from '../../feedback/sums.ts';
import { stateOf } from '../../figures/figure.ts';
import { GMAIL_FIGURES, PASS_RATES, SPAM_LIMITS, SPAM_RATE } from '../../figures/gmail.ts';
import { formatCount, rateInWords } from '../../lib/format/numbers.ts';
import type { ComplianceRequirement } from '../../picture/schema.ts';
import type { NoData as NoDataReason } from '../../receivers/no-data.ts';
import type { ReceiverDay } from '../../receivers/schema.ts';
import type { DayEvent } from '../../report/day-chart.ts';
import { ScrollArea } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { DayFigure } from '../frame/day-figure.tsx';
import { Day } from '../frame/times.tsx';
import { Compliance } from './compliance.tsx';
import { type DayColumn, DayTable, orNothing } from './day-table.tsx';
import { DeliveryErrors } from './delivery-errors.tsx';
import { NoData } from './no-data.tsx';
import { SpamChart } from './spam-chart.tsx';

export interface GmailProps {
  /** Days without data are left out. */
  days: ReceiverDay[];
  from: string;
  to: string;
  /** Why there is nothing, or nothing new; null if all is well. */
  noData: NoDataReason | null;
  requirements: ComplianceRequirement[];
  events: DayEvent[];
  /** Links to other periods. */
  periods: ComponentChildren;
}

export function Gmail(props: GmailProps) {
  const { days, noData, requirements, periods } = props;
  const hasDays = days.length > 0;
  return (
    <Card title="Gmail" id="gmail" actions={noData?.code !== 'not_set_up' && periods}>
      {noData && <NoData reason={noData} />}
      {hasDays && (
        <>
          <SpamRate {...props} />
          <div class="gmail-part">
            <h3>Authentication and TLS</h3>
            <PassRates {...props} />
          </div>
          <div class="gmail-part">
            <h3>Delivery errors</h3>
            <DeliveryErrors {...props} />
          </div>
        </>
      )}
      {requirements.length > 0 && (
        <div class="gmail-part">
          <h3>Google’s requirements</h3>
          <Compliance requirements={requirements} />
        </div>
      )}
      <DayTable
        label="Figures of Gmail by day"
        rows={days.toReversed()}
        keyOf={({ date }) => date}
        columns={DAY_COLUMNS}
      />
      {(hasDays || requirements.length > 0) && (
        <p class="small muted">
          Published by Google Postmaster Tools, one to two days late, and only for days with enough
          mail to Gmail.
        </p>
      )}
    </Card>
  );
}

const DAY_COLUMNS = GMAIL_FIGURES.map(
  ({ name, title, unit }): DayColumn<ReceiverDay> => ({
    title,
    number: true,
    cell: (day) => orNothing(day[name], unit === 'share' ? rateInWords : formatCount),
  }),
);

function SpamRate({ days, from, to, events }: GmailProps) {
  const known = days.flatMap(({ date, [SPAM_RATE.name]: rate }) =>
    rate === null ? [] : [{ date, rate }],
  );
  const latest = known.at(-1);
  const length = daysOfPeriod({ from, to });
  if (!latest)
    return (
      <div>
        <h3>{SPAM_RATE.title}</h3>
        <p class="muted">
          Google published no spam rate in this period. It does so only for days with enough mail.
        </p>
      </div>
    );
  const worst = known.reduce((a, b) => (b.rate > a.rate ? b : a));
  return (
    <div class="stack">
      <h3>{SPAM_RATE.title}</h3>
      <p>
        <span class={`rate-figure ${stateOf(latest.rate, SPAM_LIMITS)}`}>
          {rateInWords(latest.rate)}
        </span>{' '}
        on <Day day={latest.date} />
        {worst !== latest && (
          <>
            {`; highest ${rateInWords(worst.rate)} on `}
            <Day day={worst.date} />
          </>
        )}
      </p>
      <p class="small muted">
        {`Of the mail that reached inboxes. ${formatCount(known.length)} of ${formatCount(length, 'day')} have data.`}
      </p>
      <SpamChart rates={known} from={from} to={to} events={events} />
    </div>
  );
}

/** A scale from here shows differences between rates that are all high. */
const ZOOM = 0.9;

function PassRates({ days, from, to }: GmailProps) {
  return (
    <ScrollArea label="Authentication and TLS">
      <table class="compact pass-rates">
        <thead>
          <tr>
            <th scope="col">Mail that passed</th>
            <th scope="col" class="number">
              Latest
            </th>
            <th scope="col" class="number">
              Lowest
            </th>
            <th scope="col" class="wide desktop spark-cell">
              <Day day={from} /> to <Day day={to} />
            </th>
          </tr>
        </thead>
        <tbody>
          {PASS_RATES.map(({ name: key, title, word }) => {
            const known = days.filter((day) => day[key] !== null);
            const latest = known.at(-1);
            if (!latest)
              return (
                <tr key={key}>
                  <th scope="row">{title}</th>
                  <td colSpan={3} class="muted">
                    No data in this period
                  </td>
                </tr>
              );
            const lowest = known.reduce((a, b) => (b[key]! < a[key]! ? b : a));
            return (
              <tr key={key}>
                <th scope="row">{title}</th>
                <td class="number">
                  <Figure share={latest[key]!} day={latest.date} />
                </td>
                <td class="number">
                  <Figure share={lowest[key]!} day={lowest.date} />
                </td>
                <td class="wide desktop">
                  <DayFigure
                    id={key}
                    size="small"
                    title={`${title}, share of mail that was ${word}, by day`}
                    from={from}
                    to={to}
                    days={known}
                    read={(day) => ({ value: day[key]! })}
                    min={lowest[key]! >= ZOOM ? ZOOM : 0}
                    max={1}
                    isShare
                    format={rateInWords}
                    emptyText="no data"
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </ScrollArea>
  );
}

const Figure = ({ share, day }: { share: number; day: string }) => (
  <>
    {rateInWords(share)}
    <div class="small muted">
      <Day day={day} />
    </div>
  </>
);
