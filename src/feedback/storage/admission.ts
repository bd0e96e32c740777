/**
 * Decides whether there is space for another message or file. While a share of the disk is full, only known and confirmed
 * reporters and members add to it, and older originals make room for them.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Envelope } from '../../analysis/check.ts';
import type { App } from '../../app.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { dropContent } from '../expire.ts';
import { MAX_REDUCED_BYTES } from '../reading/reduce.ts';
import { trustedReporters } from '../record/reporters.ts';
import { signedReporter } from '../senders/reporter.ts';
import { readerOf } from '../thread/reader.ts';
import { bytesOfMail, isKnownMail, isKnownSource } from './stored.ts';
import { changeStored, type Fullness, type StorageUsage, storageUsage } from './usage.ts';

export interface Arrival {
  raw: Uint8Array;
  source: string;
  domainId: string | null;
  envelope: Envelope | null;
}

/** `accepted`: the space is reserved. `unknown`: it was not verified in time. */
export type Admission = 'accepted' | 'full' | 'unknown';

/** Clients wait for their reply at the end of DATA. */
const VERIFY_TIMEOUT_MS = 5_000;
/** A flood must not delay the reading of what was accepted. */
const MAX_VERIFYING = 8;

export async function admit(app: App, arrival: Arrival): Promise<Admission> {
  const isPerson = isKnownSource(arrival.source);
  if (await reserve(app, arrival, isPerson)) return 'accepted';
  const sender = isPerson ? 'known' : await verifiedSoon(app, arrival);
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

/** Of a message that is not verified, once it was read. Until then, one message can exceed its share. */
const MAX_KEPT_BYTES = bytesOfMail(MAX_REDUCED_BYTES);

async function reserve(
  app: App,
  { raw, source, domainId }: Arrival,
  isKnown: boolean,
): Promise<boolean> {
  const bytes = bytesOfMail(raw.byteLength);
  const hasRoom = sharesOf(await storageUsage(app), domainId).every(
    ({ used, limit }) =>
      used.total + bytes <= limit.total &&
      (isKnown || used.unverified + Math.min(bytes, MAX_KEPT_BYTES) <= limit.unverified),
  );
  if (hasRoom) changeStored(app, domainId, isKnownSource(source), bytes);
  return hasRoom;
}

const verifyingOf = memoizePerObject((_: App) => ({ count: 0 }));

async function verifiedSoon(app: App, { raw, envelope }: Arrival) {
  if (envelope === null) return 'other';
  const verifying = verifyingOf(app);
  if (verifying.count >= MAX_VERIFYING) return 'unknown';
  verifying.count += 1;
  // The caller frees the bytes once it has replied.
  const sender = judgeSender(app, { raw: Uint8Array.from(raw), envelope })
    .catch(() => 'unknown' as const)
    .finally(() => {
      verifying.count -= 1;
    });
  return Promise.race([sender, pause(VERIFY_TIMEOUT_MS, 'unknown' as const, { ref: false })]);
}

/** `unknown`: DNS did not answer. */
type SenderJudgement = 'known' | 'other' | 'unknown';

/** Whether the message is by a known reporter, or one that a person confirmed. Reads and verifies it, without storing anything. */
async function judgeSender(
  app: App,
  { raw, envelope }: { raw: Uint8Array; envelope: Envelope },
): Promise<SenderJudgement> {
  const now = app.clock.now();
  const reader = readerOf(app);
  const [items, { signer, isUndecided }] = await Promise.all([
    reader.read(raw, now),
    reader.verify(raw, envelope, now),
  ]);
  const reports = items.filter((item) => item.ok);
  if (reports.length === 0) return 'other';
  const reporters = reports.flatMap((report) => signedReporter(signer, report) ?? []);
  if (reporters.some(({ kind }) => kind === 'known')) return 'known';
  const names = reporters.map(({ name }) => name);
  const confirmed =
    names.length > 0 &&
    (await trustedReporters(app.db).where('name', 'in', names).limit(1).executeTakeFirst());
  if (confirmed) return 'known';
  return isUndecided ? 'unknown' : 'other';
}

/** More than needed, so that not each message has to. */
const EXTRA_PART = 0.05;

async function makeRoom(app: App, { raw, domainId }: Arrival): Promise<void> {
  const bytes = bytesOfMail(raw.byteLength);
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

/**
 * Deletes messages and files as they came, before their time; what was read from them stays. The oldest of known reporters and
 * members go first, at least so many bytes if there are. `domainId`: only those of this domain.
 */
async function deleteOriginals(app: App, domainId: string | null, bytes: number): Promise<void> {
  for (let deleted = 0; deleted < bytes; ) {
    let query = app.db
      .selectFrom('feedback_mails as mail')
      .select(['mail.id', 'mail.size', 'mail.domain_id'])
      .where('mail.due_at', 'is', null)
      .where('mail.size', '>', 0)
      .where(isKnownMail('mail'))
      .orderBy('mail.received_at')
      .orderBy('mail.id')
      .limit(STEP_MAILS);
    if (domainId !== null) query = query.where('mail.domain_id', '=', domainId);
    const oldest = await query.execute();
    if (oldest.length === 0) return;
    for (const mail of oldest) {
      if (deleted >= bytes) return;
      await dropContent(app, mail);
      changeStored(app, mail.domain_id, true, -mail.size);
      deleted += mail.size;
    }
  }
}
