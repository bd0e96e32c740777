/** `listen`: a receiver for developers, which verifies and prints the events of webhooks. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { type Config, readConfig } from '../../config/config.ts';
import { VARIABLES } from '../../config/variables.ts';
import { systemClock } from '../../lib/clock.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { printable } from '../../lib/log.ts';
import { type Command, EXIT, type Io, readArguments, UsageError } from '../command.ts';
import { type Authority, openAuthority } from './authority.ts';
import { instructions, receiptJson, receiptText } from './print.ts';
import { createReceiver, type Receipt, type ReceiveOptions } from './receive.ts';
import { type ConnectionFault, type ListenServer, startListenServer } from './server.ts';

const { DATA_DIR, HTTP_PORT, BASE_URL } = VARIABLES;
/** The others concern the service alone. */
const LISTEN_VARIABLES = { DATA_DIR, HTTP_PORT, BASE_URL };
type ListenConfig = Pick<Config, keyof typeof LISTEN_VARIABLES>;

export const listen: Command = {
  name: 'listen',
  usage: '[--secret-file FILE] [--forward URL] [--port N] …',
  summary: 'Receive webhooks on this machine: verify and print each event',
  options: [
    '--secret-file FILE   File with the secret of the endpoint (whsec_…), to verify by',
    '--secret SECRET      The secret itself, which others on this machine can see',
    '--forward URL        Pass each event on to your program, and its answer back',
    '--status N           Answer with this status, to try failures (default: 200)',
    '--port N             Port to listen on (default: 4443; 0 takes a free one)',
    '--host ADDRESS       Address to listen on (default: 127.0.0.1, this machine alone)',
    '--name NAME          A further name for the certificate, to be called by',
    '--dir DIR            Folder of its certificate authority (default: DATA_DIR/listen)',
    '--json               Print each delivery as a line of JSON',
  ],
  async run(args, io) {
    const { values } = readArguments(args, LISTEN_OPTIONS);
    const config: ListenConfig = readConfig(io.env, LISTEN_VARIABLES).config;
    const receive = createReceiver({ clock: systemClock, ...readReceiving(values) });
    const place = readPlace(values);
    // From here on a signal is heard: one that comes during the start ends it in order, too.
    const { ended } = io;
    const folder = resolve(values.dir ?? join(config.DATA_DIR, 'listen'));
    const authority = await openAuthority(folder, systemClock.now());
    const show = (receipt: Receipt) =>
      io.stdout(values.json ? receiptJson(receipt) : receiptText(receipt, look(io)));
    const server = await orReport(
      startListenServer({
        ...place,
        tls: await authority.issue(place.names),
        async handle(request) {
          const { receipt, reply } = await receive(request);
          show(receipt);
          return reply;
        },
        onFailedConnection: (kind) => io.stderr(connectionFaultText(kind, authority)),
        onFailure: (error) =>
          io.stderr(`A delivery was answered 500, for this failed: ${printable(String(error))}\n`),
      }),
      io,
    );
    if (server === null) return EXIT.outside;
    const hasSecret = Boolean(values.secret ?? values['secret-file']);
    const { port } = server;
    io.stderr(instructions({ ...place, port, authority, apiUrl: config.BASE_URL, hasSecret }));
    await ended;
    await server.close();
    return EXIT.done;
  },
};

const look = ({ width, colorOut }: Io) => ({ width, color: colorOut });

/** null where the address cannot be listened on, which has then been said. */
async function orReport(starting: Promise<ListenServer>, io: Io): Promise<ListenServer | null> {
  try {
    return await starting;
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== 'listen' && syscall !== 'getaddrinfo') throw error;
    const why = code === 'EADDRINUSE' ? 'another program listens there' : message;
    io.stderr(`Cannot listen: ${why}. Give another --port (0 takes a free one) or --host.\n`);
    return null;
  }
}

function connectionFaultText(kind: ConnectionFault, { file }: Authority): string {
  return kind === 'plain_http'
    ? 'A caller speaks plain HTTP: the address begins with https://.\n'
    : `A caller went without a request. If it was the service: does it run with DELIVERABILITY_WEBHOOK_CA_FILE=${file}?\n`;
}

// What `listen` is told: where to listen, what to verify by and what to answer.

const LISTEN_OPTIONS = {
  secret: { type: 'string' },
  'secret-file': { type: 'string' },
  forward: { type: 'string' },
  status: { type: 'string' },
  port: { type: 'string' },
  host: { type: 'string' },
  name: { type: 'string' },
  dir: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Values = { [Name in Exclude<keyof typeof LISTEN_OPTIONS, 'json'>]?: string };

/** Throws a UsageError. */
function readReceiving(values: Values): Omit<ReceiveOptions, 'clock'> {
  if (values.forward !== undefined && values.status !== undefined)
    throw new UsageError('--forward and --status exclude each other: your program answers');
  return {
    secret: readSecret(values),
    forwardTo: readForward(values.forward),
    status: readNumber('--status', values.status ?? '200', [200, 599]),
  };
}

interface Place {
  host: string;
  port: number;
  /** Of the certificate. */
  names: [string, ...string[]];
  /** The host of the address that it is called by. */
  calledBy: string;
}

/** Throws a UsageError. */
function readPlace({ host = '127.0.0.1', port = '4443', name }: Values): Place {
  // The service is told to call one address, and this prints which.
  if (isIP(host) === 0 || host === '0.0.0.0' || host === '::')
    throw new UsageError(
      '--host takes an IP address of this machine, by which the service calls it',
    );
  const called = name === undefined ? null : normalizeDomain(name);
  if (name !== undefined && called === null)
    throw new UsageError('--name takes a name such as receiver.example.com');
  if (called !== null && /(?:^|\.)localhost$/.test(called))
    throw new UsageError(
      '--name takes no localhost, which the service never calls: leave --name out to be called by 127.0.0.1',
    );
  const calledBy = called ?? host;
  const others = ['localhost', '127.0.0.1', '::1', host].filter((other) => other !== calledBy);
  return {
    host,
    port: readNumber('--port', port, [0, 65_535]),
    names: [calledBy, ...new Set(others)],
    calledBy,
  };
}

function readSecret({ secret, 'secret-file': file }: Values): string | null {
  if (secret !== undefined && file !== undefined)
    throw new UsageError('--secret and --secret-file exclude each other');
  const text = file === undefined ? secret : readText(file);
  if (text === undefined) return null;
  // It is not repeated: it may be the right one with a character too many.
  if (!/^whsec_[\w+/-]+=*$/.test(text))
    throw new UsageError(
      `${file === undefined ? '--secret' : file} is no secret of an endpoint: it begins with whsec_`,
    );
  return text;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`--secret-file ${file} cannot be read (${code})`);
  }
}

function readForward(text: string | undefined): URL | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError('--forward takes an address such as http://127.0.0.1:3000/webhooks');
  return url;
}

function readNumber(option: string, text: string, [least, most]: [number, number]): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most))
    throw new UsageError(`${option} takes a number from ${least} to ${most}`);
  return number;
}
