/** What Google and Microsoft publish about the days of a period: the figures of summaries and scheduled reports. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Days } from '../feedback/sums.ts';
import { valuesOf } from '../figures/figure.ts';
import { ERROR_RATES, type ErrorRate, SPAM_RATE } from '../figures/gmail.ts';
import type { DeliveryErrors as ErrorsByReason } from '../net/google-postmaster/client.ts';
import {
  MAX_FIGURE_ADDRESSES,
  MAX_FIGURE_DOMAINS,
  worstFirst,
} from '../report/receiver-figures.ts';
import type {
  DayRate,
  DeliveryErrors,
  GmailFigures,
  OutlookFigures,
  ReceiverFigures,
} from '../report/summary.ts';
import { type Db, inSnapshot, type Tx } from '../store/open.ts';
import { blockFinder, subjectOf } from './blocks.ts';
import { addressBlocks } from './queries.ts';
import { requirementName } from './requirements.ts';

/** For this many domains at a time, so that no query takes long. */
const BATCH_SIZE = 50;

interface Scope {
  /** IDs; null for all domains. */
  domains: string[] | null;
  /** The addresses that send for these domains; null for all. */
  addresses: string[] | null;
  /** The configured ones. What others said last about requirements and blocks is not how it is now. */
  accounts: readonly string[];
}

/** null if nothing was published about these days. */
export async function receiverFigures(
  db: Db | Tx,
  { from, to, domains, addresses, accounts }: Days & Scope,
): Promise<ReceiverFigures | null> {
  return inSnapshot(db, async (tx) => {
    const days = { from, to };
    const published = await publishedDomains(tx, days, { domains, accounts });
    const gmail: GmailFigures[] = [];
    for (let start = 0; start < published.length; start += BATCH_SIZE) {
      if (start > 0) await nextTurn();
      gmail.push(
        ...(await gmailOf(tx, published.slice(start, start + BATCH_SIZE), days, accounts)),
      );
    }
    const outlook = await outlookOf(tx, days, { addresses, accounts });
    if (gmail.length === 0 && outlook === null) return null;
    const listed = gmail.toSorted(worstFirst).slice(0, MAX_FIGURE_DOMAINS);
    for (const figures of listed)
      for (const errors of ERROR_RATES)
        figures[errors.ofPeriod] = await withReason(tx, figures, errors);
    return { ...days, gmail: { total: gmail.length, domains: listed }, outlook };
  });
}

// Google.

interface PublishedDomain {
  id: string;
  name: string;
}

async function publishedDomains(
  tx: Tx,
  { from, to }: Days,
  { domains, accounts }: Pick<Scope, 'domains' | 'accounts'>,
): Promise<PublishedDomain[]> {
  if (domains?.length === 0) return [];
  let query = tx
    .selectFrom('domains')
    .select(['id', 'name'])
    .where(({ or, exists, selectFrom }) =>
      or([
        exists(
          selectFrom('receiver_days as days')
            .select('days.day')
            .whereRef('days.name', '=', 'domains.name')
            .where('days.day', '>=', from)
            .where('days.day', '<=', to),
        ),
        exists(
          selectFrom('receiver_requirements as requirements')
            .select('requirements.requirement')
            .whereRef('requirements.name', '=', 'domains.name')
            .where('requirements.receiver_id', 'in', asked(accounts))
            .where('requirements.checked_at', '>=', from),
        ),
      ]),
    );
  if (domains !== null) query = query.where('id', 'in', domains);
  return query.orderBy('id').execute();
}

/** PostgreSQL allows no empty list. */
const asked = (accounts: readonly string[]): readonly string[] =>
  accounts.length === 0 ? [''] : accounts;

async function gmailOf(
  tx: Tx,
  domains: PublishedDomain[],
  days: Days,
  accounts: readonly string[],
): Promise<GmailFigures[]> {
  const names = domains.map(({ name }) => name);
  const rates = Map.groupBy(await rateRows(tx, names, days), ({ name }) => name);
  const requirements = await statusesOf(tx, names, days, accounts);
  return domains.map(({ id, name }) => {
    const rows = rates.get(name) ?? [];
    const spam = ratesIn(rows, SPAM_RATE.column);
    return {
      domain_id: id,
      domain: name,
      [SPAM_RATE.name]:
        spam.length === 0
          ? null
          : { days: spam.length, latest: spam.at(-1)!, highest: highestOf(spam)! },
      ...valuesOf(ERROR_RATES, 'ofPeriod', ({ column }) => errorsIn(rows, column)),
      requirements: requirements.get(name) ?? null,
    };
  });
}

type Rates = Awaited<ReturnType<typeof rateRows>>[number];
const RATES = [SPAM_RATE, ...ERROR_RATES].map(({ column }) => column);
type RateColumn = (typeof RATES)[number];

const rateRows = (tx: Tx, names: string[], { from, to }: Days) =>
  tx
    .selectFrom('receiver_days')
    .select(['name', 'day', ...RATES])
    .where('name', 'in', names)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day')
    .orderBy('fetched_at')
    .execute();

/** Oldest first. If several accounts show a rate of a day, the one that was fetched last. */
function ratesIn(rows: Rates[], column: RateColumn): DayRate[] {
  const known = rows.flatMap(({ day, [column]: rate }) => (rate === null ? [] : [{ day, rate }]));
  return [...new Map(known.map((each) => [each.day, each])).values()];
}

