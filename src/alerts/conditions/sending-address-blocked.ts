/** `sending_address_blocked`: Outlook blocks an address that mail is sent from, or treats most of its mail as spam. */

import { truncate } from '../../lib/format/plain-text.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { idAt } from '../../lib/ids.ts';
import { subjectOf } from '../../receivers/blocks.ts';
import type { FilterResult } from '../../receivers/observations.ts';
import type { ReceiverStatus } from '../../receivers/schema.ts';
import { type Condition, type IncidentEnd, NO, UNKNOWN } from './condition.ts';
import {
  firstDay,
  keptSince,
  MAX_PAST_ROWS,
  type PastAnswer,
  type PastReading,
  timesOf,
} from './history.ts';
import { accountsAt, findAddresses } from './of-receivers.ts';

interface Value {
  /** Null if it is not known. */
  blocked: boolean | null;
  /** What Microsoft says about the block. */
  details: string | null;
  filter_result: FilterResult | null;
  /** The day of the filter result. */
  day: string | null;
  since: string | null;
}

export const sendingAddressBlocked: Condition<'sending_address', Value> = {
  observes: ['sending_address'],
  threshold: null,
  isOfNoDomain: true,

  evaluate({ blocked, details, filterResult, day, since }) {
    if (blocked === true || filterResult === 'RED')
      return {
        answer: 'yes',
        value: { blocked, details, filter_result: filterResult, day, since },
      };
    return blocked === false || filterResult !== null ? NO : UNKNOWN;
  },
  /** What opened the incident must be known to be over: a good filter result says nothing about a block. */
  resolutionOf({ value }, { blocked, filterResult }): IncidentEnd {
    const isKnown =
      (value.blocked !== true || blocked === false) &&
      (value.filter_result !== 'RED' || filterResult !== null);
    return isKnown ? 'condition_ended' : 'no_longer_watched';
  },
  findWatched: findAddresses,
  history: {
    missing: 'no data from Microsoft SNDS',
    async timesSince(reading) {
      const accounts = accountsAt(reading.config, 'microsoft_snds');
      if (accounts.length === 0) return null;
      const known = [...(await ratings(reading, accounts)), ...(await blocks(reading, accounts))];
      return timesOf([...known, ...(await changes(reading))], reading);
    },
  },

  choice: {
    text: 'Outlook blocks a sending address',
    hint: 'Microsoft SNDS says that an address or a range is blocked, or that its filter result is red: over 90% spam.',
  },
  alertsWhen: () =>
    'Outlook blocks an address that you send from, or treats over 90% of its mail as spam',
  documentation:
    'Microsoft SNDS says that an address or a range is blocked, or that its filter result is RED: over 90% of the mail is spam',
  shortText: 'Outlook blocks the address or treats its mail as spam',
  openedText({ subject, value: { blocked, details, day } }) {
    if (blocked === true)
      return {
        title: `Outlook blocks ${subject}`,
        lead: `Microsoft rejects mail from ${subject} to Outlook.com, Hotmail, Live and MSN addresses.${quote(details)}`,
      };
    return {
      title: `Outlook treats most mail from ${subject} as spam`,
      lead: `The filter result of ${subject} ${day === null ? '' : `on ${dayInWords(day)} `}is red: Microsoft classified over 90% of its messages as spam.`,
    };
  },
  resolvedTitle: ({ subject, value: { blocked } }) =>
    blocked === true
      ? `Outlook no longer blocks ${subject}`
      : `Outlook no longer treats most mail from ${subject} as spam`,
  unwatchedText: ({ subject }) => ({
    title: `Microsoft no longer says how it treats ${subject}`,
    lead: 'The incident is resolved because Microsoft no longer lists the address, has published nothing about it for a week, or the account was removed. The problem may persist.',
  }),
  measurements: ({ value: { blocked, details, filter_result, day } }) => [
    ['Blocked', blocked === null ? 'Not known' : blocked ? 'Yes' : 'No'],
    ...(details ? [['Microsoft says', truncate(details, MAX_LENGTH)] as [string, string]] : []),
    ...(filter_result !== null && day !== null
      ? [['Filter result', `${RESULTS[filter_result]} on ${dayInWords(day)}`] as [string, string]]
      : []),
  ],
  isRelevantFix: () => false,
  fixes: ({ value: { blocked } }) => [
    { title: '', text: STOP_THE_CAUSE, record: null },
    ...(blocked === true
      ? [
          {
            title: '',
            text: 'Then ask Microsoft to remove the block. Its SMTP replies link to the form.',
            record: null,
          },
        ]
      : []),
  ],
  subjectLabel: 'Address',
  page: () => ({ label: 'View sending addresses', path: '/receivers#addresses' }),
  sampleValue: () => ({
    blocked: true,
    filter_result: 'RED',
    day: '2026-11-21',
    details: 'Blocked due to user complaints or other evidence of spamming',
    since: '2026-11-21T06:10:00.000Z',
  }),
};

/** How Microsoft rated each address by day. */
async function ratings({ db, ...reading }: PastReading, accounts: string[]): Promise<PastAnswer[]> {
  const rows = await db
    .selectFrom('receiver_addresses')
    .select(['address', 'day', 'filter_result'])
    .distinct()
    .where('day', '>=', firstDay({ db, ...reading }))
    .where('receiver_id', 'in', accounts)
    .where('filter_result', 'is not', null)
    .orderBy('day', 'desc')
    .limit(MAX_PAST_ROWS)
    .execute();
  // A day can have several periods: the worst decides.
  return [...Map.groupBy(rows, ({ address, day }) => `${address} ${day}`).values()].map((day) => ({
    at: day[0]!.day,
    subject: day[0]!.address,
    answer: day.some(({ filter_result }) => filter_result === 'RED') ? 'yes' : 'no',
  }));
}

/** What Microsoft says about blocks now. */
async function blocks({ db, since }: PastReading, accounts: string[]): Promise<PastAnswer[]> {
  const rows = await db
    .selectFrom('receiver_blocks')
    .select(['first_address', 'last_address', 'blocked', 'since'])
    .where('receiver_id', 'in', accounts)
    .limit(MAX_PAST_ROWS)
    .execute();
  return rows.map(({ blocked, since: at, ...range }) => ({
    at: at < since ? since : at,
    subject: subjectOf(range),
    answer: blocked === 1 ? 'yes' : 'no',
  }));
}

/** The blocks of the period, and their ends. */
async function changes(reading: PastReading): Promise<PastAnswer[]> {
  const rows = await reading.db
    .selectFrom('events')
    .select(['created_at', 'data'])
    .where('type', '=', 'receiver.status_changed')
    .where('id', '>=', idAt('evt', Date.parse(keptSince(reading))))
    .limit(MAX_PAST_ROWS)
    .execute();
  return rows.flatMap(({ created_at: at, data }) => {
    const { address, status } = JSON.parse(data) as ReceiverStatus;
    const answer = status === 'BLOCKED' ? 'yes' : status === 'NOT_BLOCKED' ? 'no' : null;
    return address === null || answer === null ? [] : [{ at, subject: address, answer }];
  });
}

const MAX_LENGTH = 200;

const RESULTS: Record<FilterResult, string> = {
  GREEN: 'Green (under 10% spam)',
  YELLOW: 'Yellow (10% to 90% spam)',
  RED: 'Red (over 90% spam)',
};

const quote = (details: string | null): string =>
  details ? ` It says: “${truncate(details, MAX_LENGTH).replace(/\.$/, '')}”.` : '';

const STOP_THE_CAUSE =
  'Find out what the address sends: look for mailings with many complaints, addresses without consent, and compromised accounts. Fix that first.';
