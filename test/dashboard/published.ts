/** Stores what receivers have published, as a fetch does. */

import type { App } from '../../src/app.ts';
import { isoTime } from '../../src/lib/clock.ts';
import type {
  ReceiverAddressRow,
  ReceiverDayRow,
  ReceiverDomainRow,
  ReceiverRequirementRow,
} from '../../src/store/tables.generated.ts';

const DAY_MS = 86_400_000;

/** The accounts of the configuration. Nothing answers at their URLs. */
export const ACCOUNTS_ENV = {
  DELIVERABILITY_RECEIVERS: JSON.stringify([
    {
      receiver: 'google_postmaster',
      client_id: 'app',
      client_secret: 'a-secret',
      base_url: 'http://127.0.0.1:9',
      token_url: 'http://127.0.0.1:9/token',
    },
    { receiver: 'microsoft_snds', key: 'a-key', base_url: 'http://127.0.0.1:9' },
  ]),
};

export const dayAgo = ({ clock }: Pick<App, 'clock'>, age: number): string =>
  isoTime(clock.now() - age * DAY_MS).slice(0, 10);

/** Both accounts have worked an hour ago, and are not due. Stops the jobs, so that only the test changes them. */
export async function storeWorkingAccounts(app: App): Promise<void> {
  await app.scheduler.stop();
  const at = isoTime(app.clock.now() - DAY_MS / 24);
  const next_fetch_at = isoTime(app.clock.now() + DAY_MS / 2);
  await app.db.deleteFrom('receivers').execute();
  for (const { name: id, receiver } of app.config.RECEIVERS)
    await app.db
      .insertInto('receivers')
      .values({ id, receiver, next_fetch_at, attempted_at: at, fetched_at: at, failures: 0 })
      .execute();
}

export async function storeGmailDomain(
  app: App,
  name: string,
  row: Partial<ReceiverDomainRow> = {},
): Promise<void> {
  const at = isoTime(app.clock.now() - DAY_MS / 24);
  await app.db
    .insertInto('receiver_domains')
    .values({
      receiver_id: 'google_postmaster',
      name,
      permission: 'OWNER',
      verification: 'VERIFIED',
      listed_at: at,
      days_at: at,
      requirements_at: at,
      problem: null,
      problem_detail: null,
      ...row,
    })
    .execute();
}

export async function storeGmailDay(
  app: App,
  name: string,
  age: number,
  row: Partial<ReceiverDayRow>,
): Promise<void> {
  await app.db
    .insertInto('receiver_days')
    .values({
      name,
      day: dayAgo(app, age),
      receiver_id: 'google_postmaster',
      spam_rate: null,
      spf_rate: null,
      dkim_rate: null,
      dmarc_rate: null,
      tls_rate: null,
      tls_messages: null,
      reject_rate: null,
      temp_fail_rate: null,
      errors: null,
      feedback_loops: null,
      fetched_at: isoTime(app.clock.now()),
      ...row,
    })
    .execute();
}

export async function storeRequirement(
  app: App,
  name: string,
  row: Pick<ReceiverRequirementRow, 'requirement' | 'status'> & Partial<ReceiverRequirementRow>,
): Promise<void> {
  const at = isoTime(app.clock.now());
  await app.db
    .insertInto('receiver_requirements')
    .values({
      name,
      receiver_id: 'google_postmaster',
      reason: null,
      previous: null,
      since: at,
      checked_at: at,
      ...row,
    })
    .execute();
}

export async function storeAddressDay(
  app: App,
  address: string,
  age: number,
  row: Partial<ReceiverAddressRow> = {},
): Promise<void> {
  const end = app.clock.now() - age * DAY_MS;
  await app.db
    .insertInto('receiver_addresses')
    .values({
      address,
      day: dayAgo(app, age),
      receiver_id: 'microsoft_snds',
      started_at: isoTime(end - DAY_MS / 3),
      ended_at: isoTime(end),
      rcpt_commands: 900,
      data_commands: 900,
      recipients: 900,
      filter_result: 'GREEN',
      complaint_rate: 0.001,
      is_below_rate: 1,
      trap_hits: 0,
      sample_helo: null,
      sample_mail_from: null,
      comments: null,
      fetched_at: isoTime(app.clock.now()),
      ...row,
    })
    .execute();
}

export async function storeBlock(app: App, address: string, details: string): Promise<void> {
  const at = isoTime(app.clock.now());
  await app.db
    .insertInto('receiver_blocks')
    .values({
      receiver_id: 'microsoft_snds',
      first_address: address,
      last_address: address,
      blocked: 1,
      details,
      since: at,
      checked_at: at,
    })
    .execute();
}
