/** Placement monitors: what a message that settled says, and what it means if no message arrives. */

import type { App } from '../app.ts';
import { INBOX_RATE } from '../figures/placement.ts';
import { formatPercent } from '../lib/format/numbers.ts';
import { timeInWords } from '../lib/format/times.ts';
import { isFound, placementFigures } from '../mailtests/placement.ts';
import { inboxRate, providerName } from '../report/placement-rates.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type { Subscriber } from '../store/subscribers.ts';
import type { MonitorRow, PlacementRow, TestRow } from '../store/tables.generated.ts';
import type { Changes, Outcome, PlacementFinding, RunPlacement, UnknownPart } from './findings.ts';
import { monitorAddress } from './placement-address.ts';
import { storeRun } from './record-run.ts';

/** Earlier runs with which the inbox rate is compared. */
const MAX_COMPARED_RUNS = 10;
/** How much lower than usual an inbox rate is a finding. */
const FALL = 0.2;

/** Records the run of the monitor to whose address the message of a test was sent. */
export const recordPlacementRun =
  (app: App): Subscriber<[test: TestRow, placements: PlacementRow[]]> =>
  async (tx, test, placements) => {
    if (test.monitor_id === null) return;
    const query = tx.selectFrom('monitors').selectAll().where('id', '=', test.monitor_id);
    const monitor = await lockIn(tx, query).executeTakeFirst();
    if (!monitor || monitor.enabled === 0) return;
    const address = monitorAddress(monitor, app.config)!;
    const usual = await usualPlacement(tx, monitor.id);
    await storeRun(tx, app, monitor, {
      outcome: placementOutcome(address, test.id, placements, usual),
      startedAt: Date.parse(test.received_at ?? test.created_at),
      // Set when the message arrived.
      nextRunAt: monitor.next_run_at,
    });
  };

type Usual = Pick<RunPlacement, 'samples' | 'inbox'>;

async function usualPlacement(tx: Tx, monitorId: string): Promise<Usual> {
  const rows = await tx
    .selectFrom('monitor_runs')
    .select('changes')
    .where('monitor_id', '=', monitorId)
    .orderBy('id', 'desc')
    .limit(MAX_COMPARED_RUNS)
    .execute();
  return rows
    .map(({ changes }) => (JSON.parse(changes) as Changes).placement)
    .filter((placement) => placement !== undefined)
    .reduce(
      (sum, { samples, inbox }) => ({
        samples: sum.samples + samples,
        inbox: sum.inbox + inbox,
      }),
      { samples: 0, inbox: 0 },
    );
}

/** Exported for tests. `usual` are the figures of earlier runs. */
export function placementOutcome(
  address: string,
  testId: string,
  rows: (Pick<PlacementRow, 'provider' | 'placement'> & { message_key?: string | null })[],
  usual: Usual,
): Outcome {
  const known = rows.filter((row) => isFound(row) || row.placement === 'missing');
  const { placement_samples: samples, placement_inbox: inbox } = placementFigures(rows);
  const placement = { test_id: testId, samples, inbox };
  const isKnown = known.length > 0;
  const base = { placement, targets: [{ target: address, known: isKnown }], allUnknown: !isKnown };
  const unknownAbout = (unknown: UnknownPart[]) => ({
    unknown,
    // Findings about a provider stay until a message shows something else.
    canPersist: (previous: Outcome['findings'][number]) =>
      'problem' in previous &&
      previous.provider !== null &&
      unknown.some(
        (part) => 'provider' in part && [null, previous.provider].includes(part.provider),
      ),
  });
  if (samples === 0) {
    const findings = isKnown ? [noSeed(known.length)] : [];
    return { ...base, findings, ...unknownAbout([{ provider: null }]) };
  }
  const providers = [...new Set(rows.map(({ provider }) => provider))].toSorted();
  const unknown = providers.filter((id) => !known.some(({ provider }) => provider === id));
  return {
    ...base,
    findings: [
      ...providers.flatMap((id) =>
        providerFindings(
          id,
          known.filter(({ provider }) => provider === id),
        ),
      ),
      ...rateFindings({ samples, inbox }, usual),
    ],
    ...unknownAbout(unknown.map((provider) => ({ provider }))),
  };
}

const noSeed = (count: number): PlacementFinding => ({
  problem: 'no_seed',
  provider: null,
  severity: 'warning',
  title: `None of ${count} seed mailboxes received the message. Check that it was sent to their addresses.`,
});

function providerFindings(
  provider: string,
  seeds: Pick<PlacementRow, 'placement'>[],
): PlacementFinding[] {
  const name = providerName(provider);
  const findingOf = (
    problem: 'spam' | 'missing',
    titleOf: (where: string) => string,
  ): PlacementFinding[] => {
    const count = seeds.filter(({ placement }) => placement === problem).length;
    if (count === 0) return [];
    const severity = 2 * count >= seeds.length ? 'critical' : 'warning';
    return [
      { problem, provider, severity, title: titleOf(`${count} of ${mailboxes(seeds.length)}`) },
    ];
  };
  return [
    ...findingOf('spam', (where) => `${name} sent the message to spam in ${where}.`),
    ...findingOf('missing', (where) => `${name} did not deliver the message to ${where}.`),
  ];
}

const mailboxes = (count: number): string =>
  `${count} seed ${count === 1 ? 'mailbox' : 'mailboxes'}`;

/** Too few seed mailboxes, now or before, say nothing. */
function rateFindings(now: Usual, usual: Usual): PlacementFinding[] {
  const rate = inboxRate(now.inbox, now.samples);
  const usualRate = inboxRate(usual.inbox, usual.samples);
  if (rate === null || usualRate === null || rate > usualRate - FALL) return [];
  return [
    {
      problem: INBOX_RATE.name,
      provider: null,
      severity: 'warning',
      title: `The inbox rate fell to ${formatPercent(rate)} of ${mailboxes(now.samples)} (before: ${formatPercent(usualRate)} of ${usual.samples} samples).`,
    },
  ];
}

// When no message arrives in time.

/** The outcome of a run at the time when the next message counts as missing. */
export async function missingMessageOutcome(
  { db, config }: Pick<App, 'db' | 'config'>,
  monitor: MonitorRow,
): Promise<Outcome> {
  const hasSeeds = config.SEED_MAILBOXES.length > 0;
  return {
    // Without seed mailboxes, the service itself rejects the messages.
    findings: hasSeeds ? [noMessage(await lastMessageAt(db, monitor.id))] : [],
    unknown: [{ provider: null }],
    targets: [{ target: monitorAddress(monitor, config)!, known: hasSeeds }],
    allUnknown: !hasSeeds,
    canPersist: (previous) => 'problem' in previous && previous.problem !== 'no_message',
    placement: { test_id: null, samples: 0, inbox: 0 },
  };
}

const noMessage = (lastAt: string | null): PlacementFinding => ({
  problem: 'no_message',
  provider: null,
  severity: 'critical',
  title:
    lastAt === null
      ? 'No message has arrived yet.'
      : `No message arrived in time. The last one arrived on ${timeInWords(lastAt)}.`,
});

/** When the last message to a monitor arrived, among those whose tests are still stored. */
export async function lastMessageAt(db: Db | Tx, monitorId: string): Promise<string | null> {
  const row = await db
    .selectFrom('tests')
    .select('received_at')
    .where('monitor_id', '=', monitorId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.received_at ?? null;
}
