/** Refuses files over HTTPS that there is no space for. */

import type { App } from '../../app.ts';
import { requireSpare } from '../../http/disk-space.ts';
import { addressGroup, consumeRateLimit } from '../../http/rate-limit.ts';
import { rateLimitFor } from '../../http/shared-rate-limit.ts';
import { AppError } from '../../lib/errors.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { admit } from './admission.ts';
import { bytesUntilRead, isKnownSource } from './stored.ts';
import { changeStored } from './usage.ts';
import type { Arrival } from './verify-before-reply.ts';

/** Reserves the space. Throws `unavailable`. */
export async function requireStorage(app: App, arrival: Arrival): Promise<void> {
  await requireSpare(app);
  if ((await admit(app, arrival)) !== 'accepted')
    throw new AppError(
      'unavailable',
      'The storage for feedback is full. Ask your administrator to raise DELIVERABILITY_FEEDBACK_STORAGE.',
    );
}

/** Releases the space if the mail was not stored after all. */
export const releaseStorage = (
  app: App,
  { raw, source, domainId }: Pick<Arrival, 'raw' | 'source' | 'domainId'>,
): void => changeStored(app, domainId, isKnownSource(source), -bytesUntilRead(raw.byteLength));

/** In KiB. */
const TLS_SIZE_RATE = { requests: 16 * 1024, seconds: 3600 };
const tlsSizeLimitOf = memoizePerObject((app: App) =>
  rateLimitFor(app, 'postTlsReport KiB', TLS_SIZE_RATE),
);

/** What a client without credentials may send. Throws `rate_limited`. */
export const consumeTlsBytes = (app: App, ip: string | null, bytes: number): Promise<void> =>
  consumeRateLimit(tlsSizeLimitOf(app), addressGroup(ip), {}, Math.ceil(bytes / 1024));
