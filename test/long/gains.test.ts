/** The gain of a fix is what the score really rises by once the fix is applied. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MailKind } from '../../src/analysis/consequences.ts';
import type { AnalysisResult, CheckResult } from '../../src/analysis/result.ts';
import { foreignOwner } from '../../src/analysis/sending-services/ownership.ts';
import { ownedDomain } from '../../src/lib/domain-names.ts';
import {
  analyzeWorld,
  CLIENT,
  KEYS,
  makeWorld,
  publish,
  type World,
} from '../analysis/generated-worlds.ts';

// Applies a fix in full, where its text says what to do beside publishing its record.

/** An envelope sender at a name of the From domain, with SPF and mail servers. */
function withMailFrom(world: World, prefix: string): World {
  const domain = `${prefix}${world.from}`;
  const own = { MX: ['10 in.example.com'], ...world.zone[domain] };
  const TXT = [`v=spf1 ip4:${CLIENT} -all`];
  return {
    ...world,
    zone: { ...world.zone, [domain]: { ...own, TXT } },
    envelope: { ...world.envelope, mail_from: `bounce@${domain}` },
  };
}

const signedBy = (world: World, domain: string): World => ({
  ...world,
  zone: { ...world.zone, [`s9._domainkey.${domain}`]: { TXT: [KEYS.rsa.record] } },
  signers: [...world.signers, { domain, selector: 's9', key: KEYS.rsa }],
});

const signerOf = (keyName: string): string => keyName.split('._domainkey.')[1] ?? '';

/** null: nothing in a world can show the fix, such as a file on a web server. */
function applyOnce(world: World, { id, fix, title, evidence }: CheckResult): World | null {
  if (id === 'dmarc' && !fix!.text.startsWith('Fix ')) return signedBy(world, world.from);
  if (id === 'dkim' && title === 'Your message has no DKIM signature.')
    return signedBy(world, world.from);
  if (id === 'spf_alignment')
    return withMailFrom(world, evidence.mode === 'strict' ? '' : 'bounces.');
  if (id === 'mta_sts' || id === 'bimi' || !fix?.record) return null;
  const published = publish(world, fix);
  if (fix.text.includes('Also sign with a 2048-bit RSA key'))
    return signedBy(published, signerOf(fix.record.name));
  if (id !== 'dmarc_policy') return published;
  // The text asks for a stricter policy as soon as the reports show that it does no harm.
  const { name, value } = fix.record;
  const TXT = [value.replace(/\bp=none/, 'p=reject')];
  return { ...published, zone: { ...published.zone, [name]: { TXT } } };
}

/** A check may name one fault after the other, such as the keys of two signatures. */
const MAX_STEPS = 4;

/** The result once the check has no fault left; null if a fix cannot be applied. */
async function fixedResult(world: World, check: CheckResult, kind: MailKind) {
  if (ownedDomain(world.from) === null || foreignOwner(world.from) !== null) return null;
  let current = world;
  let problem = check;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const next = applyOnce(current, problem);
    if (!next) return null;
    const result = await analyzeWorld(next, kind);
    const found = result.checks.find(({ id }) => id === check.id)!;
    if (found.status !== 'fail' && found.status !== 'warn') return result;
    current = next;
    problem = found;
  }
  return null;
}

const statusOf = ({ checks }: AnalysisResult, id: string) =>
  checks.find((check) => check.id === id)?.status;

const exactScore = ({ uncapped, cap }: AnalysisResult): number =>
  Math.min(uncapped!, cap?.limit ?? 100);

const WORLDS = 300;
/** All checks of the generated worlds with fixes that a world can show. */
const COMPARED = [
  'dkim',
  'dkim_alignment',
  'dkim_key',
  'spf',
  'spf_alignment',
  'spf_record',
  'dmarc',
  'dmarc_policy',
  'dmarc_record',
  'ptr',
  'fcrdns',
  'helo',
  'mx',
  'return_path',
];
const KINDS: MailKind[] = ['transactional', 'marketing'];

describe('The gain of a fix', () => {
  for (const kind of KINDS)
    it(`is what the score rises by, in generated cases of ${kind} mail`, async () => {
      const faults: string[] = [];
      const compared = new Map<string, number>();
      for (let seed = 0; seed < WORLDS; seed += 1) {
        const world = makeWorld(seed);
        const before = await analyzeWorld(world, kind);
        if (before.score === null) continue;
        for (const check of before.checks.filter(({ gain }) => gain > 0)) {
          const after = await fixedResult(world, check, kind);
          if (!after || after.score === null) continue;
          // Mail servers of the former MAIL FROM domain no longer matter, which the gain leaves out.
          if (check.id === 'spf_alignment' && statusOf(after, 'mx') !== statusOf(before, 'mx'))
            continue;
          // Terms that were not read can allow the server, which the gain leaves out.
          if (check.id === 'spf_record' && statusOf(after, 'spf') !== statusOf(before, 'spf'))
            continue;
          compared.set(check.id, (compared.get(check.id) ?? 0) + 1);
          const expected = Math.min(100, exactScore(before) + check.gain);
          const difference = exactScore(after) - expected;
          if (Math.abs(difference) > 1)
            faults.push(
              `seed ${seed} ${check.id}: ${exactScore(before).toFixed(1)} + ${check.gain}, but ${exactScore(after).toFixed(1)} (${after.cap?.reason ?? 'no cap'}): ${check.title}`,
            );
        }
      }
      assert.deepEqual(faults, []);
      for (const id of COMPARED)
        assert.ok((compared.get(id) ?? 0) >= 3, `${id} is hardly compared`);
    });
});
