/** Webhook signatures: the headers that prove the origin and integrity of an event, and their verification. */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { WebhookInfo } from '../http/openapi/webhooks.ts';
import { exampleId } from '../http/schemas.ts';
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
  const serviceSignature = (secret: string) =>
    `sha256=${createHmac('sha256', secret).update(`${timestamp}.${payload}`).digest('hex')}`;
  const standardSignature = (secret: string) =>
    `v1,${createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(`${eventId}.${timestamp}.${payload}`)
      .digest('base64')}`;
  return {
    'x-service-signature': serviceSignature(current),
    ...(previous === null ? {} : { 'x-service-signature-previous': serviceSignature(previous) }),
    'x-service-timestamp': timestamp,
    'x-service-event-id': eventId,
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': [current, previous]
      .filter((secret) => secret !== null)
      .map(standardSignature)
      .join(' '),
  };
}

/** The requests to endpoints, for the documentation. */
export const WEBHOOK_REQUESTS: WebhookInfo = {
  headers: {
    'X-Service-Signature': {
      description:
        '`sha256=` and the hex HMAC-SHA256 of the timestamp, a period and the raw body. The key is the whole secret, including `whsec_`. Compare it in constant time.',
      example: 'sha256=5f0c2d7c1d4fb1a0e9f9f2a1c3b7d8e65a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d',
      required: true,
    },
    'X-Service-Signature-Previous': {
      description:
        'The same signature with the previous secret. Only sent during the overlap after a rotation.',
      example: 'sha256=0d1c2b3a4f5e6d7c8b9a0f1e2d3c4b5a6e8d7b3c1a2f9f9e0a1bf4d1c7d2c0f5',
      required: false,
    },
    'X-Service-Timestamp': {
      description:
        'When the request was sent, in Unix seconds. Reject requests that are more than 300 seconds off.',
      example: '1795255224',
      required: true,
    },
    'X-Service-Event-ID': {
      description: 'The ID of the event. Ignore events that you have already processed.',
      example: exampleId('evt'),
      required: true,
    },
    'webhook-id': {
      description: 'The ID of the event, as in Standard Webhooks.',
      example: exampleId('evt'),
      required: true,
    },
    'webhook-timestamp': {
      description: 'When the request was sent, in Unix seconds, as in Standard Webhooks.',
      example: '1795255224',
      required: true,
    },
    'webhook-signature': {
      description:
        '`v1,` and the base64 HMAC-SHA256 of ID, timestamp and body, as in Standard Webhooks. During an overlap, a second signature follows after a space.',
      example: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      required: true,
    },
  },
  responses: {
    '2XX': 'The event was received. Respond within 30 seconds, and process the event afterwards.',
    400: 'The signature or the timestamp is invalid. The event is sent again.',
    default:
      'Any other response, or none within 30 seconds, is a failure. The event is sent again 1 min, 5 min, 30 min, 2 h and 8 h after the previous attempt. Redirects are not followed.',
  },
};

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
  /** `former`: the request was verified with the secret from before the last rotation, which stops signing soon. */
  | { verified: true; isPreviousSecret: boolean }
  /** `reason` is for users, without a final period. */
  | { verified: false; reason: string };

/** Verifies our own headers and those of Standard Webhooks. If both are present, both must be valid. */
export function verifySignature(request: SignedRequest): Verification {
  const { headers } = request;
  const schemes = [
    ...(headers['x-service-signature'] === undefined ? [] : [serviceScheme(request)]),
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
  return { verified: true, isPreviousSecret: !schemes.every(({ matches }) => matches[0]) };
}

const reject = (reason: string): Verification => ({ verified: false, reason });

interface Scheme {
  /** The name of the signature header. */
  header: string;
  timestamp: string | undefined;
  /** Whether each signature matches the secret. The signature made with the current secret comes first. */
  matches: boolean[];
}

/** The hex HMAC of `<timestamp>.<body>`, keyed with the whole secret, with or without `sha256=` before it. */
function serviceScheme({ headers, body, secret }: SignedRequest): Scheme {
  const timestamp = headers['x-service-timestamp'];
  const expected = hmac(secret, `${timestamp}.`, body).toString('hex');
  const signatures = [headers['x-service-signature'], headers['x-service-signature-previous']];
  return {
    header: 'X-Service-Signature',
    timestamp,
    matches: signatures.map((value = '') => isSame(value.replace(/^sha256=/, ''), expected)),
  };
}

/** `v1,` and the base64 HMAC of `<id>.<timestamp>.<body>`, keyed with the decoded secret. */
function standardScheme({ headers, body, secret }: SignedRequest): Scheme {
  const timestamp = headers['webhook-timestamp'];
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = hmac(key, `${headers['webhook-id']}.${timestamp}.`, body).toString('base64');
  const signatures = headers['webhook-signature']!.split(' ').filter((value) =>
    value.startsWith('v1,'),
  );
  return {
    header: 'webhook-signature',
    timestamp,
    matches: signatures.map((value) => isSame(value, `v1,${expected}`)),
  };
}

const hmac = (key: string | Uint8Array, head: string, body: Uint8Array): Buffer =>
  createHmac('sha256', key).update(head).update(body).digest();

/** Compares in constant time. */
function isSame(signature: string, expected: string): boolean {
  const [actualBytes, expectedBytes] = [Buffer.from(signature), Buffer.from(expected)];
  return actualBytes.length === expectedBytes.length && timingSafeEqual(actualBytes, expectedBytes);
}

function timestampProblem(timestamp: string | undefined, now: number): string | null {
  if (!/^\d{1,12}$/.test(timestamp ?? '')) return 'the timestamp header is missing or invalid';
  const age = Math.floor(now / 1000) - Number(timestamp);
  if (Math.abs(age) <= TOLERANCE_S) return null;
  const distance = `${Math.abs(age)} s ${age > 0 ? 'in the past' : 'in the future'}`;
  return `the timestamp is ${distance}; the limit is ${TOLERANCE_S} s`;
}
