/**
 * Connects to hosts that messages or users name: every address is checked at the moment it is dialed.
 *
 * Why not a library: some filter addresses in a custom `lookup`, which Node never calls for an IP
 * address. Others filter before they connect, so the name can resolve to a different address in
 * between.
 */

import { once } from 'node:events';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { type Network, normalizeAddress } from '../lib/addresses.ts';
import { startDeadline } from '../lib/concurrency.ts';
import { isAllowedPrivate, isPublicAddress, mayConnect } from './address-guard.ts';
import type { DnsAnswer, Resolver } from './dns/resolver.ts';
import { createTrustContext, startTls, tlsProblem } from './tls.ts';

/** Why a request to an external server failed. */
export type WebFailureReason =
  | 'timeout'
  /** The name does not resolve: NXDOMAIN, or neither A nor AAAA. */
  | 'no_such_name'
  /** The DNS lookup failed. */
  | 'dns'
  /** All addresses of the host are private, loopback or otherwise special. */
  | 'forbidden_address'
  | 'connection'
  | 'tls'
  /** The response is not valid HTTP. */
  | 'protocol'
  | 'too_large'
  | 'bad_url'
  /** The analysis has reached its request limit. */
  | 'limit';

/** Maximum number of addresses tried for one name. */
const MAX_DIALED_ADDRESSES = 4;

/** Starts a connection to an address, never a name. */
export type Dial = (address: string, port: number) => Socket;

export interface ConnectorOptions {
  /** Resolves the host name of each connection. */
  resolver: Resolver;
  /** Networks that are allowed although they are not public. */
  allowNetworks?: Network[];
  /** Certificate authorities (PEM) that are trusted in addition to the default ones. */
  ca?: string[];
  /** Replaced in tests; the guard still runs before it. */
  dial?: Dial;
  /** Returns the addresses of this host. */
  ownAddresses?: () => string[];
}

export interface ConnectTarget {
  /** A name in A-labels without a trailing dot, or an IP address without brackets. */
  host: string;
  port: number;
  /** Whether to use TLS and verify the certificate for the host. */
  secure: boolean;
  /** Whether all addresses of the host must be in private networks that the operator has allowed. */
  privateOnly?: boolean;
}

export type Failure = { status: 'failed'; reason: WebFailureReason; detail: string };
/** The caller destroys the socket; its errors already have a listener. */
type Connection<S = Duplex> = { status: 'connected'; socket: S } | Failure;

/** Tries to connect until the signal aborts, which happens after about `timeoutMs`; never rejects. */
export type Connect = (
  target: ConnectTarget,
  signal: AbortSignal,
  timeoutMs: number,
) => Promise<Connection>;

export const failed = (reason: WebFailureReason, detail: string): Failure => ({
  status: 'failed',
  reason,
  detail,
});

export const timedOut = (): Failure => failed('timeout', 'no response in time');

const forbidden = (): Failure => failed('forbidden_address', 'the IP address is not public');

/** Why a URL without TLS is refused. Follows the URL, or "must use https://: ". */
export const PLAIN_HTTP_RULE =
  'http:// is only for hosts in private networks that your administrator allows (DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS)';

/** Creates the function that opens the connection of every request to an external server. */
export function createConnector(options: ConnectorOptions): Connect {
  let secureContext: SecureContext | undefined;
  return async (target, signal, timeoutMs) => {
    const lookup = await addressesOf(options.resolver, target.host, signal);
    if (lookup.status === 'failed') return lookup;
    // A name with one public address could lead there at the next lookup.
    const isPrivate = (address: string) => isAllowedPrivate(address, options.allowNetworks);
    if (target.privateOnly && !lookup.addresses.every(isPrivate))
      return failed('forbidden_address', PLAIN_HTTP_RULE);
    const connection = await dialFirstReachable(
      lookup.addresses,
      target.port,
      options,
      signal,
      timeoutMs,
    );
    if (connection.status === 'failed' || !target.secure) return connection;
    try {
      // Created on first use, because it loads all certificate authorities.
      secureContext ??= createTrustContext(options.ca);
      const socket = await startTls(connection.socket, target.host, secureContext, signal);
      return { status: 'connected', socket };
    } catch (error) {
      connection.socket.destroy();
      return signal.aborted ? timedOut() : failed('tls', tlsProblem(error));
    }
  };
}

/** The first allowed address of a host, for libraries that connect by themselves. Give them the address instead of the name. */
export async function findAllowedAddress(
  options: ConnectorOptions,
  { host, port }: Pick<ConnectTarget, 'host' | 'port'>,
  signal: AbortSignal,
): Promise<{ status: 'found'; address: string } | Failure> {
  const lookup = await addressesOf(options.resolver, host, signal);
  if (lookup.status === 'failed') return lookup;
  const address = lookup.addresses.find((each) => mayDial(each, port, options));
  return address === undefined ? forbidden() : { status: 'found', address };
}

