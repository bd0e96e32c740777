/**
 * Decides whether there is space for another message or file. While a share of the disk is full, only known and confirmed
 * reporters and members add to it, and older originals make room for them.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Envelope } from '../../analysis/check.ts';
import type { App } from '../../app.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { MAX_REDUCED_BYTES } from '../reading/reduce.ts';
import { judgeSender } from './known.ts';
import { deleteOriginals } from './originals.ts';
import { bytesOfMail, isKnownSource } from './stored.ts';
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
