/** Accounts and figures as the API has them. */

import type { App } from '../app.ts';
import type { Days as Period } from '../feedback/sums.ts';
import { valuesOf } from '../figures/figure.ts';
import { GMAIL_FIGURES } from '../figures/gmail.ts';
import { isoTime } from '../lib/clock.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReceiverAddressRow, ReceiverBlockRow } from '../store/tables.generated.ts';
import { accountState, expiryOf } from './account-state.ts';
import { blockFinder } from './blocks.ts';
import { noAddressesReason } from './no-data.ts';
import type { FilterResult } from './observations.ts';
import {
  accountNames,
  addressBlocks,
  addressDays,
  type GoogleDay,
  type ReceiverState,
  topAddresses,
} from './queries.ts';
import type { Receiver, ReceiverDay, SendingAddresses } from './schema.ts';

const problemOf = (row: { problem: string | null; problem_detail: string | null } | undefined) =>
  row && row.problem !== null
    ? { code: row.problem, message: row.problem_detail ?? 'The fetch failed.' }
    : null;

/** Adds what the accounts show, from one query for each table. */
export async function presentReceivers(
  db: Db | Tx,
  { clock }: Pick<App, 'clock'>,
  states: ReceiverState[],
): Promise<Receiver[]> {
  const now = isoTime(clock.now());
  const names = states.map(({ account }) => account.name);
  const rows =
    names.length === 0
      ? []
      : await db
          .selectFrom('receiver_domains')
          .leftJoin('domains', 'domains.name', 'receiver_domains.name')
          .selectAll('receiver_domains')
          .select('domains.id as domain_id')
          .where('receiver_id', 'in', names)
          .orderBy('receiver_domains.name')
          .execute();
  return states.map(({ account, row }) => {
    const ending = expiryOf(account, row, clock.now());
    return {
      id: account.name,
      object: 'receiver',
      receiver: account.receiver,
      state: ending ? 'expiring' : accountState(row),
      fetching:
        (row?.leased_until ?? '') > now || (row !== undefined && (row.next_fetch_at ?? now) <= now),
      last_fetch_at: row?.fetched_at ?? null,
      last_attempt_at: row?.attempted_at ?? null,
      next_fetch_at: row?.next_fetch_at ?? null,
      failing_since: row?.failing_since ?? null,
      access_confirmed_at:
        account.receiver === 'microsoft_snds' ? (row?.access_since ?? null) : null,
      problem: problemOf(row) ?? ending,
      domains:
        account.receiver === 'google_postmaster'
          ? rows
              .filter(({ receiver_id }) => receiver_id === account.name)
              .map((domain) => ({
                name: domain.name,
                domain_id: domain.domain_id,
                permission: domain.permission,
                verification: domain.verification,
                last_fetch_at: domain.days_at,
                problem: problemOf(domain),
              }))
          : null,
    };
  });
}

export const presentDay = (day: GoogleDay): ReceiverDay => ({
  date: day.day,
  receiver_id: day.receiver_id,
  ...valuesOf(GMAIL_FIGURES, 'name', ({ column }) => day[column]),
  errors: day.errors,
  feedback_loops: day.feedback_loops,
  fetched_at: day.fetched_at,
});

const MAX_ADDRESSES = 100;
const MAX_RANGES = 100;

/** `asked`: normalized; null for all. Those that are blocked are shown without activity, too. */
export async function presentAddresses(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  period: Period,
  asked: string[] | null,
): Promise<SendingAddresses> {
  const { names, count } = await topAddresses(
    app.db,
    { ...period, addresses: asked ?? undefined },
    MAX_ADDRESSES,
  );
  const days = await addressDays(app.db, { ...period, addresses: names });
  const blocks = await addressBlocks(app.db, accountNames(app.config));
  const findBlock = blockFinder(blocks);
  const ranges =
    asked === null ? blocks : [...new Set(asked.flatMap((address) => findBlock(address) ?? []))];
  const blocked = (asked ?? []).filter((address) => findBlock(address)?.blocked === 1);
  return {
    object: 'sending_addresses',
    ...period,
    addresses: [...new Set([...names, ...blocked])].map((name) => ({
      address: name,
      ...presentBlock(findBlock(name)),
      days: days.filter((day) => day.address === name).map(presentAddressDay),
    })),
    address_count: count,
    ranges: ranges
      .toSorted((a, b) => b.blocked - a.blocked)
      .slice(0, MAX_RANGES)
      .map((range) => ({
        first_address: range.first_address,
        last_address: range.last_address,
        receiver_id: range.receiver_id,
        ...presentBlock(range),
        checked_at: range.checked_at,
      })),
    range_count: ranges.length,
    no_data:
      names.length > 0
        ? null
        : await noAddressesReason(app, {
            ...period,
            ...(asked === null ? {} : { addresses: asked }),
          }),
  };
}

const presentBlock = (block: ReceiverBlockRow | null) => ({
  blocked: block && block.blocked === 1,
  details: block && block.details !== '' ? block.details : null,
  since: block?.since ?? null,
});

const presentAddressDay = (row: ReceiverAddressRow) => ({
  date: row.day,
  receiver_id: row.receiver_id,
  started_at: row.started_at,
  ended_at: row.ended_at,
  rcpt_commands: row.rcpt_commands,
  data_commands: row.data_commands,
  recipients: row.recipients,
  filter_result: row.filter_result as FilterResult | null,
  complaint_rate: row.complaint_rate,
  complaint_rate_is_below: row.is_below_rate === 1,
  trap_hits: row.trap_hits,
  sample_helo: row.sample_helo,
  sample_mail_from: row.sample_mail_from,
  comments: row.comments,
});
