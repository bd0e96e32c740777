/** `seed`: signs in to seed mailboxes with OAuth 2, and lists them with their state. */

import { setTimeout as pause } from 'node:timers/promises';
import { type Config, readConfig } from '../config/config.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { seedProvider } from '../config/seed-providers.ts';
import { openSecrets, readSecretKey } from '../keys/secret-key.ts';
import { closestName } from '../lib/closest-name.ts';
import { type Log, printable, printableJson, silentLog } from '../lib/log.ts';
import { AccountError, type AccountProblem } from '../net/account-error.ts';
import { createDnsResolver, systemDnsServers } from '../net/dns/network-resolver.ts';
import { createTrustedWebClient } from '../net/http/client.ts';
import type { WebClient } from '../net/http/web.ts';
import { signInByDevice } from '../net/oauth/device-flow.ts';
import { signInByBrowser } from '../net/oauth/loopback-flow.ts';
import type { Tokens } from '../net/oauth/token-endpoint.ts';
import { tryAccess } from '../placement/seed-sources.ts';
import { signInTimes, storeSignIn } from '../sign-ins/credentials.ts';
import { configuredSignIns, type SignIn } from '../sign-ins/sign-in.ts';
import type { Db } from '../store/open.ts';
import type { TeamContext } from '../team/members.ts';
import { type Command, EXIT, type Io, printMessage, readArguments, UsageError } from './command.ts';
import { withStore } from './configure.ts';

export const seed: Command = {
  name: 'seed',
  usage: 'list [--json] | sign-in NAME',
  summary: 'List the seed mailboxes, or sign in to one with OAuth 2',
  options: [
    'list          List the seed mailboxes with their state',
    'sign-in NAME  Sign in to a mailbox in a browser; the running service uses it at once',
    '--json        Print the list as JSON',
  ],
  async run(args, io) {
    const { positionals, values } = readArguments(
      args,
      { json: { type: 'boolean' } },
      { min: 1, max: 2, argumentName: 'list or sign-in' },
    );
    const [action, name] = positionals;
    const { config } = readConfig(io.env);
    if (action === 'list' && name === undefined)
      return withStore(io, 'stop', (team) => list(io, config, team, values.json === true));
    if (action !== 'sign-in')
      throw new UsageError(`Unknown action "${action}": use list, or sign-in NAME`);
    if (name === undefined) throw new UsageError('Missing argument: NAME');
    const mailbox = findMailbox(config, name);
    return withStore(io, 'create', (team) => signIn(io, config, team, mailbox));
  },
};

function findMailbox({ SEED_MAILBOXES }: Config, name: string): SeedMailbox & SignIn {
  const names = SEED_MAILBOXES.map((mailbox) => mailbox.name);
  const found = SEED_MAILBOXES.find((mailbox) => mailbox.name === name.toLowerCase());
  if (!found) {
    const closest = closestName(name.toLowerCase(), names);
    throw new UsageError(
      names.length === 0
        ? 'No seed mailboxes are configured: set DELIVERABILITY_SEED_MAILBOXES'
        : `No seed mailbox has the name "${name}"${closest ? `. Did you mean ${closest}?` : ': list them with deliverability seed list'}`,
    );
  }
  const { oauth } = found;
  if (!oauth)
    throw new UsageError(
      `${found.name} signs in with a password: set "client_id" instead to use OAuth 2`,
    );
  if (!oauth.deviceUrl && !oauth.authorizationUrl)
    throw new UsageError(
      `${found.name} has no address to sign in at: set "device_url", "authorization_url" or "refresh_token"`,
    );
  return { ...found, kind: 'seed', oauth };
}

// Signing in.

/** How long a person has to sign in on this machine. */
const BROWSER_TIMEOUT_MS = 10 * 60_000;

/** The sign-in is not stored, because it doesn’t open this mailbox. */
const WRONG_SIGN_IN: AccountProblem[] = ['sign_in_failed', 'wrong_account', 'refused'];

