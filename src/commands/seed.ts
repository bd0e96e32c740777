/** `seed`: signs in to seed mailboxes with OAuth 2, and lists them with their state. */

import { type Config, readConfig } from '../config/config.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { seedProvider } from '../config/seed-providers.ts';
import { printable, printableJson } from '../lib/log.ts';
import { tryAccess } from '../placement/seed-sources.ts';
import type { SignIn } from '../sign-ins/sign-in.ts';
import type { TeamContext } from '../team/members.ts';
import { defineCommand, EXIT, type Io, printMessage, UsageError } from './command.ts';
import { withStore } from './configure.ts';
import { findNamed, requireSignInUrl, signInTimesOf, signInTo } from './sign-in.ts';

export const seed = defineCommand({
  name: 'seed',
  summary: 'List the seed mailboxes, or sign in to one with OAuth 2',
  actions: {
    list: { description: 'List the seed mailboxes with their state' },
    'sign-in': {
      arguments: [{ name: 'NAME' }],
      description: 'Sign in to a mailbox in a browser; the running service uses it at once',
    },
  },
  options: { json: { description: 'Print the list as JSON', actions: ['list'] } },
  async run({ action, positionals, values }, io) {
    const { config } = readConfig(io.env);
    if (action === 'list')
      return withStore(io, 'stop', (team) => list(io, config, team, values.json === true));
    const mailbox = findMailbox(config, positionals[0]!);
    return withStore(io, 'create', (team) => signIn(io, config, team, mailbox));
  },
});

function findMailbox({ SEED_MAILBOXES }: Config, name: string): SeedMailbox & SignIn {
  const found = findNamed(SEED_MAILBOXES, name, {
    none: 'No seed mailboxes are configured: set DELIVERABILITY_SEED_MAILBOXES',
    unknown: 'No seed mailbox has',
    list: 'deliverability seed list',
  });
  const { oauth } = found;
  if (!oauth)
    throw new UsageError(
      `${found.name} signs in with a password: set "client_id" instead to use OAuth 2`,
    );
  const mailbox = { ...found, kind: 'seed' as const, oauth };
  requireSignInUrl(mailbox);
  return mailbox;
}

const signIn = (io: Io, config: Config, team: TeamContext, mailbox: SeedMailbox & SignIn) =>
  signInTo(io, config, team, {
    signIn: mailbox,
    who: `as ${mailbox.address}`,
    loginHint: mailbox.address,
    async tryTokens({ accessToken }, web) {
      await tryAccess(mailbox, accessToken, web);
      return [];
    },
  });

// The list.

interface Listed {
  name: string;
  provider: string;
  address: string;
  access: 'password' | 'oauth';
  api: 'imap' | 'graph';
  signed_in_at: string | null;
  last_read_at: string | null;
  error: string | null;
  error_detail: string | null;
}

async function list(io: Io, config: Config, { db }: TeamContext, asJson: boolean): Promise<number> {
  const { SEED_MAILBOXES } = config;
  const states = await db.selectFrom('seed_mailboxes').selectAll().execute();
  const times = await signInTimesOf(config, db, 'seed');
  const listed = SEED_MAILBOXES.map(({ name, provider, address, oauth, graphUrl }): Listed => {
    const state = states.find(({ id }) => id === name);
    return {
      name,
      provider,
      address,
      access: oauth ? 'oauth' : 'password',
      api: graphUrl ? 'graph' : 'imap',
      signed_in_at: times.get(name) ?? null,
      last_read_at: state?.last_read_at ?? null,
      error: state?.error ?? null,
      error_detail: state?.error_detail ?? null,
    };
  });
  if (asJson) io.stdout(`${printableJson(listed)}\n`);
  else if (listed.length === 0) printMessage(io, 'No seed mailboxes are configured.');
  else for (const each of listed) io.stdout(`${lineOf(each, config)}\n`);
  return listed.some(({ error }) => error !== null) ? EXIT.negative : EXIT.success;
}

function lineOf(each: Listed, { SEED_MAILBOXES }: Config): string {
  const { name, provider, api, access } = each;
  const how = `${api === 'graph' ? 'Graph' : 'IMAP'}, ${access === 'oauth' ? 'OAuth 2' : 'password'}`;
  const configured = SEED_MAILBOXES.find((seed) => seed.name === name)?.oauth?.refreshToken ?? null;
  return printable(
    `${name} (${seedProvider(provider).name}, ${how}): ${stateOf(each, configured !== null)}`,
  );
}

function stateOf(
  { access, name, signed_in_at, last_read_at, error_detail }: Listed,
  hasConfiguredToken: boolean,
): string {
  if (error_detail !== null) return error_detail;
  if (access === 'oauth' && signed_in_at === null && !hasConfiguredToken)
    return `not signed in. Run: deliverability seed sign-in ${name}`;
  return last_read_at === null ? 'not read yet' : `last read ${last_read_at}`;
}
