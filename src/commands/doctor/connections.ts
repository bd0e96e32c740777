/** What the service connects to: outgoing mail, blocklists, spam engines, seed mailboxes, receivers, webhook endpoints. */

import { findFault } from '../../analysis/blocklists/watch.ts';
import { configuredBlocklists } from '../../app.ts';
import type { SeedMailbox } from '../../config/seed-mailboxes.ts';
import { randomToken } from '../../lib/crypto.ts';
import { AccountError, isTransient } from '../../net/account-error.ts';
import { openMailbox } from '../../net/imap/mailbox.ts';
import { queryRspamd } from '../../net/rspamd.ts';
import { querySpamd } from '../../net/spamd.ts';
import { seedAdvice } from '../../placement/seeds.ts';
import { SCHEMA_VERSION } from '../../store/migrations/index.ts';
import type { SeedMailboxRow } from '../../store/tables.generated.ts';
import {
  type Check,
  type Checkup,
  check,
  type Finding,
  ok,
  problem,
  timeText,
  unknown,
  warning,
} from './finding.ts';
import { receiverFindings } from './receivers.ts';

const NOT_CONFIGURED = 'Not configured.';

export const CONNECTION_CHECKS: Check[] = [
  check('outgoing_mail', 'Outgoing mail', outgoingState, 70_000),
  { id: 'blocklists', title: 'Blocklists', run: blocklistStates },
  check('spamassassin', 'SpamAssassin', spamdState),
  check('rspamd', 'Rspamd', rspamdState),
  { id: 'seeds', title: 'Seed mailboxes', timeoutMs: 45_000, run: seedStates },
  { id: 'receivers', title: 'Receivers', run: receiverFindings },
  check('webhooks', 'Webhooks', webhookState),
];

// Outgoing mail.

async function outgoingState({ mailer, config, to }: Checkup) {
  if (mailer === null)
    return warning(
      'Not configured: invitations, alerts and reports are not sent by email.',
      'Set DELIVERABILITY_MAIL_URL and DELIVERABILITY_MAIL_FROM.',
    );
  const { host } = new URL(config.MAIL_URL!);
  const fix = 'Check DELIVERABILITY_MAIL_URL, and that the server lets this machine send.';
  if (to === null) {
    await mailer.verify();
    const attempt = mailer.lastAttempt();
    if (attempt === null) return unknown(`${host}: no result.`, 'Run this command again.');
    return attempt.fault === null
      ? ok(
          `${host} accepts connections and the sign-in. Nothing was sent: use --to ADDRESS for that.`,
        )
      : problem(`${host}: ${attempt.fault}.`, fix);
  }
  const text = `This message shows that the service at ${config.APP_URL} can send email.`;
  const outcome = await mailer.send({
    id: randomToken(16),
    to,
    subject: 'Test of outgoing mail',
    text,
    html: `<p>${text}</p>`,
  });
  return outcome.ok
    ? ok(
        `${host} accepted a message to ${to}: ${outcome.response}. Whether it arrives shows in the mailbox.`,
      )
    : problem(`${host} accepted no message to ${to}: ${outcome.reason}.`, fix);
}

// Blocklists.

async function blocklistStates({ config, resolver }: Checkup): Promise<Finding[]> {
  const chosen = configuredBlocklists(config);
  const summary = (outcome: Omit<Finding, 'id' | 'title'>): Finding => ({
    id: 'blocklists',
    title: 'Blocklists',
    ...outcome,
  });
  if (chosen.length === 0)
    return [
      summary(
        warning('None is enabled.', 'To use the built-in lists, unset DELIVERABILITY_BLOCKLISTS.'),
      ),
    ];
  const tested = await Promise.all(
    chosen.map(async (list) => ({ ...list, fault: await findFault(resolver, list) })),
  );
  const failing = tested.filter(({ fault }) => fault !== null);
  const count = `${tested.length - failing.length} of ${tested.length} pass their self-test.`;
  if (failing.length === 0) return [summary(ok(count))];
  if (failing.length === tested.length)
    return [
      summary(
        unknown(
          `${count} ${failing[0]!.fault}`,
          'Use a resolver of your own, such as Unbound on this machine: most lists refuse public resolvers. Set DELIVERABILITY_DNS_SERVERS.',
        ),
      ),
    ];
  return [
    summary(warning(count, 'The others are not queried. See below.')),
    ...failing.map(
      ({ list, fault }): Finding => ({
        id: `blocklist:${list.zone}`,
        title: list.name,
        ...warning(
          fault!,
          `${list.terms ?? 'Use a resolver of your own: many lists refuse public resolvers.'} To do without the list, set DELIVERABILITY_BLOCKLISTS=-${list.zone}`,
        ),
      }),
    ),
  ];
}

// Spam engines.

const MESSAGE = Buffer.from(
  'From: a@example.com\r\nTo: b@example.com\r\nSubject: Test\r\nDate: Mon, 01 Jan 2024 00:00:00 +0000\r\nMessage-ID: <a@example.com>\r\n\r\nTest\r\n',
);

