/**
 * Decides whether there is space for another message or file. While a share of the disk is full, only known and confirmed
 * reporters and members add to it, and older originals make room for them.
 */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import { dropContent } from '../expire.ts';
import { MAX_REDUCED_BYTES } from '../reading/reduce.ts';
import { bytesUntilRead, isKnownMail, isKnownSource } from './stored.ts';
import { changeStored, type Fullness, type StorageUsage, storageUsage } from './usage.ts';
import { type Arrival, verifyBeforeReply } from './verify-before-reply.ts';

/** `accepted`: the space is reserved. `unknown`: it was not verified in time. */
export type Admission = 'accepted' | 'full' | 'unknown';

export async function admit(app: App, arrival: Arrival): Promise<Admission> {
  const isPerson = isKnownSource(arrival.source);
  if (await reserve(app, arrival, isPerson)) return 'accepted';
  const sender = isPerson ? 'known' : await verifyBeforeReply(app, arrival);
  if (sender !== 'known') return sender === 'unknown' ? 'unknown' : 'full';
  if (await reserve(app, arrival, true)) return 'accepted';
  await makeRoom(app, arrival);
  return (await reserve(app, arrival, true)) ? 'accepted' : 'full';
}

/** The shares that a message to this domain is part of. */
const sharesOf = (usage: StorageUsage, domainId: string | null): Fullness[] => [
  usage.all,
  ...(domainId === null ? [] : [usage.ofDomain(domainId)]),
];

async function reserve(
  app: App,
  { raw, source, domainId }: Arrival,
  isKnown: boolean,
): Promise<boolean> {
  const bytes = bytesUntilRead(raw.byteLength);
  // Once it is read, nothing larger is kept. Until then, one message can exceed its share.
  const unverified = Math.min(bytes, bytesUntilRead(MAX_REDUCED_BYTES));
  const hasRoom = sharesOf(await storageUsage(app), domainId).every(
    ({ used, limit }) =>
      used.total + bytes <= limit.total &&
      (isKnown || used.unverified + unverified <= limit.unverified),
  );
  if (hasRoom) changeStored(app, domainId, isKnownSource(source), bytes);
  return hasRoom;
}

/** More than needed, so that not each message has to. */
const EXTRA_PART = 0.05;

async function makeRoom(app: App, { raw, domainId }: Arrival): Promise<void> {
  const bytes = bytesUntilRead(raw.byteLength);
  const [all, domain] = sharesOf(await storageUsage(app), domainId);
  for (const [share, id] of [
    [domain, domainId],
    [all, null],
  ] as const) {
    if (!share) continue;
    const missing = share.used.total + bytes - share.limit.total;
    if (missing > 0) await deleteOriginals(app, id, missing + share.limit.total * EXTRA_PART);
  }
}

const STEP_MAILS = 20;

/** Whether a row of `feedback_mails` has nothing but refused reports and copies. */
const hasOnlyRefusedOrCopies = sql<boolean>`not exists (select 1 from feedback_reports as report
  where report.mail_id = mail.id and report.status not in ('refused', 'duplicate'))`;

/**
 * Deletes original messages and files early; what was read from them stays. Refused ones and copies go first, then the
 * oldest of known reporters and members, until `bytes` bytes are deleted or none are left. `domainId`: only those of this
 * domain.
 */
async function deleteOriginals(app: App, domainId: string | null, bytes: number): Promise<void> {
  let deleted = 0;
  for (const chosen of [hasOnlyRefusedOrCopies, isKnownMail('mail')])
    while (deleted < bytes) {
      let query = app.db
        .selectFrom('feedback_mails as mail')
        .select(['mail.id', 'mail.size', 'mail.domain_id', 'mail.source'])
        .where('mail.due_at', 'is', null)
        .where('mail.size', '>', 0)
        .where(chosen)
        .orderBy('mail.received_at')
        .orderBy('mail.id')
        .limit(STEP_MAILS);
      if (domainId !== null) query = query.where('mail.domain_id', '=', domainId);
      const oldest = await query.execute();
      if (oldest.length === 0) break;
      for (const mail of oldest) {
        if (deleted >= bytes) return;
        await dropContent(app, mail);
        const isKnown = chosen !== hasOnlyRefusedOrCopies || isKnownSource(mail.source);
        changeStored(app, mail.domain_id, isKnown, -mail.size);
        deleted += mail.size;
      }
    }
}