async function addressesOf(
  resolver: Resolver,
  host: string,
  signal: AbortSignal,
): Promise<{ status: 'found'; addresses: string[] } | Failure> {
  const lookup = await lookUpAddresses(resolver, host, signal);
  if (lookup.kind === 'timeout') return timedOut();
  if (lookup.kind === 'none') return failed('no_such_name', 'the host name does not resolve');
  if (lookup.kind === 'unknown') return failed('dns', 'the DNS lookup failed');
  return { status: 'found', addresses: lookup.addresses };
}

/** Connects to the first allowed address that accepts the connection. */
async function dialFirstReachable(
  addresses: string[],
  port: number,
  options: ConnectorOptions,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Connection<Socket>> {
  const allowed = addresses.filter((address) => mayDial(address, port, options));
  const candidates = allowed.slice(0, MAX_DIALED_ADDRESSES);
  let outcome = forbidden();
  for (const [index, address] of candidates.entries()) {
    if (signal.aborted) return timedOut();
    // An unresponsive address must leave time for the next one; the last may use the rest.
    const attemptMs =
      index < candidates.length - 1 ? timeoutMs / (candidates.length + 1) : timeoutMs;
    const attempt = startDeadline(attemptMs, signal);
    const connection = await dialAddress(address, port, options, attempt.signal);
    attempt.stop();
    if (connection.status === 'connected') return connection;
    outcome = connection;
  }
  return outcome;
}

/** Connects to one address. Checks it before dialing, and the socket's peer address after. */
async function dialAddress(
  address: string,
  port: number,
  options: ConnectorOptions,
  signal: AbortSignal,
): Promise<Connection<Socket>> {
  const { dial = openSocket } = options;
  if (!mayDial(address, port, options)) return forbidden();
  let socket: Socket | null = null;
  try {
    socket = dial(address, port);
    // A late error must not crash the process.
    socket.on('error', () => {});
    await once(socket, 'connect', { signal });
    const peer = normalizeAddress(socket.remoteAddress ?? '');
    if (peer !== null && mayDial(peer, port, options)) return { status: 'connected', socket };
    socket.destroy();
    return forbidden();
  } catch (error) {
    socket?.destroy();
    return signal.aborted ? timedOut() : failed('connection', dialProblem(error));
  }
}

/**
 * A connection to a public address of this host bypasses its firewall, so only the ports of a public
 * web server are allowed there.
 */
function mayDial(address: string, port: number, options: ConnectorOptions): boolean {
  const { allowNetworks, ownAddresses = listOwnAddresses } = options;
  if (!mayConnect(address, allowNetworks)) return false;
  if (!isPublicAddress(address) || port === 80 || port === 443) return true;
  return !ownAddresses().map(normalizeAddress).includes(normalizeAddress(address));
}

function listOwnAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
}

const openSocket: Dial = (address, port) =>
  connectSocket({ host: address, port, autoSelectFamily: false, noDelay: true });

function dialProblem(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ECONNREFUSED') return 'the server refused the connection';
  if (code === 'ECONNRESET') return 'the server closed the connection';
  return 'could not connect to the server';
}

// Looks up the addresses of a host name.

const MAX_ADDRESSES = 50;

type HostAddresses =
  /** IPv4 first, because not every host has IPv6 connectivity. */
  | { kind: 'found'; addresses: string[] }
  /** Neither A nor AAAA. */
  | { kind: 'none' }
  /** At least one of the two queries failed, and neither returned an address. */
  | { kind: 'unknown' }
  | { kind: 'timeout' };

/** Queries A and AAAA in parallel. If `host` is an IP address, returns it. */
async function lookUpAddresses(
  resolver: Resolver,
  host: string,
  signal: AbortSignal,
): Promise<HostAddresses> {
  if (isIP(host) !== 0) return { kind: 'found', addresses: [host] };
  const answers = await untilAborted(
    Promise.all([resolver(host, 'A'), resolver(host, 'AAAA')]),
    signal,
  );
  if (answers === null) return { kind: 'timeout' };
  const addresses = [...new Set(answers.flatMap(foundRecords))].slice(0, MAX_ADDRESSES);
  if (addresses.length > 0) return { kind: 'found', addresses };
  return { kind: answers.some(({ status }) => status === 'error') ? 'unknown' : 'none' };
}

function foundRecords(answer: DnsAnswer): string[] {
  return answer.status === 'found' ? answer.records : [];
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(null);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
