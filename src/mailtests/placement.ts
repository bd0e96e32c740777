/** The placement of a test in the seed mailboxes: requesting it, and how tests, lists and reports show it. */

import type { Config } from '../config/config.ts';
import type { SeedMailbox } from '../config/seed-mailboxes.ts';
import { invalidParams } from '../lib/errors.ts';
import type { SeedPlacement as ReportedSeed } from '../report/report.ts';
import type { Tx } from '../store/open.ts';
import type { PlacementRow, TestRow } from '../store/tables.generated.ts';
import { countPlacements } from './placement-counts.ts';
import type { ListedTest } from './schema.ts';
import { PLACEMENTS, type SeedPlacement } from './schemas/placement.ts';

/** The name of the job that looks into the seed mailboxes, to wake it. */
export const LOOK_JOB = 'placement.look';

type Placement = PlacementRow['placement'];

/** The inbox and its tabs. */
const INBOX_PLACEMENTS: readonly Placement[] = [
  'inbox',
  'promotions',
  'social',
  'updates',
  'forums',
];
/** Whether it is the inbox or one of its tabs. */
export const isInbox = (placement: Placement): boolean => INBOX_PLACEMENTS.includes(placement);
/** Whether a seed mailbox received the message. */
export const isFound = ({ placement }: Pick<PlacementRow, 'placement'>): boolean =>
  placement === 'spam' || isInbox(placement);

/** Whether the message arrived in a seed mailbox, even if it is not known where, or if it has disappeared. */
export const hasArrived = (row: Arrival): boolean => isFound(row) || Boolean(row.message_key);
type Arrival = Pick<PlacementRow, 'placement'> & { message_key?: string | null };

/** The configured seed mailboxes. Throws `validation_failed` if there are none. */
export function requireSeeds({ SEED_MAILBOXES }: Pick<Config, 'SEED_MAILBOXES'>): SeedMailbox[] {
  if (SEED_MAILBOXES.length > 0) return SEED_MAILBOXES;
  throw invalidParams([
    {
      param: 'placement',
      code: 'invalid',
      message: 'requires seed mailboxes, but none are configured',
    },
  ]);
}

/** `user+token@domain`, if the provider delivers it to the mailbox of `user@domain`. */
export function seedAddress({ address, plusAddresses }: SeedMailbox, token: string): string {
  const at = address.lastIndexOf('@');
  return plusAddresses ? `${address.slice(0, at)}+${token}${address.slice(at)}` : address;
}

const placementRow = (test: TestRow, seed: SeedMailbox, token: string): PlacementRow => ({
  test_id: test.id,
  seed: seed.name,
  provider: seed.provider,
  address: seedAddress(seed, token),
  placement: 'pending',
  matched_by: null,
  folder: null,
  searched: '[]',
  reasons: '[]',
  problem: null,
  detail: null,
  arrived_at: null,
  message_key: null,
  created_at: test.created_at,
  settled_at: null,
  cleaned_at: null,
});

/**
 * The new test with what it shows before any seed mailbox was read. Unchanged without seeds. `token` is the one in the
 * seed addresses, which all tests of a monitor share.
 */
export function withSeeds(test: TestRow, seeds: SeedMailbox[], token = test.token): TestRow {
  if (seeds.length === 0) return test;
  const rows = seeds.map((seed) => placementRow(test, seed, token));
  return { ...test, placement_status: 'waiting', ...placementColumns(rows) };
}

/** Call this in the transaction that stores the test. */
export async function insertPlacements(
  tx: Tx,
  test: TestRow,
  seeds: SeedMailbox[],
  token = test.token,
): Promise<void> {
  if (seeds.length === 0) return;
  const rows = seeds.map((seed) => placementRow(test, seed, token));
  await tx.insertInto('placements').values(rows).execute();
}

// What the row of a test holds: computed with each change, because lists would otherwise join.

