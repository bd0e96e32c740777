/** A saved message as the input of an analysis: what its header says about its receipt, unless the user says otherwise. */

import { isoTime } from '../../lib/clock.ts';
import type { AnalysisInput, Envelope } from '../check.ts';
import { scanHeaders } from '../mime/headers.ts';
import type { FileReceipt, ValueOrigin } from './file-receipt.ts';
import { type Receipt, readReceipt } from './receipt.ts';

const SESSION_VALUES = ['client_ip', 'helo', 'tls', 'mail_from'] as const;
type SessionValues = Pick<Envelope, (typeof SESSION_VALUES)[number]>;

const NOTHING: SessionValues = { client_ip: null, helo: null, tls: null, mail_from: null };
const GIVEN: ValueOrigin = { source: 'given', field: null, by: null };

/** Values that the user gives win. null means that they give none. */
export function fileInput(
  raw: Uint8Array,
  given: SessionValues = NOTHING,
): Pick<AnalysisInput, 'envelope' | 'receivedAt'> {
  const receipt = readReceipt(scanHeaders(raw).headers);
  const origins: FileReceipt['origins'] = fileOrigins(receipt);
  const values: SessionValues = { ...NOTHING, ...(receipt && pickSession(receipt)) };
  const isOther = (name: 'client_ip' | 'mail_from') =>
    given[name] !== null && given[name] !== values[name];
  // The receiver did not judge other values.
  const isJudged = !isOther('client_ip') && !isOther('mail_from');
  // Another client has another HELO name and encryption.
  if (isOther('client_ip'))
    for (const name of ['helo', 'tls'] as const) {
      values[name] = null;
      delete origins[name];
    }
  for (const name of SESSION_VALUES) {
    if (given[name] === null) continue;
    Object.assign(values, { [name]: given[name] });
    origins[name] = GIVEN;
  }
  const { by = null, provider = null, at = null, results: seen = null } = receipt ?? {};
  const results = seen === null || isJudged ? seen : { dkim: seen.dkim };
  const file = { by, provider, at: at === null ? null : isoTime(at), results, origins };
  return { envelope: { ...values, file }, receivedAt: at };
}

const pickSession = ({ client_ip, helo, tls, mail_from }: Receipt): SessionValues => ({
  client_ip,
  helo,
  tls,
  mail_from,
});

const fileOrigins = (receipt: Receipt | null): FileReceipt['origins'] =>
  Object.fromEntries(
    Object.entries(receipt?.origins ?? {}).map(([name, origin]) => [
      name,
      { source: 'file' as const, ...origin },
    ]),
  );

/** When a message arrived: a file by its header, and null if that does not say it. `storedAt`: ISO 8601. */
export function receiptTime({ file }: Envelope, storedAt: string): string | null {
  return file ? file.at : storedAt;
}