async function signIn(
  io: Io,
  config: Config,
  { db, clock }: TeamContext,
  mailbox: SeedMailbox & SignIn,
): Promise<number> {
  const secrets = await secretsOf(config, db);
  const dns = createDnsResolver({ servers: config.DNS_SERVERS ?? systemDnsServers(), clock });
  const web = createTrustedWebClient(dns);
  try {
    const { accessToken, refreshToken } = await askPerson(io, mailbox, web);
    if (refreshToken === null)
      throw new AccountError(
        'sign_in_failed',
        'The provider sent no refresh token. Remove the app from the account, and run the command again.',
      );
    const problem = await problemOf(tryAccess(mailbox, accessToken, web));
    if (problem && WRONG_SIGN_IN.includes(problem.problem)) throw problem;
    await storeSignIn({ db, clock, secrets }, mailbox, refreshToken);
    printMessage(io, `Signed in to ${mailbox.name}. The service uses this sign-in from now on.`);
    if (problem)
      printMessage(io, `The mailbox can’t be read at the moment: ${printable(problem.message)}`);
    return EXIT.success;
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    printMessage(io, `Not signed in to ${mailbox.name}: ${printable(error.message)}`);
    return WRONG_SIGN_IN.includes(error.problem) ? EXIT.negative : EXIT.externalFailure;
  } finally {
    dns.close();
  }
}

/** Shows what to do, and waits until the person has done it. Rejects with a AccountError. */
async function askPerson(
  io: Io,
  { address, oauth }: SeedMailbox & SignIn,
  web: WebClient,
): Promise<Tokens> {
  const canceled = new AbortController();
  void io.interrupted.then(() => canceled.abort());
  const { signal } = canceled;
  try {
    if (oauth.deviceUrl)
      return await signInByDevice(oauth, {
        web,
        wait: (ms) => pause(ms, undefined, { signal }),
        show({ url, code, expiresInMs }) {
          const minutes = Math.max(1, Math.round(expiresInMs / 60_000));
          printMessage(
            io,
            `Open this address in a browser on any device, enter the code ${printable(code)}, and sign in as ${address}. The code expires in ${minutes} min.`,
          );
          io.stdout(`${printable(url)}\n`);
        },
      });
    return await signInByBrowser(oauth, {
      web,
      loginHint: address,
      signal: AbortSignal.any([signal, AbortSignal.timeout(BROWSER_TIMEOUT_MS)]),
      show(url, port) {
        printMessage(
          io,
          `Open this address in a browser on this machine, and sign in as ${address}. If the browser is on another machine, forward the port first: ssh -L ${port}:127.0.0.1:${port} SERVER`,
        );
        io.stdout(`${printable(url)}\n`);
      },
    });
  } catch (error) {
    if (signal.aborted) throw new AccountError('sign_in_failed', 'Canceled.');
    throw error;
  }
}

async function problemOf(work: Promise<void>): Promise<AccountError | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof AccountError) return error;
    throw error;
  }
}

const secretsOf = (config: Config, db: Db, log: Log = silentLog) =>
  openSecrets(config, readSecretKey(config), { db, log });

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
  const withOAuth = configuredSignIns(config, 'seed');
  const times =
    withOAuth.length === 0
      ? new Map<string, string>()
      : await signInTimes({ db, secrets: await secretsOf(config, db), config }, 'seed');
  const listed = SEED_MAILBOXES.map(({ name, provider, address, oauth, graphUrl }): Listed => {
    const state = states.find(({ id }) => id === name);
    return {
      ...{ name, provider, address },
      access: oauth ? 'oauth' : 'password',
      api: graphUrl ? 'graph' : 'imap',
      signed_in_at: times.get(name) ?? null,
      last_read_at: state?.last_read_at ?? null,
      ...{ error: state?.error ?? null, error_detail: state?.error_detail ?? null },
    };
  });
  if (asJson) io.stdout(`${printableJson(listed)}\n`);
  else if (listed.length === 0) printMessage(io, 'No seed mailboxes are configured.');
  else for (const each of listed) io.stdout(`${lineOf(each, withOAuth)}\n`);
  return listed.some(({ error }) => error !== null) ? EXIT.negative : EXIT.success;
}

function lineOf(each: Listed, withOAuth: SignIn[]): string {
  const { name, provider, api, access } = each;
  const how = `${api === 'graph' ? 'Graph' : 'IMAP'}, ${access === 'oauth' ? 'OAuth 2' : 'password'}`;
  const configured = withOAuth.find((seed) => seed.name === name)?.oauth.refreshToken ?? null;
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