interface Summary {
  seed_addresses: ListedTest['seed_addresses'];
  inbox_placement: ListedTest['inbox_placement'];
}

/** The columns of a test that depend on its placements. */
export function placementColumns(rows: PlacementRow[]) {
  const seed_addresses = rows.map(({ provider, address }) => ({ provider, address }));
  const summary: Summary = { seed_addresses, inbox_placement: byProvider(rows) };
  return {
    placement_summary: JSON.stringify(summary),
    placement: JSON.stringify(rows.map(presentRow)),
  };
}

/** The columns with the figures that count in summaries, for final placements. */
export function placementFigures(rows: (Pick<PlacementRow, 'provider'> & Arrival)[]) {
  // If no seed mailbox received the message, it was not sent to them.
  const counted = rows.some(hasArrived)
    ? rows.filter((row) => isFound(row) || row.placement === 'missing')
    : [];
  return {
    placement_samples: counted.length,
    placement_inbox: counted.filter(({ placement }) => isInbox(placement)).length,
    placement_counts: counted.length === 0 ? null : JSON.stringify(countPlacements(counted)),
  };
}

/** Without `seconds`, which depends on the test. */
type StoredSeed = Omit<SeedPlacement, 'seconds'>;

function presentRow(row: PlacementRow): StoredSeed {
  return {
    provider: row.provider,
    address: row.address,
    placement: row.placement,
    settled: row.settled_at !== null,
    match: row.matched_by,
    folder: row.folder,
    searched: JSON.parse(row.searched),
    arrived_at: row.arrived_at,
    problem: row.problem,
    detail: row.detail,
    reasons: JSON.parse(row.reasons),
  };
}

/** From best to worst; what is not known decides nothing. */
const BADNESS: readonly Placement[] = PLACEMENTS;

/** The most frequent placement at each provider; of equally frequent ones, the worst. Empty if all are final and none was found. */
function byProvider(rows: PlacementRow[]): Record<string, Placement> {
  if (!rows.some(hasArrived) && rows.every(({ settled_at }) => settled_at !== null)) return {};
  const providers = [...new Set(rows.map(({ provider }) => provider))];
  return Object.fromEntries(
    providers.map((provider) => [
      provider,
      mostFrequent(rows.filter((row) => row.provider === provider)),
    ]),
  );
}

function mostFrequent(rows: PlacementRow[]): Placement {
  const known = rows.filter((row) => isFound(row) || row.placement === 'missing');
  const considered = known.length > 0 ? known : rows;
  const countOf = (place: Placement) =>
    considered.filter(({ placement }) => placement === place).length;
  return considered
    .map(({ placement }) => placement)
    .reduce((best, next) => {
      const difference =
        countOf(next) - countOf(best) || BADNESS.indexOf(next) - BADNESS.indexOf(best);
      return difference > 0 ? next : best;
    });
}

/** The seed addresses and the placement by provider, for every form of a test. */
export function placementSummary({
  placement_summary,
}: Pick<TestRow, 'placement_summary'>): Summary {
  return placement_summary === null
    ? { seed_addresses: [], inbox_placement: {} }
    : JSON.parse(placement_summary);
}

/** The placement in each seed mailbox, for the full form of a test. */
export function presentPlacement({
  placement,
  received_at,
}: Pick<TestRow, 'placement' | 'received_at'>): SeedPlacement[] {
  if (placement === null) return [];
  return (JSON.parse(placement) as StoredSeed[]).map((seed) => ({
    ...seed,
    seconds: secondsBetween(received_at, seed.arrived_at),
  }));
}

/** Not negative: the clocks of two machines are compared. */
function secondsBetween(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
}

/** The placement in each seed mailbox, as reports show it. */
export function reportedPlacement(row: TestRow): ReportedSeed[] {
  return presentPlacement(row).map(
    ({ provider, placement, seconds, arrived_at: _, problem: __, ...details }) => ({
      provider,
      placement,
      seconds,
      details,
    }),
  );
}
