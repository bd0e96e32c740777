/** Mail to the feedback addresses of domains: `fb-…@`, also with a suffix after a plus sign. */

import type { App } from '../app.ts';
import { feedbackToken } from '../domains/feedback/address.ts';
import { rateLimitFor } from '../http/shared-rate-limit.ts';
import { type Destination, reject } from '../smtp/destination.ts';
import type { Db } from '../store/open.ts';
import { storeFeedback } from './intake.ts';
import { admit } from './storage/admission.ts';

/** Large reporters send one message for each domain and day. */
const NETWORK_RATE = { requests: 1000, seconds: 3600 };
/** In KiB. */
const NETWORK_SIZE_RATE = { requests: 64 * 1024, seconds: 3600 };

const STORAGE_FULL = reject(
  452,
  '4.3.1',
  'The storage for reports of unconfirmed senders is full, try again later',
);
const NOT_VERIFIED = reject(451, '4.7.5', 'The sender could not be verified, try again later');

export const feedbackDestination = (app: App): Destination => ({
  label: 'feedback',
  maxSize: app.config.FEEDBACK_MAX_SIZE,
  networkLimit: rateLimitFor(app, 'feedback', NETWORK_RATE),
  networkSizeLimit: rateLimitFor(app, 'feedback KiB', {
    ...NETWORK_SIZE_RATE,
    // At least one message of the maximum size.
    requests: Math.max(NETWORK_SIZE_RATE.requests, Math.ceil(app.config.FEEDBACK_MAX_SIZE / 1024)),
  }),
  async check({ user }) {
    return (await findDomainByAddress(app.db, user)) === null ? null : { accept: true };
  },
  async receive({ envelope, recipients, raw }) {
    const [first] = recipients;
    // Its domain can have been deleted since RCPT: the report may be about another one.
    const domainId = await findDomainByAddress(app.db, first.user);
    const arrival = { raw, source: 'smtp', domainId, envelope } as const;
    const admission = await admit(app, arrival);
    if (admission !== 'accepted') return admission === 'full' ? STORAGE_FULL : NOT_VERIFIED;
    const mail = await storeFeedback(app, {
      ...arrival,
      suffix: first.detail,
    });
    app.log.info('accepted feedback', {
      feedback: mail.id,
      domain: domainId,
      client_ip: envelope.client_ip,
      bytes: mail.size,
    });
    return { accept: true, text: `Accepted as ${mail.id}` };
  },
});

/** The ID of the domain with this address; null if there is none. */
async function findDomainByAddress(db: Db, user: string): Promise<string | null> {
  const token = feedbackToken(user);
  return token === null ? null : findDomainByToken(db, token);
}

/** The same by the characters after `fb-`, in lower case. */
export async function findDomainByToken(db: Db, token: string): Promise<string | null> {
  const row = await db
    .selectFrom('feedback_domains')
    .innerJoin('domains', 'domains.id', 'feedback_domains.id')
    .select('domains.id')
    .where('feedback_domains.token', '=', token)
    .executeTakeFirst();
  return row?.id ?? null;
}
