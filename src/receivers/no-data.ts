/** Why there are no figures of a receiver: what is unknown must not look like a zero. */

import type { App } from '../app.ts';
import { RECEIVER_NAMES } from '../config/receivers.ts';
import { type Days, dayBefore, daysOfPeriod, lastDays } from '../feedback/sums.ts';
import { isoTime } from '../lib/clock.ts';
import type { ReceiverDomainRow } from '../store/tables.generated.ts';
import { accountState } from './account-state.ts';
import {
  accessTo,
  FIGURE_COLUMNS,
  type GoogleDay,
  googleDays,
  hasAddressDays,
  type ReceiverState,
  receiverStates,
} from './queries.ts';

export const NO_DATA_CODES = [
  'not_set_up',
  'not_signed_in',
  'failing',
  'not_fetched',
  'not_in_account',
  'not_verified',
  'no_permission',
  'not_yet',
  'too_little_mail',
] as const;

export interface NoData {
  code: (typeof NO_DATA_CODES)[number];
  /** One or two sentences. */
  message: string;
}

/** The figures of a day arrive that much later. */
export const LATE_DAYS = 2;

type Context = Pick<App, 'db' | 'clock' | 'config'>;

export const hasFigures = (day: GoogleDay): boolean =>
  FIGURE_COLUMNS.some((column) => day[column] !== null);

/** Null if Google has published any figures of the domain for these days; by default, the last 30. */
export async function noDataReason(
  app: Context,
  domain: string,
  period: Days = lastDays(app),
): Promise<NoData | null> {
  const days = await googleDays(app.db, domain, period);
  if (days.some(hasFigures)) return null;
  const states = await statesOf(app, 'google_postmaster');
  if (states.length === 0)
    return {
      code: 'not_set_up',
      message:
        'Google Postmaster Tools is not set up. Add an account to DELIVERABILITY_RECEIVERS, then sign in.',
    };
  const rows = await accessTo(app.db, domain);
  const access = states.flatMap((state) => {
    const row = rows.find(({ receiver_id }) => receiver_id === state.account.name);
    return row ? [{ state, row }] : [];
  });
  const reasons = access.map(({ state, row }) => reasonOf(app, domain, period, state, row));
  if (reasons.length > 0) return reasons.sort((a, b) => rank(a) - rank(b))[0]!;
  return (
    states.map((state) => accountReason(state)).find((reason) => reason !== null) ?? {
      code: 'not_in_account',
      message: `${accountNames(states)} doesn’t have ${domain}. Add the domain in Google Postmaster Tools and verify it there.`,
    }
  );
}

/** Null if Microsoft has published anything about an address for these days; by default, the last 30. */
export async function noAddressesReason(
  app: Context,
  period: Days & { addresses?: string[] } = lastDays(app),
): Promise<NoData | null> {
  if (await hasAddressDays(app.db, period)) return null;
  const states = await statesOf(app, 'microsoft_snds');
  if (states.length === 0)
    return {
      code: 'not_set_up',
      message:
        'Microsoft SNDS is not set up. Add an account to DELIVERABILITY_RECEIVERS, then sign in.',
    };
  const reason = states.map((state) => accountReason(state)).find((reason) => reason !== null);
  return (
    reason ??
    notYet(app, 'Microsoft', period) ?? {
      code: 'too_little_mail',
      message: `Microsoft published nothing ${periodInWords(app, period)}. It leaves out addresses with fewer than 100 messages a day.`,
    }
  );
}

const statesOf = async ({ db, config }: Context, receiver: string): Promise<ReceiverState[]> =>
  (await receiverStates({ db, config })).filter(({ account }) => account.receiver === receiver);

const accountNames = (states: ReceiverState[]): string =>
  states.length === 1 ? `The account ${states[0]!.account.name}` : 'None of the accounts';

/** The reason of an account that shows the domain is the more useful one, the closer it is to figures. */
const rank = ({ code }: NoData): number => -NO_DATA_CODES.indexOf(code);

function reasonOf(
  app: Context,
  domain: string,
  period: Days,
  state: ReceiverState,
  row: ReceiverDomainRow,
): NoData {
  if (row.problem !== null)
    return {
      code: codeOf(row.problem),
      message: row.problem_detail ?? 'The last fetch of its figures failed.',
    };
  const isAsked = row.days_at !== null && row.days_at.slice(0, 10) >= period.to;
  const reason = isAsked ? null : accountReason(state);
  if (reason) return reason;
  if (row.days_at === null)
    return { code: 'not_fetched', message: `The figures of ${domain} have not been fetched yet.` };
  return (
    notYet(app, 'Google', period) ?? {
      code: 'too_little_mail',
      message: `Google published nothing about ${domain} ${periodInWords(app, period)}. It does so only for days with enough mail to Gmail.`,
    }
  );
}

/** Null if the account works. */
function accountReason(state: ReceiverState): NoData | null {
  const { account, row } = state;
  const name = RECEIVER_NAMES[account.receiver];
  switch (accountState(row)) {
    case 'not_signed_in':
      return {
        code: 'not_signed_in',
        message: row!.problem_detail ?? `Nobody is signed in to ${name}.`,
      };
    case 'failing':
      return {
        code: 'failing',
        message: row!.problem_detail ?? `The last fetch from ${name} failed.`,
      };
    case 'waiting':
      return { code: 'not_fetched', message: `Nothing has been fetched from ${name} yet.` };
    case 'working':
      return null;
  }
}

const codeOf = (problem: string): NoData['code'] =>
  problem === 'refused'
    ? 'no_permission'
    : (NO_DATA_CODES.find((code) => code === problem) ?? 'failing');

/** If all of the days are so recent that their figures may still appear. */
function notYet({ clock }: Context, who: string, { from }: Days): NoData | null {
  if (from <= dayBefore(isoTime(clock.now()).slice(0, 10), LATE_DAYS)) return null;
  return {
    code: 'not_yet',
    message: `${who} publishes the figures of a day one to two days later.`,
  };
}

/** Without dates: whoever asks knows them, and pages show dates as their reader does. */
const periodInWords = ({ clock }: Context, period: Days): string =>
  period.to === isoTime(clock.now()).slice(0, 10)
    ? `in the last ${daysOfPeriod(period)} days`
    : 'in this period';
