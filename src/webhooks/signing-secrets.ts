/** The secrets of endpoints: made, kept encrypted, and which of them sign now. */

import { randomBytes } from 'node:crypto';
import { isoTime } from '../lib/clock.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { WebhookEndpointRow } from '../store/webhook-tables.ts';

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
