/** `receivers`: the accounts at Google Postmaster Tools and Microsoft SNDS: lists them, signs in, and fetches from them. */

import { type Config, readConfig } from '../config/config.ts';
import {
  type GooglePostmasterAccount,
  type MicrosoftSndsAccount,
  RECEIVER_NAMES,
  type ReceiverAccount,
  SNDS_PAGE,
} from '../config/receivers.ts';
import { printable, printableJson } from '../lib/log.ts';
import { AccountError } from '../net/account-error.ts';
import { openPostmaster, type PostmasterDomain } from '../net/google-postmaster/client.ts';
import type { WebClient } from '../net/http/web.ts';
import type { Tokens } from '../net/oauth/token-endpoint.ts';
import { openSnds } from '../net/snds/client.ts';
import { countOf, partText } from '../receivers/fetch.ts';
import { type FetchResult, fetchNow } from '../receivers/fetch-account.ts';
import { presentReceivers } from '../receivers/present.ts';
import { receiverStates } from '../receivers/queries.ts';
import type { Receiver } from '../receivers/schema.ts';
import { assembleService } from '../service.ts';
import { signInAdvice } from '../sign-ins/sign-in.ts';
import type { Db } from '../store/open.ts';
import type { TeamContext } from '../team/members.ts';
import { VERSION } from '../version.ts';
import { defineCommand, EXIT, type Io, printMessage, UsageError } from './command.ts';
import { findDatabase, withStore } from './configure.ts';
import { exitOf, findNamed, requireSignInUrl, signInTimesOf, signInTo } from './sign-in.ts';

export const receivers = defineCommand({
  name: 'receivers',
  summary: 'List the accounts at Google Postmaster Tools and Microsoft SNDS, sign in, or fetch now',
  actions: {
    list: { description: 'List the accounts with their state and domains' },
    'sign-in': {
      arguments: [{ name: 'NAME' }],
      description: 'Sign in to an account in a browser; the running service uses it at once',
    },
    fetch: {
      arguments: [{ name: 'NAME', isOptional: true }],
      description: 'Fetch from one account or from all, and print what came',
    },
  },
  options: { json: { description: 'Print the list as JSON', actions: ['list'] } },
  async run({ action, positionals, values }, io) {
    const [name] = positionals;
    const { config } = readConfig(io.env);
    if (action === 'list')
      return withStore(io, 'stop', (team) => list(io, config, team, values.json === true));
    if (action === 'fetch') {
      const accounts = name === undefined ? config.RECEIVERS : [findAccount(config, name)];
      return fetchAll(io, accounts);
    }
    const account = findAccount(config, name!);
    const { name: id, oauth } = account;
    if (!oauth)
      throw new UsageError(`${id} uses the key of its entry. To sign in instead, remove "key"`);
    const signIn = { kind: 'receiver' as const, name: id, oauth };
    requireSignInUrl(signIn);
    const isGoogle = account.receiver === 'google_postmaster';
    return withStore(io, 'create', (team) =>
      signInTo(io, config, team, {
        signIn,
        who: isGoogle
          ? 'with the Google account that has your domains in Postmaster Tools'
          : 'with the Microsoft account that has your addresses in SNDS',
        loginHint: null,
        tryTokens: (tokens, web) =>
          isGoogle ? tryTokens(team.db, account, tokens, web) : trySnds(account, tokens, web),
      }),
    );
  },
});

const findAccount = ({ RECEIVERS }: Config, name: string): ReceiverAccount =>
  findNamed(RECEIVERS, name, {
    none: 'No receivers are configured: set DELIVERABILITY_RECEIVERS',
    unknown: 'No account has',
    list: 'deliverability receivers list',
  });

// Signing in.

const TRY_TIMEOUT_MS = 30_000;
const POSTMASTER_SCOPE = /^https:\/\/www\.googleapis\.com\/auth\/postmaster\b/;

/** What the account shows. Rejects with an AccountError if the tokens don’t open Postmaster Tools. */
async function tryTokens(
  db: Db,
  { name, oauth, baseUrl }: GooglePostmasterAccount,
  { accessToken, scopes }: Tokens,
  web: WebClient,
): Promise<string[]> {
  const requested = (oauth.signInScope ?? '')
    .split(' ')
    .filter((each) => POSTMASTER_SCOPE.test(each));
  const missing = scopes === null ? [] : requested.filter((each) => !scopes.includes(each));
  if (missing.length > 0)
    throw new AccountError(
      'refused',
      `Google did not grant the permission ${missing.join(' or ')}. Run the command again, and select all permissions in the browser.`,
    );
  const signal = AbortSignal.timeout(TRY_TIMEOUT_MS);
  const domains = await openPostmaster({ web, baseUrl, accessToken, signal }).listDomains();
  const verified = await db
    .selectFrom('domains')
    .select('name')
    .where('status', '=', 'verified')
    .orderBy('name')
    .execute();
  const absent = verified
    .map((domain) => domain.name)
    .filter((each) => !domains.some((domain) => domain.name === each));
  return [
    domains.length === 0
      ? `${name} has no domains. Add them in Google Postmaster Tools, or sign in with the account that has them.`
      : `${name} has ${listOf(domains.map(domainText))}.`,
    ...(absent.length > 0 && domains.length > 0
      ? [
          `It doesn’t have ${listOf(absent)}. Add missing domains in Google Postmaster Tools, and verify them there.`,
        ]
      : []),
  ];
}

