/** What `listen` is told: where to listen, what to verify by and what to answer. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { normalizeDomain } from '../lib/domain-names.ts';
import type { ReceiveOptions } from '../listen/receive.ts';
import { UsageError } from './io.ts';

export const LISTEN_OPTIONS = {
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
export function readReceiving(values: Values): Omit<ReceiveOptions, 'clock'> {
  if (values.forward !== undefined && values.status !== undefined)
    throw new UsageError('--forward and --status exclude each other: your program answers');
  return {
    secret: readSecret(values),
    forwardTo: readForward(values.forward),
    status: readNumber('--status', values.status ?? '200', [200, 599]),
  };
}

export interface Place {
  host: string;
  port: number;
  /** Of the certificate. */
  names: [string, ...string[]];
  /** The host of the address that it is called by. */
  calledBy: string;
}

/** Throws a UsageError. */
export function readPlace({ host = '127.0.0.1', port = '4443', name }: Values): Place {
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
