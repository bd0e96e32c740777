/**
 * Verifies a message before its reply, to find out whether it has a new report of a known or confirmed reporter. The
 * servers of strangers can take their own slots for a few seconds, and none of those for known and confirmed reporters.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Envelope } from '../../analysis/check.ts';
import { readFrom } from '../../analysis/mime/parse-message.ts';
import type { App } from '../../app.ts';
import { networkOf } from '../../lib/addresses.ts';
import { addressDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { ofReporter } from '../reading/identity.ts';
import { REPORT_TYPES } from '../reading/report.ts';
import { findOriginal, statusBeside } from '../record/copies.ts';
import { findDomains } from '../record/domains.ts';
import { trustedReporters } from '../record/reporters.ts';
import { isKnownSender } from '../senders/known.ts';
import { type ReporterIdentity, signedReporter } from '../senders/reporter.ts';
import type { PreparedReport } from '../thread/prepare.ts';
import { readerOf } from '../thread/reader.ts';

/** A message or file that needs space. */
export interface Arrival {
  raw: Uint8Array;
  source: string;
  domainId: string | null;
  envelope: Envelope | null;
}

/** Clients wait for their reply at the end of DATA. */
const TIMEOUT_MS = 5_000;
/** The rest is for reading. */
const VERIFY_TIMEOUT_MS = 4_000;
/** A flood must not delay the reading of what was accepted. */
const MAX_VERIFYING = 8;
/** From one network, so that one sender whose DNS is slow cannot take all. */
const MAX_PER_NETWORK = 2;

interface Slot {
  /** Whether the From address is one of a known or confirmed reporter. Anyone can write it, so these slots are limited too. */
  isClaimed: boolean;
  network: string;
}

const slotsOf = memoizePerObject((_: App) => new Set<Slot>());

/** `unknown`: there was no free slot, or DNS did not answer in time. */
export type SenderVerdict = 'known' | 'other' | 'unknown';

export async function verifyBeforeReply(app: App, arrival: Arrival): Promise<SenderVerdict> {
  const { raw, envelope } = arrival;
  if (envelope === null) return 'other';
  // The caller frees the bytes once it has replied.
  const copy = Uint8Array.from(raw);
  const claimed = await claimedDomain(app, raw);
  const taken = slotsOf(app);
  const slot = {
    isClaimed: claimed !== null,
    network: envelope.client_ip === null ? 'unknown' : networkOf(envelope.client_ip),
  };
  const count = (matches: (other: Slot) => boolean) => [...taken].filter(matches).length;
  if (
    count(({ isClaimed }) => isClaimed === slot.isClaimed) >= MAX_VERIFYING ||
    count(({ network }) => network === slot.network) >= MAX_PER_NETWORK
  )
    return 'unknown';
  taken.add(slot);
  const verdict = judge(app, { ...arrival, raw: copy }, claimed).catch(() => 'unknown' as const);
  try {
    return await Promise.race([verdict, pause(TIMEOUT_MS, 'unknown' as const, { ref: false })]);
  } finally {
    taken.delete(slot);
  }
}

const MAX_SEARCHED_BYTES = 64 * 1024;

/** The From domain if a signature by it would make the message one of a known or confirmed reporter. */
export async function claimedDomain({ db }: App, raw: Uint8Array): Promise<string | null> {
  const [author] = readFrom(raw.subarray(0, MAX_SEARCHED_BYTES));
  const from = author?.address.toLowerCase() ?? '';
  const domain = addressDomain(from);
  if (domain === null) return null;
  if (isKnownSender({ from, domain })) return domain;
  const signer = { from, domain, method: 'dkim' } as const;
  const { name } = signedReporter(signer, { type: 'dmarc', attached: false })!;
  const confirmed = await trustedReporters(db).where('name', '=', name).executeTakeFirst();
  return confirmed ? domain : null;
}

/**
 * Reads only what a known or confirmed reporter signed, and stores nothing. `claimed`: the From domain of a known or
 * confirmed reporter. Its signature decides alone, so that nobody else's name servers are asked.
 */
async function judge(app: App, arrival: Arrival, claimed: string | null): Promise<SenderVerdict> {
  const now = app.clock.now();
  const reader = readerOf(app);
  const { signer, isUndecided } = await reader.verify(
    arrival.raw,
    claimed === null ? arrival.envelope : null,
    now,
    {
      deadlineMs: VERIFY_TIMEOUT_MS,
      ...(claimed === null ? {} : { onlyBelow: organizationalDomain(claimed) ?? claimed }),
    },
  );
  const other = isUndecided ? 'unknown' : 'other';
  const reporters = REPORT_TYPES.flatMap(
    (type) => signedReporter(signer, { type, attached: false }) ?? [],
  );
  const trusted = await trustedNames(app, reporters);
  if (trusted.size === 0) return other;
  for (const item of await reader.read(arrival.raw, now)) {
    if (!item.ok) continue;
    const reporter = signedReporter(signer, item);
    if (reporter && trusted.has(reporter.name) && (await isNew(app, arrival, item, reporter)))
      return 'known';
  }
  return other;
}

async function trustedNames({ db }: App, reporters: ReporterIdentity[]): Promise<Set<string>> {
  const known = reporters.filter(({ kind }) => kind === 'known').map(({ name }) => name);
  const names = reporters.map(({ name }) => name);
  if (names.length === 0) return new Set();
  const confirmed = await trustedReporters(db).select('name').where('name', 'in', names).execute();
  return new Set([...known, ...confirmed.map(({ name }) => name)]);
}

/** Anyone can send a genuine message once more, or one about another domain. */
async function isNew(
  { db }: App,
  { domainId, source }: Arrival,
  { identity, fileIdentity, figures, domains }: PreparedReport,
  reporter: ReporterIdentity,
): Promise<boolean> {
  const [domain_id] = await findDomains(db, [{ domains, addressed: domainId }]);
  if (!domain_id) return false;
  const original = await findOriginal(db, {
    identity: ofReporter(reporter.name, identity),
    file_identity: fileIdentity,
    figures,
    source,
    domain_id,
  });
  return statusBeside(original, 'counted', figures) === 'counted';
}
