/** Signing in to an account with OAuth 2: asks the person, tries the tokens, and stores the sign-in. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { openSecrets, readSecretKey } from '../keys/secret-key.ts';
import { closestName } from '../lib/closest-name.ts';
import { printable, silentLog } from '../lib/log.ts';
import { AccountError, type AccountProblem } from '../net/account-error.ts';
import { createDnsResolver, systemDnsServers } from '../net/dns/network-resolver.ts';
import { createTrustedWebClient } from '../net/http/client.ts';
import type { WebClient } from '../net/http/web.ts';
import { signInByDevice } from '../net/oauth/device-flow.ts';
import { signInByBrowser } from '../net/oauth/loopback-flow.ts';
import type { Tokens } from '../net/oauth/token-endpoint.ts';
import { signInTimes, storeSignIn } from '../sign-ins/credentials.ts';
import {
  configuredSignIns,
  SIGN_IN_KINDS,
  type SignIn,
  type SignInKind,
} from '../sign-ins/sign-in.ts';
import type { Db } from '../store/open.ts';
import type { TeamContext } from '../team/members.ts';
import { EXIT, type Io, printMessage, UsageError } from './command.ts';

/** The entry of the configuration with this name. Throws a UsageError that names what is similar. */
export function findNamed<T extends { name: string }>(
  entries: T[],
  name: string,
  words: { none: string; unknown: string; list: string },
): T {
  const wanted = name.toLowerCase();
  const found = entries.find((entry) => entry.name === wanted);
  if (found) return found;
  if (entries.length === 0) throw new UsageError(words.none);
  const closest = closestName(
    wanted,
    entries.map((entry) => entry.name),
  );
  throw new UsageError(
    `${words.unknown} the name "${name}"${closest ? `. Did you mean ${closest}?` : `: list them with ${words.list}`}`,
  );
}

interface SignInRequest {
  signIn: SignIn;
  /** With which account, for people: `as seed@example.com`. */
  who: string;
  /** The address to offer in the browser; null if it is not known. */
  loginHint: string | null;
  /** Tries the tokens, and resolves with what else to tell the person. Rejects with an AccountError. */
  tryTokens(tokens: Tokens, web: WebClient): Promise<string[]>;
}

/** How long a person has to sign in on this machine. */
const BROWSER_TIMEOUT_MS = 10 * 60_000;

/** The sign-in is not stored, because it doesn’t open this account. */
const WRONG_SIGN_IN: AccountProblem[] = ['sign_in_failed', 'wrong_account', 'refused'];

/** Resolves with the exit code. Throws a UsageError if there is no address to sign in at. */
export async function signInTo(
  io: Io,
  config: Config,
  { db, clock }: TeamContext,
  request: SignInRequest,
): Promise<number> {
  const { name, kind } = request.signIn;
  const secrets = await secretsOf(config, db);
  const dns = createDnsResolver({ servers: config.DNS_SERVERS ?? systemDnsServers(), clock });
  const web = createTrustedWebClient(dns);
  try {
    const tokens = await askPerson(io, request, web);
    if (tokens.refreshToken === null)
      throw new AccountError(
        'sign_in_failed',
        'The provider sent no refresh token. Remove the app from the account, and run the command again.',
      );
    const { messages, problem } = await tried(request.tryTokens(tokens, web));
    await storeSignIn({ db, clock, secrets }, request.signIn, tokens.refreshToken);
    printMessage(io, `Signed in to ${name}. The service uses this sign-in from now on.`);
    for (const message of messages) printMessage(io, printable(message));
    if (problem)
      printMessage(
        io,
        `The ${SIGN_IN_KINDS[kind].noun} can’t be read at the moment: ${printable(problem.message)}`,
      );
    return EXIT.success;
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    printMessage(io, `Not signed in to ${name}: ${printable(error.message)}`);
    return exitOf(error);
  } finally {
    dns.close();
  }
}

/** Whether somebody has to act, or it may pass by itself. */
export const exitOf = ({ problem }: AccountError): number =>
  WRONG_SIGN_IN.includes(problem) ? EXIT.negative : EXIT.externalFailure;

/** Throws a UsageError if the account has no address to sign in at. */
export function requireSignInUrl({ name, oauth }: SignIn): void {
  if (!oauth.deviceUrl && !oauth.authorizationUrl)
    throw new UsageError(
      `${name} has no address to sign in at: set "device_url", "authorization_url" or "refresh_token"`,
    );
}

/** Rejects with the AccountError of a sign-in that must not be stored. */
async function tried(
  work: Promise<string[]>,
): Promise<{ messages: string[]; problem: AccountError | null }> {
  try {
    return { messages: await work, problem: null };
  } catch (error) {
    if (!(error instanceof AccountError) || WRONG_SIGN_IN.includes(error.problem)) throw error;
    return { messages: [], problem: error };
  }
}

/** Shows what to do, and waits until the person has done it. Rejects with an AccountError. */
async function askPerson(
  io: Io,
  { signIn: { oauth }, who, loginHint }: SignInRequest,
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
            `Open this address in a browser on any device, enter the code ${printable(code)}, and sign in ${who}. The code expires in ${minutes} min.`,
          );
          io.stdout(`${printable(url)}\n`);
        },
      });
    return await signInByBrowser(oauth, {
      web,
      loginHint,
      signal: AbortSignal.any([signal, AbortSignal.timeout(BROWSER_TIMEOUT_MS)]),
      show(url, port) {
        printMessage(
          io,
          `Open this address in a browser on this machine, and sign in ${who}. If the browser is on another machine, forward the port first: ssh -L ${port}:127.0.0.1:${port} SERVER`,
        );
        io.stdout(`${printable(url)}\n`);
      },
      paste: (isAgain, ended) =>
        io.ask(
          isAgain
            ? 'That address is not from this sign-in. Paste the whole address, with its code and state: '
            : 'If the browser can’t load the last page, copy its address from the address bar, and paste it here: ',
          AbortSignal.any([ended, signal]),
        ),
    });
  } catch (error) {
    if (signal.aborted) throw new AccountError('sign_in_failed', 'Canceled.');
    throw error;
  }
}

/** When each account was last signed in to, by its name. Opens the secrets only if there are such accounts. */
export const signInTimesOf = async (
  config: Config,
  db: Db,
  kind: SignInKind,
): Promise<Map<string, string>> =>
  configuredSignIns(config, kind).length === 0
    ? new Map()
    : signInTimes({ db, secrets: await secretsOf(config, db), config }, kind);

const secretsOf = (config: Config, db: Db) =>
  openSecrets(config, readSecretKey(config), { db, log: silentLog });