async function spamdState({ config }: Checkup) {
  if (config.SPAMD_URL === null) return ok(NOT_CONFIGURED);
  const result = await querySpamd(config.SPAMD_URL, [MESSAGE]);
  return result.status === 'answered'
    ? ok(`${config.SPAMD_URL} scored a message: ${result.score} of ${result.threshold}.`)
    : problem(
        `${config.SPAMD_URL}: ${result.detail}.`,
        'Start spamd, allow this machine with --allowed-ips, and check DELIVERABILITY_SPAMD_URL.',
      );
}

async function rspamdState({ config }: Checkup) {
  if (config.RSPAMD_URL === null) return ok(NOT_CONFIGURED);
  const session = { ip: null, helo: null, hostname: null, from: null, tlsVersion: null };
  const result = await queryRspamd(config.RSPAMD_URL, MESSAGE, session);
  return result.status === 'answered'
    ? ok(
        `${config.RSPAMD_URL} scored a message: ${result.scan.score} of ${result.scan.required_score}.`,
      )
    : problem(
        `${config.RSPAMD_URL}: ${result.detail}.`,
        'Start Rspamd, and check DELIVERABILITY_RSPAMD_URL: it is the address of the normal worker, port 11333.',
      );
}

// Seed mailboxes.

async function seedStates(checkup: Checkup): Promise<Finding[]> {
  const { SEED_MAILBOXES: seeds } = checkup.config;
  if (seeds.length === 0) return [{ id: 'seeds', title: 'Seed mailboxes', ...ok(NOT_CONFIGURED) }];
  return Promise.all(
    seeds.map(
      async (seed): Promise<Finding> => ({
        id: `seed:${seed.name}`,
        title: `Seed ${seed.name}`,
        ...(await seedState(checkup, seed)),
      }),
    ),
  );
}

/** The most connections of the service to a mailbox: one that reads, and one that waits for new mail. */
const OWN_CONNECTIONS = 2;

/**
 * Mailboxes with OAuth 2 are not opened, because a use can replace the refresh token of the running service.
 * Neither are those that allow no more connections than the service has open, or may need at once.
 */
async function seedState(checkup: Checkup, seed: SeedMailbox) {
  const { imap, oauth, connections } = seed;
  if (oauth !== null || imap === null || imap.password === null) return storedState(checkup, seed);
  if (checkup.service !== null && connections <= OWN_CONNECTIONS) {
    const row = await rowOf(checkup, seed.name);
    if (connections === 1 || row === null || isLeased(row, checkup.clock.now()))
      return storedState(checkup, seed);
  }
  const { password, ...server } = imap;
  try {
    const mailbox = await openMailbox({ ...server, password });
    mailbox.close();
    return ok(`${imap.host} accepts the sign-in.`);
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    const report = isTransient(error.problem) ? warning : problem;
    return report(error.message, seedAdvice(error.problem));
  }
}

/** Null if the database can’t be read, undefined before the first start. */
async function rowOf({ store }: Checkup, name: string): Promise<SeedMailboxRow | undefined | null> {
  if ('fault' in store || store.version !== SCHEMA_VERSION) return null;
  const query = store.db.selectFrom('seed_mailboxes').selectAll().where('id', '=', name);
  return query.executeTakeFirst();
}

/** Whether the service reads the mailbox now. */
const isLeased = (row: SeedMailboxRow | undefined, now: number): boolean =>
  row !== undefined && row.leased_until !== null && Date.parse(row.leased_until) > now;

async function storedState(checkup: Checkup, { name, oauth }: SeedMailbox) {
  const signIn = `Run: deliverability seed sign-in ${name}`;
  const row = await rowOf(checkup, name);
  if (row === null)
    return unknown(
      'The state of this mailbox is in the database, which can’t be read.',
      'Fix the database first.',
    );
  if (row?.error) {
    const report = isTransient(row.error) ? warning : problem;
    return report(row.error_detail ?? row.error, seedAdvice(row.error));
  }
  if (!row?.last_read_at)
    return unknown(
      'The service hasn’t read this mailbox yet.',
      `Create a test with placement, and send its message to the seed addresses.${oauth ? ` If you haven’t signed in: ${signIn.replace(/^R/, 'r')}` : ''}`,
    );
  return ok(`The service last read it on ${timeText(row.last_read_at)}.`);
}

// Webhooks.

async function webhookState({ store }: Checkup) {
  if ('fault' in store || store.version !== SCHEMA_VERSION)
    return unknown(
      'The endpoints are in the database, which can’t be read.',
      'Fix the database first.',
    );
  const rows = await store.db
    .selectFrom('webhook_endpoints')
    .select(['enabled'])
    .where('deleted_at', 'is', null)
    .execute();
  const disabled = rows.filter(({ enabled }) => enabled === 0).length;
  if (rows.length === 0) return ok('No endpoints.');
  return disabled === 0
    ? ok(`${rows.length} endpoints, all enabled.`)
    : warning(
        `${disabled} of ${rows.length} endpoints are disabled, so their events wait.`,
        'Fix the endpoint, then enable it on the page Webhooks. It sends what waits.',
      );
}
