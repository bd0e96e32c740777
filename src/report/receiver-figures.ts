/** What Google and Microsoft publish about the mail of a period: the figures and their sentences. */

import { stateOf } from '../figures/figure.ts';
import { ERROR_RATES, type ErrorRate, SPAM_LIMITS, SPAM_RATE } from '../figures/gmail.ts';
import { formatCount, rateInWords } from '../lib/format/numbers.ts';
import { truncate } from '../lib/format/plain-text.ts';
import { dateIn, dayInWords } from '../lib/format/times.ts';
import { explainError } from './delivery-errors.ts';
import type { FigureRow } from './feedback-figures.ts';
import type { DeliveryErrors, GmailFigures, OutlookFigures, ReceiverFigures } from './summary.ts';

/** How many domains and addresses are in the figures. */
export const MAX_FIGURE_DOMAINS = 10;
export const MAX_FIGURE_ADDRESSES = 10;

export const PUBLISHED_TITLE = 'What Google and Microsoft publish';

const highestSpam = (figures: GmailFigures): number => figures[SPAM_RATE.name]?.highest.rate ?? 0;

/** Compares: negative if the first is worse. */
export function worstFirst(a: GmailFigures, b: GmailFigures): number {
  return (
    severityOf(b) - severityOf(a) ||
    highestSpam(b) - highestSpam(a) ||
    (b.rejected?.rate ?? 0) - (a.rejected?.rate ?? 0) ||
    (a.domain < b.domain ? -1 : 1)
  );
}

function severityOf(figures: GmailFigures): number {
  const state = stateOf(highestSpam(figures), SPAM_LIMITS);
  if (state === 'fail') return 3;
  if ((figures.requirements?.needs_work.length ?? 0) > 0) return 2;
  return state === 'warn' ? 1 : 0;
}

/** The rows that all media show. What is not known is grey or has no row. */
export const publishedRows = ({ gmail, outlook }: ReceiverFigures): FigureRow[] => [
  ...gmail.domains.flatMap((figures) => gmailRows(figures, gmail.total > 1)),
  ...(outlook === null ? [] : outlookRows(outlook)),
];

const MAX_DOMAIN_LENGTH = 60;

/** The domain is named if there are several. */
function gmailRows(figures: GmailFigures, hasSeveral: boolean): FigureRow[] {
  const suffix = hasSeveral ? ` (${truncate(figures.domain, MAX_DOMAIN_LENGTH)})` : '';
  return [
    spamRow(figures),
    ...requirementRow(figures),
    ...ERROR_RATES.flatMap((rate) => errorRow(rate, figures[rate.ofPeriod])),
  ].map((row) => ({ ...row, name: `${row.name}${suffix}` }));
}

type SpamRate = NonNullable<GmailFigures[typeof SPAM_RATE.name]>;

function spamRow(figures: GmailFigures): FigureRow {
  const name = `Gmail ${SPAM_RATE.title.toLowerCase()}`;
  const spam = figures[SPAM_RATE.name];
  if (spam === null)
    return {
      name,
      value: 'No data',
      state: 'unknown',
      basis: 'Google publishes a rate only for days with enough mail to Gmail',
    };
  const { highest } = spam;
  return {
    name,
    value: rateInWords(highest.rate),
    state: stateOf(highest.rate, SPAM_LIMITS),
    basis: `On ${dayInWords(highest.day)}, ${rankInWords(spam)}`,
  };
}

/** How the highest day compares to the others. */
function rankInWords({ days, latest, highest }: SpamRate): string {
  if (days === 1) return 'the only day with data';
  return latest.day === highest.day
    ? `the latest and highest of ${formatCount(days)} days with data`
    : `the highest of ${formatCount(days)} days with data; ${rateInWords(latest.rate)} on ${dayInWords(latest.day)}`;
}

const MAX_NAMED = 3;