/** Which ranges SNDS lists for the account. Rejects with an AccountError if the tokens don’t open SNDS. */
async function trySnds(
  { name, baseUrl }: MicrosoftSndsAccount,
  { accessToken }: Tokens,
  web: WebClient,
): Promise<string[]> {
  const signal = AbortSignal.timeout(TRY_TIMEOUT_MS);
  const status = await openSnds({ web, baseUrl, access: { accessToken }, signal }).status();
  return [
    status === null || status.rows.length === 0
      ? `SNDS lists no addresses for ${name}. If your addresses are in another account, sign in with that one. See ${SNDS_PAGE}`
      : `SNDS lists ${countOf(status.rows.length, 'range', 'ranges')} of addresses for ${name}.`,
  ];
}

function domainText({ name, permission, verificationState }: PostmasterDomain): string {
  if (verificationState !== null && verificationState !== 'VERIFIED')
    return `${name} (not verified there)`;
  return permission === 'NONE' ? `${name} (without permission)` : name;
}

const MAX_LISTED = 20;

function listOf(items: string[]): string {
  const shown = items.slice(0, MAX_LISTED).join(', ');
  return items.length > MAX_LISTED ? `${shown} and ${items.length - MAX_LISTED} more` : shown;
}

// The list.

/** As in the API, and when somebody signed in; null for accounts without signing in, or if nobody has. */
type Listed = Receiver & { signed_in_at: string | null };

async function list(
  io: Io,
  config: Config,
  { db, clock }: TeamContext,
  asJson: boolean,
): Promise<number> {
  const times = await signInTimesOf(config, db, 'receiver');
  const presented = await presentReceivers(db, { clock }, await receiverStates({ db, config }));
  const listed = presented.map(
    (each): Listed => ({ ...each, signed_in_at: times.get(each.id) ?? null }),
  );
  if (asJson) io.stdout(`${printableJson(listed)}\n`);
  else if (listed.length === 0) printMessage(io, 'No receivers are configured.');
  else for (const each of listed) io.stdout(linesOf(each, config));
  const problems = listed.flatMap(({ problem, domains }) => [
    problem,
    // Nothing is fetched about the others.
    ...(domains ?? [])
      .filter(({ domain_id }) => domain_id !== null)
      .map((domain) => domain.problem),
  ]);
  return problems.some((problem) => problem !== null) ? EXIT.negative : EXIT.success;
}

function linesOf(each: Listed, { RECEIVERS }: Config): string {
  const account = RECEIVERS.find(({ name }) => name === each.id)!;
  const lines = [`${each.id} (${RECEIVER_NAMES[each.receiver]}): ${stateOf(each, account)}`];
  for (const { name, permission, verification, problem } of each.domains ?? [])
    lines.push(
      `  ${name}: ${
        problem?.message ??
        [permission, verification]
          .filter((code) => code !== null)
          .map(lowerCase)
          .join(', ')
      }`,
    );
  return lines.map((line) => `${printable(line)}\n`).join('');
}

const lowerCase = (code: string): string => code.toLowerCase().replaceAll('_', ' ');

function stateOf(
  { problem, signed_in_at, last_fetch_at }: Listed,
  { name, oauth }: ReceiverAccount,
): string {
  const fetched =
    last_fetch_at && `last fetched on ${last_fetch_at.slice(0, 16).replace('T', ' ')} UTC`;
  if (problem) return `${problem.message}${fetched ? ` (${fetched})` : ''}`;
  if (fetched) return fetched;
  return oauth && signed_in_at === null && oauth.refreshToken === null
    ? `not signed in. ${signInAdvice({ kind: 'receiver', name, oauth })}`
    : 'not fetched yet';
}

// Fetching.

/** In this process, beside a running service: the claim on each account keeps them apart. */
async function fetchAll(io: Io, accounts: ReceiverAccount[]): Promise<number> {
  if (accounts.length === 0) {
    printMessage(io, 'No receivers are configured.');
    return EXIT.success;
  }
  const config = findDatabase(io, 'stop');
  if (!config) return EXIT.usage;
  const canceled = new AbortController();
  void io.interrupted.then(() => canceled.abort());
  // The command prints what the log would say.
  const { app, close } = await assembleService(config, VERSION);
  try {
    const codes: number[] = [];
    for (const account of accounts) {
      const result = canceled.signal.aborted ? null : await fetchNow(app, account, canceled.signal);
      codes.push(
        result
          ? printResult(io, account, result)
          : printNoResult(io, account, canceled.signal.aborted),
      );
    }
    return Math.max(...codes);
  } finally {
    await close();
  }
}

function printResult(io: Io, { name }: ReceiverAccount, { parts, problem }: FetchResult): number {
  for (const part of parts) io.stdout(`${printable(`${name}: ${partText(part)}`)}\n`);
  if (problem) {
    printMessage(io, printable(`${name}: ${problem.message}`));
    return exitOf(problem);
  }
  if (parts.length === 0) printMessage(io, `${name}: the account has no domain of your team.`);
  return parts.some((part) => part.problem !== null) ? EXIT.negative : EXIT.success;
}

function printNoResult(io: Io, { name }: ReceiverAccount, isCanceled: boolean): number {
  printMessage(
    io,
    isCanceled
      ? `${name}: canceled. What was fetched is stored.`
      : `${name}: the service is fetching from this account right now.`,
  );
  return EXIT.externalFailure;
}
