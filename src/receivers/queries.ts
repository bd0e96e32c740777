/** What receivers publish: queries. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { ReceiverAccount } from '../config/receivers.ts';
import type { Days } from '../feedback/sums.ts';
import { type FeedbackLoop, GMAIL_FIGURES } from '../figures/gmail.ts';
import type { DeliveryErrors } from '../net/google-postmaster/client.ts';
import type { Db, Tx } from '../store/open.ts';
import type {
  ReceiverAddressRow,
  ReceiverBlockRow,
  ReceiverDayRow,
  ReceiverDomainRow,
  ReceiverRequirementRow,
  ReceiverRow,
} from '../store/tables.generated.ts';

/** All that Google may publish about a day. */
export const FIGURE_COLUMNS = [
  ...GMAIL_FIGURES.map(({ column }) => column),
  'errors' as const,
  'feedback_loops' as const,
];

/** One day of a domain at Google. What is null was not published. */
export interface GoogleDay extends Omit<ReceiverDayRow, 'errors' | 'feedback_loops' | 'name'> {
  errors: DeliveryErrors[] | null;
  feedback_loops: FeedbackLoop[] | null;
}

/** The days of a domain, oldest first. If several accounts show a figure, the one that was fetched last. */
export async function googleDays(
  db: Db | Tx,
  name: string,
  { from, to }: Days,
): Promise<GoogleDay[]> {
  const rows = await db
    .selectFrom('receiver_days')
    .selectAll()
    .where('name', '=', name)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day')
    .orderBy('fetched_at')
    .execute();
  const days = [...Map.groupBy(rows, ({ day }) => day).values()];
  return days.map((ofDay) => {
    const { name: _, errors, feedback_loops, ...day } = ofDay.reduce(withFigures);
    return {
      ...day,
      errors: errors === null ? null : JSON.parse(errors),
      feedback_loops: feedback_loops === null ? null : loopsOf(feedback_loops),
    };
  });
}

/** Before version 24, all were of this type. */
const loopsOf = (json: string): FeedbackLoop[] =>
  JSON.parse(json).map((loop: object) => ({ aggregation_key_type: 'FROM_HEADER', ...loop }));

/** What the later row has, and else what the earlier one has. */
const withFigures = (earlier: ReceiverDayRow, later: ReceiverDayRow): ReceiverDayRow => ({
  ...earlier,
  ...Object.fromEntries(Object.entries(later).filter(([, figure]) => figure !== null)),
});

/** The names of the configured accounts. What others said last is not how it is now. */
export const accountNames = ({ RECEIVERS }: Pick<Config, 'RECEIVERS'>): string[] =>
  RECEIVERS.map(({ name }) => name);

/**
 * What Google says about each requirement, in its order, to the configured accounts. If several show it, the one that
 * was read last.
 */
export async function requirementsOf(
  { db, config }: Pick<App, 'config'> & { db: Db | Tx },
  name: string,
): Promise<ReceiverRequirementRow[]> {
  const accounts = accountNames(config);
  if (accounts.length === 0) return [];
  const rows = await db
    .selectFrom('receiver_requirements')
    .selectAll()
    .where('receiver_id', 'in', accounts)
    .where('name', '=', name)
    .orderBy('checked_at')
    .execute();
  return [...new Map(rows.map((row) => [row.requirement, row])).values()];
}

/** The accounts at Google that show the domain. */
export const accessTo = (db: Db | Tx, name: string): Promise<ReceiverDomainRow[]> =>
  db
    .selectFrom('receiver_domains')
    .selectAll()
    .where('name', '=', name)
    .orderBy('receiver_id')
    .execute();

interface AddressPeriod extends Days {
  /** Normalized; absent: all. */
  addresses?: string[];
}

const daysOfAddresses = (db: Db | Tx, { from, to, addresses }: AddressPeriod) => {
  const query = db.selectFrom('receiver_addresses').where('day', '>=', from).where('day', '<=', to);
  return addresses ? query.where('address', 'in', addresses) : query;
};

/** What Microsoft publishes about addresses, newest days first. */
export async function addressDays(
  db: Db | Tx,
  period: AddressPeriod,
): Promise<ReceiverAddressRow[]> {
  if (period.addresses?.length === 0) return [];
  return daysOfAddresses(db, period)
    .selectAll()
    .orderBy('day', 'desc')
    .orderBy('address')
    .orderBy('started_at')
    .execute();
}

export async function hasAddressDays(db: Db | Tx, period: AddressPeriod): Promise<boolean> {
  if (period.addresses?.length === 0) return false;
  const row = await daysOfAddresses(db, period).select('day').limit(1).executeTakeFirst();
  return row !== undefined;
}

/** The addresses with activity, those with the most recipients first, and how many there are. */
export async function topAddresses(
  db: Db | Tx,
  period: AddressPeriod,
  limit: number,
): Promise<{ names: string[]; count: number }> {
  if (period.addresses?.length === 0) return { names: [], count: 0 };
  const query = daysOfAddresses(db, period);
  const rows = await query
    .select('address')
    .groupBy('address')
    .orderBy(({ fn }) => fn.sum('recipients'), 'desc')
    .orderBy('address')
    .limit(limit)
    .execute();
  const { count } = await query
    .select(({ fn }) => fn.count<number>('address').distinct().as('count'))
    .executeTakeFirstOrThrow();
  return { names: rows.map((row) => row.address), count: Number(count) };
}

/** All ranges of addresses about which Microsoft says to these accounts whether they are blocked. */
export async function addressBlocks(
  db: Db | Tx,
  accounts: readonly string[],
): Promise<ReceiverBlockRow[]> {
  if (accounts.length === 0) return [];
  return db
    .selectFrom('receiver_blocks')
    .selectAll()
    .where('receiver_id', 'in', accounts)
    .orderBy('first_address')
    .execute();
}

export interface ReceiverState {
  account: ReceiverAccount;
  /** Undefined before the first start. */
  row: ReceiverRow | undefined;
}

/** All configured accounts with their state, in the order of the configuration. */
export async function receiverStates({
  db,
  config,
}: Pick<App, 'config'> & { db: Db | Tx }): Promise<ReceiverState[]> {
  const accounts = config.RECEIVERS;
  if (accounts.length === 0) return [];
  const names = accounts.map(({ name }) => name);
  const rows = await db.selectFrom('receivers').selectAll().where('id', 'in', names).execute();
  return accounts.map((account) => ({ account, row: rows.find(({ id }) => id === account.name) }));
}
