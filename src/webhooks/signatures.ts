/** The header fields that prove to a receiver where an event comes from and that it is whole. */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isoTime } from '../lib/clock.ts';
import type { SecretBox } from '../lib/crypto.ts';
import type { WebhookEndpointRow } from '../store/tables.generated.ts';

interface Signable {
  eventId: string;
  /** The exact text of the body. */
  payload: string;
  /** Milliseconds since 1970: when it is sent. */
  sentAt: number;
}

/**
 * Our own fields (contract §9: `sha256=` and the hex HMAC of `<timestamp>.<payload>` under the whole
 * secret) and those of Standard Webhooks (`v1,` and the base64 HMAC of `<id>.<timestamp>.<payload>`
 * under what its base64 stands for). A former secret that overlaps signs too.
 */
export function signatureHeaders(
  { eventId, payload, sentAt }: Signable,
  { present, former }: SigningSecrets,
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1000));
  const own = (secret: string) =>
    `sha256=${createHmac('sha256', secret).update(`${timestamp}.${payload}`).digest('hex')}`;
  const standard = (secret: string) =>
    `v1,${createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(`${eventId}.${timestamp}.${payload}`)
      .digest('base64')}`;
  return {
    'x-service-signature': own(present),
    ...(former === null ? {} : { 'x-service-signature-previous': own(former) }),
    'x-service-timestamp': timestamp,
    'x-service-event-id': eventId,
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': [present, former]
      .filter((secret) => secret !== null)
      .map(standard)
      .join(' '),
  };
}

// The secrets of endpoints: made, kept encrypted, and which of them sign now.

/** `whsec_` and the base64 of 32 random bytes, as Standard Webhooks has it. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

const purposeOf = (endpointId: string): string => `webhook:${endpointId}`;

export function sealSigningSecret(secrets: SecretBox, endpointId: string, secret: string): string {
  return secrets.seal(secret, purposeOf(endpointId));
}

export interface SigningSecrets {
  present: string;
  /** While it overlaps after a rotation. */
  former: string | null;
}

/** null where the secret can no longer be decrypted. */
export function openSigningSecrets(
  secrets: SecretBox,
  row: Pick<WebhookEndpointRow, 'id' | 'secret' | 'former_secret' | 'former_secret_until'>,
  now: number,
): SigningSecrets | null {
  const purpose = purposeOf(row.id);
  const present = secrets.open(row.secret, purpose);
  if (present === null) return null;
  const { former_secret, former_secret_until: until } = row;
  const overlaps = former_secret !== null && until !== null && isoTime(now) < until;
  return { present, former: overlaps ? secrets.open(former_secret, purpose) : null };
}

// What a receiver does with a delivery first: finds out whether it is from us, whole and of now.

/** A request may be this much older, or newer, than the receiver's clock says. */
const TOLERANCE_S = 300;

interface SignedRequest {
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
