/** Every record that a fix proposes is valid, belongs to the sender, and resolves the finding once published. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckResult } from '../../src/analysis/result.ts';
import { foreignOwner } from '../../src/analysis/sending-services/ownership.ts';
import { hasSuffix } from '../../src/analysis/sending-services/service.ts';
import { ownedDomain } from '../../src/lib/domain-names.ts';
import { analyzeWorld, makeWorld, publish, type World } from '../analysis/generated-worlds.ts';
import {
  assertCured,
  assertNoNewProblem,
  assertOneDmarcRecord,
  assertValid,
  type ProposedRecord,
} from '../helpers/proposed-records.ts';

/** Someone else's records are proposed only where the text says so: PTR records, and consents to reports. */
function assertOwn({ type, name }: ProposedRecord, world: World): void {
  if (type === 'PTR' || name.includes('._report._dmarc.')) return;
  const { mail_from, helo } = world.envelope;
  const senders = [world.from, mail_from?.split('@')[1] ?? '', helo ?? ''];
  const owned = senders.flatMap((domain) => ownedDomain(domain) ?? []);
  assert.ok(hasSuffix(name, owned), `${name} is not below ${owned.join(', ')}`);
  const domain = name
    .split('.')
    .slice(name.split('.').findLastIndex((label) => label.startsWith('_')) + 1);
  assert.equal(foreignOwner(domain.join('.')), null, `${name} belongs to someone else`);
}

async function assertResolves(
  world: World,
  before: CheckResult[],
  check: CheckResult,
): Promise<void> {
  const { checks: after } = await analyzeWorld(publish(world, check.fix!));
  assertCured(check, after);
  assertNoNewProblem(check, before, after);
}

const WORLDS = 300;
const GROUPS = 5;

describe('Proposed records', () => {
  for (let group = 0; group < GROUPS; group += 1)
    it(`are valid, publishable by the sender and effective, in generated cases from ${group * (WORLDS / GROUPS)}`, async () => {
      const faults = new Map<string, string>();
      for (let n = 0; n < WORLDS / GROUPS; n += 1) {
        const seed = group * (WORLDS / GROUPS) + n;
        const world = makeWorld(seed);
        const { checks } = await analyzeWorld(world);
        assertOneDmarcRecord(checks);
        for (const check of checks.filter(({ fix }) => fix?.record)) {
          const { record } = check.fix!;
          try {
            assertValid(record!);
            assertOwn(record!, world);
            await assertResolves(world, checks, check);
          } catch (error) {
            const { text } = check.fix!;
            const { title, id } = check;
            const details = {
              seed,
              id,
              title,
              text,
              record,
              world: {
                ...world,
                signers: world.signers.map(({ domain, selector }) => `${selector} ${domain}`),
              },
            };
            faults.set(id, `${(error as Error).message}\n${JSON.stringify(details, null, 1)}`);
          }
        }
      }
      assert.equal(faults.size, 0, [...faults.values()].join('\n\n'));
    });
});
