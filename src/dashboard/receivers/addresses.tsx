/** Sending addresses at Outlook, worst first: filter results by day, complaints, and whether they are blocked. */

import { formatCount, rateInWords } from '../../lib/format/numbers.ts';
import type { SendingAddresses } from '../../receivers/schema.ts';
import { StateMark } from '../../ui/components.tsx';
import { DayFigure } from '../frame/day-figure.tsx';
import { DataTable } from '../frame/table.tsx';
import { Day as DayInWords, Time } from '../frame/times.tsx';
import { type DayColumn, DayTable } from './day-table.tsx';

type SendingAddress = SendingAddresses['addresses'][number];
type Day = SendingAddress['days'][number];

const FILTER_RESULTS = {
  GREEN: { level: 1, state: 'pass', word: 'Green', meaning: 'under 10% spam' },
  YELLOW: { level: 2, state: 'warn', word: 'Yellow', meaning: '10–90% spam' },
  RED: { level: 3, state: 'fail', word: 'Red', meaning: 'over 90% spam' },
} as const;

const resultOf = ({ filter_result }: Day) =>
  filter_result === null ? null : FILTER_RESULTS[filter_result];
const levelOf = (day: Day): number => resultOf(day)?.level ?? 0;

/** A day can have several periods: the worst of the latest day. */
const latestOf = ([latest, ...others]: Day[]): Day | undefined =>
  latest &&
  others
    .filter(({ date }) => date === latest.date)
    .reduce((worst, each) => (levelOf(each) > levelOf(worst) ? each : worst), latest);

/** Blocked first, then the worst latest result. */
function badness({ blocked, days }: SendingAddress): number {
  const latest = latestOf(days);
  return (blocked ? 10 : 0) + (latest ? levelOf(latest) : 0);
}

interface AddressesProps {
  addresses: SendingAddress[];
  from: string;
  to: string;
}

const MAX_ADDRESSES = 50;

export function Addresses({ addresses, from, to }: AddressesProps) {
  const shown = addresses.toSorted((a, b) => badness(b) - badness(a)).slice(0, MAX_ADDRESSES);
  return (
    <>
      <div class="stacking">
        <DataTable
          label="Sending addresses at Outlook"
          rows={shown}
          keyOf={({ address }) => address}
          columns={[
            {
              title: 'Address',
              cell: ({ address }) => <code class="nowrap">{address}</code>,
            },
            { title: 'State', cell: (address) => <AddressState {...address} /> },
            {
              title: 'Filter result by day',
              wide: 'desktop',
              cell: ({ address, days }) => (
                <ResultSpark address={address} days={days} from={from} to={to} />
              ),
            },
            {
              title: 'Complaints',
              number: true,
              cell: ({ days }) => (
                <>
                  <span class="stacked-title">Complaints: </span>
                  {complaintsInWords(days)}
                </>
              ),
            },
            {
              title: 'Recipients',
              number: true,
              wide: true,
              cell: ({ days }) =>
                formatCount(days.reduce((sum, { recipients }) => sum + recipients, 0)),
            },
          ]}
        />
      </div>
      {addresses.length > shown.length && (
        <p class="small muted">
          {`${formatCount(addresses.length - shown.length)} more addresses are not shown. The API lists all.`}
        </p>
      )}
      <p class="small muted">
        From <DayInWords day={from} /> to <DayInWords day={to} />. Green: Outlook filters under 10%
        of the mail as spam. Yellow: 10% to 90%. Red: over 90%. Microsoft leaves out days with fewer
        than 100 messages.
      </p>
    </>
  );
}

function AddressState({ blocked, details, since, days }: SendingAddress) {
  const latest = latestOf(days);
  const result = latest ? resultOf(latest) : null;
  return (
    <>
      {blocked ? (
        <>
          <StateMark state="fail" word="Blocked" />
          <span class="row-note small">
            <bdi>{details}</bdi>
          </span>
          {since && (
            <span class="row-note small">
              Since <Time at={since} day />
            </span>
          )}
        </>
      ) : result === null ? (
        <StateMark state="unknown" word="No data" />
      ) : (
        <StateMark state={result.state} word={result.word} />
      )}
      {latest && (
        <span class="row-note small">
          {blocked && result && `${result.word} on `}
          <DayInWords day={latest.date} />
        </span>
      )}
    </>
  );
}

/** Taller is worse, so that the color is not the only sign. */
function ResultSpark({
  address,
  days,
  ...period
}: { address: string; days: Day[] } & Omit<AddressesProps, 'addresses'>) {
  const worst = new Map<string, Day>();
  for (const day of days)
    if (levelOf(day) > (worst.has(day.date) ? levelOf(worst.get(day.date)!) : 0))
      worst.set(day.date, day);
  return (
    <DayFigure
      id={`results-${address}`}
      size="small"
      title={`Filter results of ${address} by day. Taller bars are worse.`}
      {...period}
      days={[...worst.values()]}
      read={(day) => {
        const { level, state, word, meaning } = resultOf(day)!;
        return { value: level, state, text: `${word.toLowerCase()} (${meaning})` };
      }}
      max={3}
      format={(level) => RESULT_WORDS[level - 1] ?? ''}
      emptyText="no data"
    />
  );
}

const RESULT_WORDS = Object.values(FILTER_RESULTS).map(({ word }) => word);

/** The highest rate: it is what Microsoft acts on. */
function complaintsInWords(days: Day[]) {
  const known = days.filter(({ complaint_rate }) => complaint_rate !== null);
  if (known.length === 0) return '–';
  const worst = known.reduce((a, b) => (b.complaint_rate! > a.complaint_rate! ? b : a));
  return (
    <>
      {complaintRate(worst)}
      <div class="small muted">
        <DayInWords day={worst.date} />
      </div>
    </>
  );
}

const complaintRate = ({ complaint_rate, complaint_rate_is_below }: Day): string =>
  complaint_rate === null
    ? '–'
    : `${complaint_rate_is_below ? '<' : ''}${rateInWords(complaint_rate)}`;

const MAX_DAYS_IN_TABLE = 500;

const DAY_COLUMNS: DayColumn<Day & { address: string }>[] = [
  { title: 'Address', cell: ({ address }) => <code>{address}</code> },
  { title: 'Result', cell: (day) => resultOf(day)?.word ?? '–' },
  { title: 'Complaints', number: true, cell: complaintRate },
  { title: 'Recipients', number: true, cell: ({ recipients }) => formatCount(recipients) },
];

export const AddressDays = ({ addresses }: Pick<AddressesProps, 'addresses'>) => (
  <DayTable
    label="Sending addresses by day"
    rows={addresses
      .flatMap(({ address, days }) => days.map((day) => ({ ...day, address })))
      .sort((a, b) => (a.date < b.date ? 1 : -1))
      .slice(0, MAX_DAYS_IN_TABLE)}
    keyOf={({ receiver_id, address, started_at }) => `${receiver_id} ${address} ${started_at}`}
    columns={DAY_COLUMNS}
  />
);
