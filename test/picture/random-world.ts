/** Random combinations of what the sources know about a domain. */

import type { CheckStatus } from '../../src/analysis/check.ts';
import type { Random } from '../helpers/random.ts';
import { ago, type World } from './world.ts';

const oneOf = <T>(random: Random, ...values: T[]): T => values[random.below(values.length)]!;

const STATUSES: CheckStatus[] = [
  'pass',
  'pass',
  'pass',
  'warn',
  'fail',
  'error',
  'skipped',
  'info',
];
const checks = (random: Random, ids: string[]): Record<string, CheckStatus> =>
  Object.fromEntries(ids.map((id) => [id, oneOf(random, ...STATUSES)]));

const HEALTH = ['spf_record', 'dmarc_policy', 'mx', 'mx_tls', 'bimi', 'domain_blocklists'];
const TESTED = ['spf', 'dkim', 'dmarc', 'ptr', 'tls', 'ip_blocklists', 'one_click', 'link_text'];
const REQUIREMENTS = ['SPF', 'DKIM', 'DMARC_POLICY', 'USER_REPORTED_SPAM_RATE', 'NEW_ONE'];

/** Says something random about the domain: each source knows nothing with a good probability. */
export async function fillRandomly(world: World, random: Random): Promise<void> {
  const days = () => random.below(12);
  if (random.chance(0.7)) await world.health(checks(random, HEALTH), days());
  if (random.chance(0.2)) await world.setDomain({ missing_since: ago(1) });
  for (let i = random.below(4); i > 0; i--)
    await world.test(checks(random, TESTED), random.below(35), {
      from_address: oneOf(random, 'a@example.com', 'b@example.com', null),
    });
  if (random.chance(0.5))
    await world.placement(random.below(35), {
      [oneOf(random, 'gmail inbox', 'gmx inbox')]: 1 + random.below(9),
      ...(random.chance(0.6) && {
        [oneOf(random, 'gmail spam', 'gmx missing')]: 1 + random.below(9),
      }),
    });
  await fillFeedback(world, random);
  const isFine = random.chance(0.3);
  for (const day of [1, 3, 9].filter(() => random.chance(0.6)))
    await world.google(
      day,
      isFine
        ? { spam_rate: 0, dkim_rate: 1 }
        : {
            spam_rate: oneOf(random, null, 0, 0.0009, 0.001, 0.004),
            dkim_rate: oneOf(random, null, 0.5, 1),
            reject_rate: oneOf(random, null, 0, 0.02, 0.3),
            temp_fail_rate: oneOf(random, null, 0, 0.4),
          },
    );
  if (isFine) return;
  for (const requirement of REQUIREMENTS.filter(() => random.chance(0.3)))
    await world.requirement(requirement, oneOf(random, 'COMPLIANT', 'NEEDS_WORK', 'PENDING'), {
      days: days(),
    });
  for (const day of [1, 9].filter(() => random.chance(0.4)))
    await world.snds(day, {
      filter_result: oneOf(random, 'GREEN', 'YELLOW', 'RED', null),
      trap_hits: oneOf(random, 0, 3),
    });
  if (random.chance(0.2)) await world.block('192.0.2.0', '192.0.2.255', oneOf(random, 0, 1));
}

async function fillFeedback(world: World, random: Random): Promise<void> {
  if (random.chance(0.2)) {
    await world.reporting(true, ago(1));
    return world.sender({ messages: 100 });
  }
  if (random.chance(0.5))
    await world.reporting(random.chance(0.5), oneOf(random, null, ago(1), ago(9)));
  if (random.chance(0.5)) {
    const messages = oneOf(random, 5, 100, 5000);
    const passed = random.below(messages + 1);
    const counts = { messages, passed, rejected: random.chance(0.3) ? messages - passed : 0 };
    await world.sender(counts, { failingSince: oneOf(random, null, ago(3).slice(0, 10)) });
  }
  if (random.chance(0.3))
    await world.messages('complaint provider', 'yahoo.com', 1 + random.below(40));
  if (random.chance(0.3)) await world.rejections(1 + random.below(400));
  if (random.chance(0.3)) await world.tlsReports(random.below(100), random.below(100));
}

/** What it fills. */
const TABLES = [
  'tests',
  'test_tallies',
  'feedback_domains',
  'feedback_sources',
  'feedback_source_days',
  'dmarc_days',
  'feedback_message_sums',
  'tls_days',
  'feedback_reporters',
  'feedback_reports',
  'bounces',
  'receiver_days',
  'receiver_requirements',
  'receiver_addresses',
  'receiver_blocks',
] as const;

/** As if nothing had been known yet. */
export async function emptyWorld(world: World): Promise<void> {
  for (const table of TABLES) await world.db.deleteFrom(table).execute();
  await world.setDomain({
    health_status: 'unknown',
    health_checks: '[]',
    health_checked_at: null,
    missing_since: null,
  });
}
