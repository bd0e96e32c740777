/** What `check` is given: the message, how it was sent, and the limit for its score. */

import { closeSync, openSync, readSync } from 'node:fs';
import type { AnalysisInput, Envelope } from '../analysis/check.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import { type Io, UsageError } from './io.ts';

const MAX_BYTES = 25 * 1024 * 1024;

/** Throws a UsageError for what cannot be read, is empty or is too large. */
export async function readInput(file: string, io: Io): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = file === '-' ? await io.stdin(MAX_BYTES) : readAtMost(file, MAX_BYTES + 1);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === 'ENOENT' ? `there is no file ${file}` : `${file} cannot be read (${code})`,
    );
  }
  if (bytes.byteLength === 0)
    throw new UsageError(`${file === '-' ? 'standard input' : file} is empty`);
  if (bytes.byteLength > MAX_BYTES) throw new UsageError(`${file} is larger than 25 MiB`);
  return bytes;
}

/** At most so many bytes: a device has no end. */
function readAtMost(file: string, most: number): Uint8Array {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafeSlow(most);
    let size = 0;
    for (let read = -1; read !== 0 && size < most; size += read)
      read = readSync(descriptor, buffer, size, most - size, null);
    return buffer.subarray(0, size);
  } finally {
    closeSync(descriptor);
  }
}

export function readLimit(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new UsageError('--fail-below takes a number from 0 to 100');
  return Number(text);
}

export function readKind(text = 'auto'): AnalysisInput['kind'] {
  if (text === 'auto' || text === 'marketing' || text === 'transactional') return text;
  throw new UsageError('--kind takes auto, marketing or transactional');
}

export function readEnvelope(values: {
  ip?: string;
  helo?: string;
  'mail-from'?: string;
  tls?: string;
}): Envelope {
  const client_ip = values.ip === undefined ? null : normalizeAddress(values.ip);
  if (values.ip !== undefined && client_ip === null)
    throw new UsageError(`"${values.ip}" is not an IP address`);
  return {
    client_ip,
    helo: values.helo ?? null,
    mail_from: values['mail-from']?.replace(/^<(.*)>$/, '$1') ?? null,
    tls: readTls(values.tls),
  };
}

function readTls(text: string | undefined): Envelope['tls'] {
  if (text === undefined) return null;
  if (text === 'none') return { used: false, version: null, cipher: null };
  if (!/^(TLSv1(\.[0-3])?|SSLv3)$/.test(text))
    throw new UsageError('--tls takes TLSv1.3, TLSv1.2, TLSv1.1, TLSv1 or none');
  return { used: true, version: text, cipher: null };
}
