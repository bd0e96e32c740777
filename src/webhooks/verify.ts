/** What a receiver does with a delivery first: finds out whether it is from us, whole and of now. */

import { createHmac, timingSafeEqual } from 'node:crypto';

/** A request may be this much older, or newer, than the receiver's clock says. */
const TOLERANCE_S = 300;

export interface SignedRequest {
  /** By names in lower case. */
  headers: Record<string, string | undefined>;
  /** The bytes as they came: parsed and written again they are others. */
  body: Uint8Array;
  /** The whole `whsec_…`. */
  secret: string;
  /** Milliseconds since 1970. */
  now: number;
}

export type Verification =
  /** `former`: the secret is the one before the last rotation, which will soon sign no more. */
  | { verified: true; former: boolean }
  /** `reason` is half a sentence for people. */
  | { verified: false; reason: string };

/**
 * Looks at our own header fields and at those of Standard Webhooks, and at each alone where the
 * other is missing: whatever is there has to be right.
 */
export function verifySignature(request: SignedRequest): Verification {
  const { headers } = request;
  const schemes = [
    ...(headers['x-service-signature'] === undefined ? [] : [ownScheme(request)]),
    ...(headers['webhook-signature'] === undefined ? [] : [standardScheme(request)]),
  ];
  if (schemes.length === 0) return refuse('it has no signature');
  for (const scheme of schemes) {
    const late = timeFault(scheme.timestamp, request.now);
    if (late !== null) return refuse(late);
    if (!scheme.matches.includes(true))
      return refuse(`${scheme.field} is of another secret, or the body was changed on its way`);
  }
  return { verified: true, former: !schemes.every(({ matches }) => matches[0]) };
}

const refuse = (reason: string): Verification => ({ verified: false, reason });

interface Scheme {
  /** Of the signature. */
  field: string;
  timestamp: string | undefined;
  /** Whether the signature by the present secret is right, and those by former ones. */
  matches: boolean[];
}

/** `sha256=` and the hex HMAC of `<timestamp>.<body>`; the key is the whole secret. */
function ownScheme({ headers, body, secret }: SignedRequest): Scheme {
  const timestamp = headers['x-service-timestamp'];
  const expected = hmac(secret, `${timestamp}.`, body).toString('hex');
  const given = [headers['x-service-signature'], headers['x-service-signature-previous']];
  return {
    field: 'X-Service-Signature',
    timestamp,
    matches: given.map((value = '') => isSame(value, `sha256=${expected}`)),
  };
}

/** Values `v1,` and the base64 HMAC of `<id>.<timestamp>.<body>`; the key is what the base64 of the secret stands for. */
function standardScheme({ headers, body, secret }: SignedRequest): Scheme {
  const timestamp = headers['webhook-timestamp'];
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = hmac(key, `${headers['webhook-id']}.${timestamp}.`, body).toString('base64');
  const given = headers['webhook-signature']!.split(' ').filter((value) => value.startsWith('v1,'));
  return {
    field: 'webhook-signature',
    timestamp,
    matches: given.map((value) => isSame(value, `v1,${expected}`)),
  };
}

const hmac = (key: string | Uint8Array, head: string, body: Uint8Array): Buffer =>
  createHmac('sha256', key).update(head).update(body).digest();

/** In a time that does not tell how much of it is right. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function timeFault(timestamp: string | undefined, now: number): string | null {
  if (!/^\d{1,12}$/.test(timestamp ?? '')) return 'it does not say when it was sent';
  const age = Math.floor(now / 1000) - Number(timestamp);
  if (Math.abs(age) <= TOLERANCE_S) return null;
  const distance = `${Math.abs(age)} s ${age > 0 ? 'ago' : 'from now'}`;
  return `it was sent ${distance}, and ${TOLERANCE_S} s are allowed`;
}
