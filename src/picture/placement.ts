/** Where the messages of tests landed in seed mailboxes, by provider. */

import { INBOX_LIMITS } from '../figures/placement.ts';
import { formatCount, formatPercent } from '../lib/format/numbers.ts';
import { isInbox } from '../mailtests/placement.ts';
import { type PlacementCounts, readKey } from '../mailtests/placement-counts.ts';
import {
  inboxRate,
  MIN_PLACEMENT_SAMPLES,
  placementState,
  providerName,
} from '../report/placement-rates.ts';
import {
  type Finding,
  fine,
  notKnown,
  problem,
  reportOf,
  type SourceReport,
  sectionOf,
} from './findings.ts';
import { daysAgo, RECENT_DAYS, type Reading } from './reading.ts';

/** The newest days with so many samples decide: older ones would hide that something has changed. */
const DECISIVE_SAMPLES = 2 * MIN_PLACEMENT_SAMPLES;

interface Figures {
  samples: number;
  inbox: number;
  spam: number;
}
const NOTHING: Figures = { samples: 0, inbox: 0, spam: 0 };

/** By provider: the days with samples, newest first. */
type PlacementDays = Map<string, (Figures & { day: string })[]>;

export async function placementReport(reading: Reading): Promise<SourceReport> {
  const { config, domain } = reading;
  const section = { source: 'placement' as const, path: sectionOf(domain.id, 'placement') };
  const providers = await placementDays(reading);
  if (providers.size === 0)
    return reportOf(
      config.SEED_MAILBOXES.length === 0
        ? {
            ...section,
            state: 'not_set_up',
            at: null,
            text: 'No seed mailboxes are configured. They show where your messages land.',
          }
        : {
            ...section,
            state: 'unknown',
            at: null,
            text: `No test with placement in the last ${RECENT_DAYS} days.`,
          },
      [],
    );
  const findings = [...providers].map(([provider, days]) => {
    const seeds = config.SEED_MAILBOXES.filter((seed) => seed.provider === provider).length;
    return findingOf({ provider, days, seeds, path: section.path });
  });
  const latest = [...providers.values()]
    .map(([first]) => first!.day)
    .toSorted()
    .at(-1)!;
  const sums = [...providers.values()].map(decisive).reduce(sum);
  const isKnown = findings.every(({ state }) => state !== 'unknown');
  return reportOf(
    {
      ...section,
      state: isKnown ? 'pass' : 'unknown',
      text: isKnown
        ? `${formatPercent(sums.inbox / sums.samples)} of the samples arrived in the inbox.`
        : `${formatCount(sums.inbox)} of ${formatCount(sums.samples, 'sample')} arrived in the inbox: too few to judge all providers.`,
      at: latest,
      basis: `${formatCount(sums.samples, 'sample')} from ${formatCount(config.SEED_MAILBOXES.length)} seed mailboxes`,
    },
    findings,
  );
}

/** At most one row for each hour of 30 days. */
async function placementDays(reading: Reading): Promise<PlacementDays> {
  const rows = await reading.db
    .selectFrom('test_tallies')
    .select(['hour', 'placement_counts'])
    .where('livemode', '=', 1)
    .where('domain_id', '=', reading.domain.id)
    .where('hour', '>=', daysAgo(reading, RECENT_DAYS))
    .where('placement_samples', '>', 0)
    .orderBy('hour', 'desc')
    .execute();
  const providers: PlacementDays = new Map();
  for (const { hour, placement_counts } of rows)
    for (const [key, count] of Object.entries(JSON.parse(placement_counts) as PlacementCounts)) {
      const { provider, place } = readKey(key);
      const day = hour.slice(0, 10);
      const days = providers.get(provider) ?? [];
      providers.set(provider, days);
      if (days.at(-1)?.day !== day) days.push({ day, ...NOTHING });
      const figures = days.at(-1)!;
      figures.samples += count;
      if (isInbox(place)) figures.inbox += count;
      if (place === 'spam') figures.spam += count;
    }
  return providers;
}

const sum = (a: Figures, b: Figures): Figures => ({
  samples: a.samples + b.samples,
  inbox: a.inbox + b.inbox,
  spam: a.spam + b.spam,
});

function decisive(days: (Figures & { day: string })[]): Figures {
  let sums = NOTHING;
  for (const day of days) {
    if (sums.samples >= DECISIVE_SAMPLES) break;
    sums = sum(sums, day);
  }
  return sums;
}

interface Provider {
  provider: string;
  days: (Figures & { day: string })[];
  /** How many seed mailboxes are configured. */
  seeds: number;
  path: string;
}

function findingOf({ provider, days, seeds, path }: Provider): Finding {
  const figures = decisive(days);
  const { samples, inbox, spam } = figures;
  const name = providerName(provider);
  const where =
    spam > 0 && spam >= samples - inbox - spam
      ? `${formatCount(spam)} of ${formatCount(samples, 'sample')} landed in spam`
      : `${formatCount(inbox)} of ${formatCount(samples, 'sample')} arrived in the inbox`;
  const said = {
    source: 'placement' as const,
    topic: 'placement' as const,
    path,
    origin: `Seed mailboxes at ${name}`,
    text: `${name}: ${where}.`,
    at: days[0]!.day,
    basis: `${formatCount(seeds)} seed ${seeds === 1 ? 'mailbox' : 'mailboxes'}`,
  };
  const state = placementState(inboxRate(inbox, samples));
  // Single mailboxes show that something is wrong, but not how much, nor that all is well.
  const isSample = seeds < MIN_PLACEMENT_SAMPLES;
  if (state === 'unknown' || (state === 'pass' && isSample)) return notKnown(said);
  if (state === 'pass') return fine(said);
  const happens = spam > 0 ? 'land in spam' : 'do not arrive';
  const isFailure = state === 'fail' && !isSample;
  return problem(isFailure ? 'lands_in_spam' : 'some_land_in_spam', {
    ...said,
    title: `${isFailure ? 'Most' : 'Some'} test messages ${happens} at ${name}.`,
    since: badSince(days, isFailure),
  });
}

/** The first day of the latest ones in a row on which too little arrived in the inbox. */
function badSince(days: (Figures & { day: string })[], isFailure: boolean): string | null {
  const limit = INBOX_LIMITS[isFailure ? 'fail' : 'warn'];
  const end = days.findIndex(({ samples, inbox }) => inbox / samples >= limit);
  return days.slice(0, end < 0 ? undefined : end).at(-1)?.day ?? null;
}