/** `a, b, c; 2 more`. */
function listOf(items: string[], total: number): string {
  const named = items.slice(0, MAX_NAMED);
  const rest = total - named.length;
  return [named.join('; '), ...(rest > 0 ? [`${formatCount(rest)} more`] : [])].join('; ');
}

function requirementRow({ requirements }: GmailFigures): FigureRow[] {
  if (requirements === null) return [];
  const { needs_work, checked_at } = requirements;
  const name = 'Gmail requirements to fix';
  if (needs_work.length === 0)
    return [{ name, value: 'None', state: 'pass', basis: `Read on ${dayOf(checked_at)}` }];
  const items = needs_work.map(({ name: requirement, since }) =>
    since === null ? requirement : `${requirement} since ${dayOf(since)}`,
  );
  return [
    {
      name,
      value: formatCount(needs_work.length),
      state: 'fail',
      basis: `${listOf(items, needs_work.length)}. Read on ${dayOf(checked_at)}`,
    },
  ];
}

const dayOf = (time: string): string => dayInWords(time.slice(0, 10));

function errorRow({ type, title, limits }: ErrorRate, errors: DeliveryErrors | null): FigureRow[] {
  if (errors === null) return [];
  const { day, rate, reason } = errors;
  const { name: cause } = explainError(type, reason ?? 'other');
  const why = cause === null ? '' : `, mostly because of ${cause}`;
  const state = stateOf(rate, limits);
  return [
    {
      name: `${title} by Gmail`,
      value: rateInWords(rate),
      // A low rate is not worth a mark: every sender has some.
      state: state === 'pass' ? null : state,
      basis: `On ${dayInWords(day)}, the highest day${why}`,
    },
  ];
}

function outlookRows({ days, addresses, spam, blocked }: OutlookFigures): FigureRow[] {
  const rows: FigureRow[] = [];
  if (blocked !== null)
    rows.push({
      name: 'Addresses that Outlook blocks',
      value: blocked.total === 0 ? 'None' : formatCount(blocked.total),
      state: blocked.total === 0 ? 'pass' : 'fail',
      basis: [
        ...(blocked.total === 0
          ? []
          : [listOf(blocked.addresses.map(blockInWords), blocked.total)]),
        `Read on ${dayOf(blocked.checked_at)}`,
      ].join('. '),
    });
  if (addresses > 0)
    rows.push({
      name: 'Addresses that Outlook treats as spam',
      value: spam.total === 0 ? 'None' : formatCount(spam.total),
      state: spam.total === 0 ? 'pass' : 'fail',
      basis:
        spam.total === 0
          ? `Of ${formatCount(addresses, 'address', 'addresses')} with data on ${formatCount(days, 'day')}`
          : listOf(spam.addresses.map(spamInWords), spam.total),
    });
  return rows;
}

const MAX_DETAILS_LENGTH = 100;

const blockInWords = ({
  address,
  details,
  since,
}: NonNullable<OutlookFigures['blocked']>['addresses'][number]): string =>
  `${address}, first seen on ${dayOf(since)}${details === '' ? '' : `: ${truncate(details, MAX_DETAILS_LENGTH).replace(/\.$/, '')}`}`;

const spamInWords = ({
  address,
  days,
  red_days,
}: OutlookFigures['spam']['addresses'][number]): string =>
  `${address}: over 90% spam on ${formatCount(red_days)} of ${formatCount(days, 'day')} with data`;

/** Follows the rows. */
export function publishedNote({ from, to, gmail }: ReceiverFigures): string {
  const days = [...new Set([from, to])].map((day) => dateIn(`${day}T00:00:00.000Z`, 'UTC'));
  const { total, domains } = gmail;
  const omitted =
    total > domains.length
      ? ` The ${domains.length} of ${formatCount(total, 'domain')} with the worst figures are listed.`
      : '';
  return `${days.join(' to ')}.${omitted} Google and Microsoft publish a day or two later, so the last days may be missing.`;
}