/** The latest of the days with the highest rate. */
const highestOf = (rates: DayRate[]): DayRate | null =>
  rates.reduce<DayRate | null>(
    (highest, each) => (highest === null || each.rate >= highest.rate ? each : highest),
    null,
  );

function errorsIn(rows: Rates[], column: RateColumn): DeliveryErrors | null {
  const highest = highestOf(ratesIn(rows, column));
  return highest === null || highest.rate === 0 ? null : { ...highest, reason: null };
}

/** Only of the domains that are listed: the reasons are long texts. */
async function withReason(
  tx: Tx,
  { domain, ...figures }: GmailFigures,
  { type, ofPeriod }: ErrorRate,
): Promise<DeliveryErrors | null> {
  const found = figures[ofPeriod];
  if (found === null) return null;
  const row = await tx
    .selectFrom('receiver_days')
    .select('errors')
    .where('name', '=', domain)
    .where('day', '=', found.day)
    .orderBy('fetched_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  const errors: ErrorsByReason[] = JSON.parse(row?.errors ?? '[]');
  const [first] = errors
    .filter((error) => error.type === type && (error.rate ?? error.count ?? 0) > 0)
    .toSorted((a, b) => (b.rate ?? 0) - (a.rate ?? 0) || (b.count ?? 0) - (a.count ?? 0));
  return { ...found, reason: first?.reason ?? null };
}

/** By domain. Statuses that were not read since the first day are not known for the period. */
async function statusesOf(tx: Tx, names: string[], { from }: Days, accounts: readonly string[]) {
  const rows = await tx
    .selectFrom('receiver_requirements')
    .select(['name', 'requirement', 'status', 'since', 'previous', 'checked_at'])
    .where('name', 'in', names)
    .where('checked_at', '>=', from)
    // Other statuses tell neither.
    .where('status', 'in', ['COMPLIANT', 'NEEDS_WORK'])
    .where('receiver_id', 'in', asked(accounts))
    .orderBy('checked_at')
    .execute();
  const latest = new Map(rows.map((row) => [`${row.name} ${row.requirement}`, row]));
  const byName = Map.groupBy(latest.values(), ({ name }) => name);
  return new Map(
    [...byName].map(([name, statuses]) => [
      name,
      {
        checked_at: statuses.at(-1)!.checked_at,
        needs_work: statuses
          .filter(({ status }) => status === 'NEEDS_WORK')
          .map(({ requirement, since, previous }) => ({
            requirement,
            name: requirementName(requirement),
            since: previous === null ? null : since,
          }))
          .toSorted((a, b) => (a.requirement < b.requirement ? -1 : 1)),
      },
    ]),
  );
}

// Microsoft.

async function outlookOf(
  tx: Tx,
  days: Days,
  { addresses, accounts }: Pick<Scope, 'addresses' | 'accounts'>,
): Promise<OutlookFigures | null> {
  if (addresses?.length === 0) return null;
  const blocked = await blockedIn(tx, days, { addresses, accounts });
  const found = await addressesIn(tx, days, addresses);
  if (found.length === 0 && blocked === null) return null;
  const red = found.filter(({ red_days }) => red_days > 0);
  return {
    days: await daysWithData(tx, days, addresses),
    addresses: found.length,
    spam: {
      total: red.length,
      addresses: red
        .toSorted((a, b) => b.red_days - a.red_days || (a.address < b.address ? -1 : 1))
        .slice(0, MAX_FIGURE_ADDRESSES),
    },
    blocked,
  };
}

const addressRows = (tx: Tx, { from, to }: Days, addresses: string[] | null) =>
  tx
    .selectFrom('receiver_addresses')
    .where('day', '>=', from)
    .where('day', '<=', to)
    .$if(addresses !== null, (query) => query.where('address', 'in', addresses!));

async function addressesIn(tx: Tx, days: Days, addresses: string[] | null) {
  const rows = await addressRows(tx, days, addresses)
    .select('address')
    .select(({ fn, eb }) => [
      fn.count('day').distinct().as('days'),
      fn
        .count(eb.case().when('filter_result', '=', 'RED').then(eb.ref('day')).end())
        .distinct()
        .as('red_days'),
    ])
    .groupBy('address')
    .execute();
  return rows.map(({ address, days: all, red_days }) => ({
    address,
    days: Number(all),
    red_days: Number(red_days),
  }));
}

async function daysWithData(tx: Tx, days: Days, addresses: string[] | null): Promise<number> {
  const { count } = await addressRows(tx, days, addresses)
    .select(({ fn }) => fn.count('day').distinct().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** null if nobody asked since the first day. */
async function blockedIn(
  tx: Tx,
  { from }: Days,
  { addresses, accounts }: Pick<Scope, 'addresses' | 'accounts'>,
): Promise<OutlookFigures['blocked']> {
  const all = (await addressBlocks(tx, accounts)).filter(({ checked_at }) => checked_at >= from);
  const rows = all.filter((row) => {
    const find = blockFinder([row]);
    return addresses?.some((address) => find(address) !== null) ?? true;
  });
  if (rows.length === 0) return null;
  const blocked = rows.filter((row) => row.blocked === 1);
  return {
    checked_at: rows
      .map(({ checked_at }) => checked_at)
      .toSorted()
      .at(-1)!,
    total: blocked.length,
    addresses: blocked
      .slice(0, MAX_FIGURE_ADDRESSES)
      .map(({ first_address, last_address, since, details }) => ({
        address: subjectOf({ first_address, last_address }),
        since,
        details,
      })),
  };
}
