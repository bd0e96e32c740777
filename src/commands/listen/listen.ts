/** `listen`: receives, verifies and prints webhook events, for developers. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { type Config, readConfig } from '../../config/config.ts';
import { VARIABLES } from '../../config/variables.ts';
import { systemClock } from '../../lib/clock.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { printable } from '../../lib/log.ts';
import { defineCommand, EXIT, type Io, UsageError } from '../command.ts';
import { type Authority, openAuthority } from './authority.ts';
import { instructions, receiptJson, receiptText } from './print.ts';
import { createReceiver, type Receipt, type ReceiveOptions } from './receive.ts';
import { type ConnectionFault, type ListenServer, startListenServer } from './server.ts';

const { DATA_DIR, HTTP_PORT, BASE_URL } = VARIABLES;
/** Other variables affect only the service. */
const LISTEN_VARIABLES = { DATA_DIR, HTTP_PORT, BASE_URL };
type ListenConfig = Pick<Config, keyof typeof LISTEN_VARIABLES>;

export const listen = defineCommand({
  name: 'listen',
  summary: 'Receive webhooks on this machine; verify and print each event',
  options: {
    'secret-file': {
      value: 'FILE',
      description: 'File with the signing secret of the endpoint (whsec_…)',
      completion: 'file',
    },
    secret: {
      value: 'SECRET',
      description: 'The signing secret; other users of this machine can see it',
    },
    forward: {
      value: 'URL',
      description: 'Forward each event to your program and return its response',
    },
    status: {
      value: 'N',
      description: 'Respond with this status, to test failures (default: 200)',
    },
    port: { value: 'N', description: 'Port to listen on (default: 4443; 0 for any free port)' },
    host: { value: 'ADDRESS', description: 'Address to listen on (default: 127.0.0.1)' },
    name: { value: 'NAME', description: 'Host name in the URL and the certificate' },
    dir: {
      value: 'DIR',
      description: 'Folder of the certificate authority (default: DATA_DIR/listen)',
      completion: 'folder',
    },
    json: { description: 'Print each delivery as a line of JSON' },
  },
  async run({ values }, io) {
    const config: ListenConfig = readConfig(io.env, LISTEN_VARIABLES).config;
    const receive = createReceiver({ clock: systemClock, ...readReceiveOptions(values) });
    const listenAddress = readListenAddress(values);
    // Installs the signal handlers first, so that a signal during startup also shuts down cleanly.
    const { interrupted } = io;
    const folder = resolve(values.dir ?? join(config.DATA_DIR, 'listen'));
    const authority = await openAuthority(folder, systemClock.now());
    const printReceipt = (receipt: Receipt) =>
      io.stdout(values.json ? receiptJson(receipt) : receiptText(receipt, printOptions(io)));
    const server = await reportListenError(
      startListenServer({
        ...listenAddress,
        tls: await authority.issue(listenAddress.names),
        async handle(request) {
          const { receipt, reply } = await receive(request);
          printReceipt(receipt);
          return reply;
        },
        onFailedConnection: (fault) => io.stderr(connectionFaultText(fault, authority)),
        onFailure: (error) =>
          io.stderr(
            `Responded 500 to a delivery because of an error: ${printable(String(error))}\n`,
          ),
      }),
      io,
    );
    if (server === null) return EXIT.externalFailure;
    const hasSecret = Boolean(values.secret ?? values['secret-file']);
    const { port } = server;
    io.stderr(
      instructions({ ...listenAddress, port, authority, apiUrl: config.BASE_URL, hasSecret }),
    );
    await interrupted;
    await server.close();
    return EXIT.success;
  },
});

const printOptions = ({ width, useColor }: Io) => ({ width, color: useColor });

/** null if the address is unavailable; the error is already printed. */
async function reportListenError(
  startup: Promise<ListenServer>,
  io: Io,
): Promise<ListenServer | null> {
  try {
    return await startup;
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== 'listen' && syscall !== 'getaddrinfo') throw error;
    const reason = code === 'EADDRINUSE' ? 'the port is in use' : message;
    io.stderr(
      `Cannot listen: ${printable(reason)}. Use another --port (0 for any free port) or --host.\n`,
    );
    return null;
  }
}

function connectionFaultText(fault: ConnectionFault, { file }: Authority): string {
  return fault === 'plain_http'
    ? 'A client used plain HTTP. The URL must begin with https://.\n'
    : `A client connected and sent no request. If that was the service, restart the service with DELIVERABILITY_WEBHOOK_CA_FILE=${file}.\n`;
}

// Options of `listen`.

type OptionValues = {
  [Name in 'secret' | 'secret-file' | 'forward' | 'status' | 'port' | 'host' | 'name']?: string;
};

/** Throws a UsageError. */
function readReceiveOptions(values: OptionValues): Omit<ReceiveOptions, 'clock'> {
  if (values.forward !== undefined && values.status !== undefined)
    throw new UsageError(
      '--forward and --status cannot be combined: your program decides the status',
    );
  return {
    secret: readSecret(values),
    forwardTo: readForwardUrl(values.forward),
    status: readNumber('--status', values.status ?? '200', [200, 599]),
  };
}

interface ListenAddress {
  host: string;
  port: number;
  /** The host names and addresses in the certificate. */
  names: [string, ...string[]];
  /** The host of the URL. */
  urlHost: string;
}

/** Throws a UsageError. */
function readListenAddress({
  host = '127.0.0.1',
  port = '4443',
  name,
}: OptionValues): ListenAddress {
  // The printed URL needs one address that the service can call.
  if (isIP(host) === 0 || host === '0.0.0.0' || host === '::')
    throw new UsageError('--host must be an IP address of this machine that the service can reach');
  const hostName = name === undefined ? null : normalizeDomain(name);
  if (name !== undefined && hostName === null)
    throw new UsageError('--name must be a host name such as receiver.example.com');
  if (hostName !== null && /(?:^|\.)localhost$/.test(hostName))
    throw new UsageError(
      '--name cannot be localhost, which the service never calls. Omit --name to use 127.0.0.1',
    );
  const urlHost = hostName ?? host;
  const otherNames = ['localhost', '127.0.0.1', '::1', host].filter((other) => other !== urlHost);
  return {
    host,
    port: readNumber('--port', port, [0, 65_535]),
    names: [urlHost, ...new Set(otherNames)],
    urlHost,
  };
}

function readSecret({ secret, 'secret-file': file }: OptionValues): string | null {
  if (secret !== undefined && file !== undefined)
    throw new UsageError('--secret and --secret-file cannot be combined');
  const text = file === undefined ? secret : readText(file);
  if (text === undefined) return null;
  // The error does not quote the text, because it may be a real secret with a typo.
  if (!/^whsec_[\w+/-]+=*$/.test(text))
    throw new UsageError(
      `${file === undefined ? '--secret' : file} is not a signing secret: it must begin with whsec_`,
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

function readForwardUrl(text: string | undefined): URL | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError('--forward must be a URL such as http://127.0.0.1:3000/webhooks');
  return url;
}

function readNumber(option: string, text: string, [min, max]: [number, number]): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= min && number <= max))
    throw new UsageError(`${option} must be a number from ${min} to ${max}`);
  return number;
}
