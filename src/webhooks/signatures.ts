/** Webhook signatures: the headers that prove the origin and integrity of an event, and their verification. */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isoTime } from '../lib/clock.ts';
import type { SecretBox } from '../lib/crypto.ts';
import type { WebhookEndpointRow } from '../store/tables.generated.ts';

interface Signable {
  eventId: string;
  /** The exact body. */
  payload: string;
  /** Milliseconds since the epoch. */
  sentAt: number;
}

/**
 * Returns our own headers and those of Standard Webhooks. Ours is `sha256=` and the hex HMAC of
 * `<timestamp>.<payload>`, keyed with the complete secret. The other is `v1,` and the base64 HMAC of
 * `<id>.<timestamp>.<payload>`, keyed with the decoded secret. During an overlap, the previous secret
 * signs too.
 */
export function signatureHeaders(
  { eventId, payload, sentAt }: Signable,
  { current, previous }: SigningSecrets,
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1000));
  const own = (secret: string) =>
    `sha256=${createHmac('sha256', secret).update(`${timestamp}.${payload}`).digest('hex')}`;
  const standard = (secret: string) =>
    `v1,${createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(`${eventId}.${timestamp}.${payload}`)
      .digest('base64')}`;
  return {
    'x-service-signature': own(current),
    ...(previous === null ? {} : { 'x-service-signature-previous': own(previous) }),
    'x-service-timestamp': timestamp,
    'x-service-event-id': eventId,
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': [current, previous]
      .filter((secret) => secret !== null)
      .map(standard)
      .join(' '),
  };
}

// The secrets of endpoints: creation, encryption, and overlap after a rotation.

/** `whsec_` and the base64 of 32 random bytes, as in Standard Webhooks. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

const purposeOf = (endpointId: string): string => `webhook:${endpointId}`;

export function sealSigningSecret(secrets: SecretBox, endpointId: string, secret: string): string {
  return secrets.seal(secret, purposeOf(endpointId));
}

export interface SigningSecrets {
  current: string;
  /** Only during the overlap after a rotation. */
  previous: string | null;
}

/** null if the secret can't be decrypted. */
export function openSigningSecrets(
  secrets: SecretBox,
  row: Pick<WebhookEndpointRow, 'id' | 'secret' | 'former_secret' | 'former_secret_until'>,
  now: number,
): SigningSecrets | null {
  const purpose = purposeOf(row.id);
  const current = secrets.open(row.secret, purpose);
  if (current === null) return null;
  const { former_secret, former_secret_until: until } = row;
  const overlaps = former_secret !== null && until !== null && isoTime(now) < until;
  return { current, previous: overlaps ? secrets.open(former_secret, purpose) : null };
}

// Verification on the receiving side.

/** The maximum difference between the timestamp and the receiver's clock, in either direction. */
const TOLERANCE_S = 300;

interface SignedRequest {
  /** By lowercase name. */
  headers: Record<string, string | undefined>;
  /** The raw bytes, because parsing and serializing again would change them. */
  body: Uint8Array;
  /** Including the prefix `whsec_`. */
  secret: string;
  /** Milliseconds since the epoch. */
  now: number;
}

export type Verification =
  /** `former`: the given secret is the one before the last rotation, which stops signing soon. */
  | { verified: true; former: boolean }
  /** `reason` is for users, without a final period. */
  | { verified: false; reason: string };

/** Verifies our own headers and those of Standard Webhooks. All that are given must be valid. */
export function verifySignature(request: SignedRequest): Verification {
  const { headers } = request;
  const schemes = [
    ...(headers['x-service-signature'] === undefined ? [] : [ownScheme(request)]),
    ...(headers['webhook-signature'] === undefined ? [] : [standardScheme(request)]),
  ];
  if (schemes.length === 0) return reject('the request has no signature');
  for (const scheme of schemes) {
    const problem = timestampProblem(scheme.timestamp, request.now);
    if (problem !== null) return reject(problem);
    if (!scheme.matches.includes(true))
      return reject(
        `${scheme.header} does not match: the secret is wrong, or the body was changed in transit`,
      );
  }
  return { verified: true, former: !schemes.every(({ matches }) => matches[0]) };
}

const reject = (reason: string): Verification => ({ verified: false, reason });

interface Scheme {
  /** The name of the signature header. */
  header: string;
  timestamp: string | undefined;
  /** Whether each signature matches the given secret; the one by the current secret is first. */
  matches: boolean[];
}

/** `sha256=` and the hex HMAC of `<timestamp>.<body>`, keyed with the whole secret. */
function ownScheme({ headers, body, secret }: SignedRequest): Scheme {
  const timestamp = headers['x-service-timestamp'];
  const expected = hmac(secret, `${timestamp}.`, body).toString('hex');
  const given = [headers['x-service-signature'], headers['x-service-signature-previous']];
  return {
    header: 'X-Service-Signature',
    timestamp,
    matches: given.map((value = '') => isSame(value, `sha256=${expected}`)),
  };
}

/** `v1,` and the base64 HMAC of `<id>.<timestamp>.<body>`, keyed with the decoded secret. */
function standardScheme({ headers, body, secret }: SignedRequest): Scheme {
  const timestamp = headers['webhook-timestamp'];
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = hmac(key, `${headers['webhook-id']}.${timestamp}.`, body).toString('base64');
  const given = headers['webhook-signature']!.split(' ').filter((value) => value.startsWith('v1,'));
  return {
    header: 'webhook-signature',
    timestamp,
    matches: given.map((value) => isSame(value, `v1,${expected}`)),
  };
}

const hmac = (key: string | Uint8Array, head: string, body: Uint8Array): Buffer =>
  createHmac('sha256', key).update(head).update(body).digest();

/** Compares in constant time. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function timestampProblem(timestamp: string | undefined, now: number): string | null {
  if (!/^\d{1,12}$/.test(timestamp ?? '')) return 'the timestamp header is missing or invalid';
  const age = Math.floor(now / 1000) - Number(timestamp);
  if (Math.abs(age) <= TOLERANCE_S) return null;
  const distance = `${Math.abs(age)} s ${age > 0 ? 'in the past' : 'in the future'}`;
  return `the timestamp is ${distance}; the limit is ${TOLERANCE_S} s`;
}
