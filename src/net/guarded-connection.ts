/**
 * Connections to hosts that strangers name: every address is checked at the moment it is dialled.
 *
 * Why not a library: those that filter addresses do so in a custom `lookup`, which Node never calls
 * for an address literal, or before the connection, when the name may still change its address.
 */

import { once } from 'node:events';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { type Network, normalizeAddress } from '../lib/addresses.ts';
import { startDeadline } from '../lib/concurrency.ts';
import { isPublicAddress, mayConnect } from './address-guard.ts';
import type { DnsAnswer, Resolver } from './dns/resolver.ts';
import { startTls, tlsProblem, trust } from './tls.ts';

/** Why a request to somebody else's server has no answer. */
export type WebFailure =
  | 'timeout'
  /** The name does not exist: NXDOMAIN, or neither A nor AAAA. */
  | 'no_such_name'
  /** The name could not be looked up. */
  | 'dns'
  /** All its addresses are private, loopback or otherwise special: never connected to. */
  | 'forbidden_address'
  | 'connection'
  | 'tls'
  /** What came is no HTTP. */
  | 'protocol'
  | 'too_large'
  | 'bad_url'
  /** The analysis has asked for as much as it may. */
  | 'limit';

/** Of a name with many addresses, no more than these are dialled. */
const MAX_DIALED_ADDRESSES = 4;

/** Starts a connection to an address, never a name. */
export type Dial = (address: string, port: number) => Socket;

export interface ConnectorOptions {
  /** Names are looked up by it, each time anew. */
  resolver: Resolver;
  /** Networks that may be connected to although they are not public. */
  allowNetworks?: Network[];
  /** Certificate authorities in PEM that are trusted beside the usual ones. */
  ca?: string[];
  /** Replaced in tests; the guard still comes before it. */
  dial?: Dial;
  /** The addresses of this machine. */
  ownAddresses?: () => string[];
}

export interface ConnectTarget {
  /** A name in A-labels without a trailing dot, or an address without brackets. */
  host: string;
  port: number;
  /** TLS, with a certificate for the host. */
  secure: boolean;
}

export type Failure = { status: 'failed'; reason: WebFailure; detail: string };
/** The caller destroys the socket; its errors already have a listener. */
type Connection<S = Duplex> = { status: 'connected'; socket: S } | Failure;

/** Connects before the signal comes, which is after about `timeoutMs`; never rejects. */
export type Connect = (
  target: ConnectTarget,
  signal: AbortSignal,
  timeoutMs: number,
) => Promise<Connection>;

export const failed = (reason: WebFailure, detail: string): Failure => ({
  status: 'failed',
  reason,
  detail,
});

export const timedOut = (): Failure => failed('timeout', 'no answer came in time');

const forbidden = (): Failure =>
  failed('forbidden_address', 'it leads to an address that is not public');

/** The connection step of every request to somebody else's server. */
export function createConnector(options: ConnectorOptions): Connect {
  let secureContext: SecureContext | undefined;
  return async (target, signal, timeoutMs) => {
    const found = await lookUpAddresses(options.resolver, target.host, signal);
    if (found.kind === 'late') return timedOut();
    if (found.kind === 'none') return failed('no_such_name', 'its name does not exist');
    if (found.kind === 'unknown') return failed('dns', 'its name could not be looked up');
    const plain = await dialInTurn(found.addresses, target.port, options, signal, timeoutMs);
    if (plain.status === 'failed' || !target.secure) return plain;
    try {
      // Made at the first use: it holds every authority there is.
      secureContext ??= trust(options.ca);
      const socket = await startTls(plain.socket, target.host, secureContext, signal);
      return { status: 'connected', socket };
    } catch (error) {
      plain.socket.destroy();
      return signal.aborted ? timedOut() : failed('tls', tlsProblem(error));
    }
  };
}

/** The first address that may be connected to and answers. */
async function dialInTurn(
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
    // A silent address must leave time for the next; the last may use up what there is.
    const share = index < candidates.length - 1 ? timeoutMs / (candidates.length + 1) : timeoutMs;
    const attempt = startDeadline(share, signal);
    const opened = await dialOne(address, port, options, attempt.signal);
    attempt.stop();
    if (opened.status === 'connected') return opened;
    outcome = opened;
  }
  return outcome;
}

/** One address, checked here and now, and again by what the socket says it is connected to. */
async function dialOne(
  address: string,
  port: number,
  options: ConnectorOptions,
  signal: AbortSignal,
): Promise<Connection<Socket>> {
  const { dial = dialAddress } = options;
  if (!mayDial(address, port, options)) return forbidden();
  let socket: Socket | null = null;
  try {
    socket = dial(address, port);
    // An error that comes after nobody waits any more must not crash the process.
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
 * A public address of this very machine is reached from inside, behind the firewall that keeps
 * others from it: only where a web server listens for everybody.
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

const dialAddress: Dial = (address, port) =>
  connectSocket({ host: address, port, autoSelectFamily: false, noDelay: true });

function dialProblem(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ECONNREFUSED') return 'it refused the connection';
  if (code === 'ECONNRESET') return 'it closed the connection';
  return 'it could not be connected to';
}

// The addresses of a host name, or why there are none, before a signal comes.

/** No honest name has more. */
const MAX_ADDRESSES = 50;

type HostAddresses =
  /** IPv4 first: not every machine has a way to IPv6. */
  | { kind: 'found'; addresses: string[] }
  /** Neither A nor AAAA. */
  | { kind: 'none' }
  /** One of the two questions was not answered, and the other gave no address. */
  | { kind: 'unknown' }
  | { kind: 'late' };

/** Both questions are asked at once. An address as `host` stands for itself. */
async function lookUpAddresses(
  resolver: Resolver,
  host: string,
  signal: AbortSignal,
): Promise<HostAddresses> {
  if (isIP(host) !== 0) return { kind: 'found', addresses: [host] };
  const answers = await beforeSignal(
    Promise.all([resolver(host, 'A'), resolver(host, 'AAAA')]),
    signal,
  );
  if (answers === null) return { kind: 'late' };
  const addresses = [...new Set(answers.flatMap(recordsIn))].slice(0, MAX_ADDRESSES);
  if (addresses.length > 0) return { kind: 'found', addresses };
  return { kind: answers.some(({ status }) => status === 'error') ? 'unknown' : 'none' };
}

function recordsIn(answer: DnsAnswer): string[] {
  return answer.status === 'found' ? answer.records : [];
}

function beforeSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(null);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
