/** A message whose kind is uncertain gets both scores, without further network requests. */

// @one-database: about the analysis of mail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import type { MessageKind } from '../../src/analysis/check.ts';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import { runChecks } from '../../src/analysis/run-checks.ts';
import { unknownResults } from '../../src/analysis/summary.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { SENDER_ZONE, signed } from '../e2e/sender.ts';
import { contextFor, ENVELOPE, RECEIVED_AT } from '../helpers/analysis.ts';
import { goodMessage } from '../helpers/good-message.ts';

const TRIAL = goodMessage(
  { Subject: 'Your trial ends in 3 days' },
  'Hello Anna,\n\nyour trial ends on Tuesday. Upgrade to keep your projects:\nhttps://example.com/plans\n',
);

async function analyzeAs(kind: MessageKind, message = TRIAL, zone: Zone = SENDER_ZONE) {
  const lookups: string[] = [];
  const resolver = zoneResolver(zone);
  const result = await analyze(
    { raw: await signed({ message }), envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind },
    {
      resolver: (name, type) => {
        lookups.push(`${type} ${name}`);
        return resolver(name, type);
      },
    },
  );
  return { ...result, lookups };
}

test('An uncertain kind is scored both ways, as if each had been chosen', async () => {
  const auto = await analyzeAs('auto');
  const transactional = await analyzeAs('transactional');
  const marketing = await analyzeAs('marketing');
  assert.equal(auto.judged_kind.confidence, 'uncertain');
  const byKind = { marketing, transactional };
  const { kind } = auto.judged_kind;
  const other = kind === 'marketing' ? 'transactional' : 'marketing';
  assert.deepEqual([auto.score, auto.grade], [byKind[kind].score, byKind[kind].grade]);
  assert.deepEqual(auto.alternative, {
    kind: other,
    score: byKind[other].score,
    grade: byKind[other].grade,
  });
  assert.ok(marketing.score! < transactional.score!);
  assert.deepEqual([marketing.alternative, transactional.alternative], [null, null]);
});

test('The second score costs no further DNS lookups', async () => {
  const [auto, marketing] = [await analyzeAs('auto'), await analyzeAs('marketing')];
  assert.deepEqual(auto.lookups.toSorted(), marketing.lookups.toSorted());
});

test('The headline of an uncertain kind claims nothing about the other, and both scores are named', async () => {
  const result = await analyzeAs('auto');
  const { score, alternative, summary, judged_kind } = result;
  assert.equal(judged_kind.kind, 'transactional');
  assert.match(summary, /^As transactional mail, it meets the rules of /);
  const unknown = unknownResults(result)!;
  assert.ok(
    unknown.includes(
      `It is unclear whether this is marketing mail: the score is ${score} as transactional mail and ${alternative!.score} as marketing mail.`,
    ),
    unknown,
  );
});

test('The verdict of a likely kind names one score', async () => {
  const { summary, alternative } = await analyzeAs('auto', goodMessage());
  assert.equal(alternative, null);
  assert.match(summary, /^This message meets the rules of /);
  assert.doesNotMatch(summary, /unclear/);
});

test('An offer without List-Unsubscribe is capped and meets no sender requirements', async () => {
  for (const subject of ['50 % off everything', 'Black Friday starts now']) {
    const page = '<a href="https://example.com/"><img src="https://example.com/bf.jpg" alt=""></a>';
    const fields = { Subject: subject, 'Content-Type': 'text/html; charset=utf-8' };
    const result = await analyzeAs('auto', goodMessage(fields, `${page}\n`));
    assert.deepEqual(
      [result.judged_kind.kind, result.judged_kind.confidence],
      ['marketing', 'likely'],
    );
    assert.ok(result.score! <= 75, `${result.score}`);
    assert.doesNotMatch(result.summary, /meets/);
    assert.ok(result.providers.some(({ ready }) => !ready));
  }
});

test('Every check whose finding depends on the kind says so', async () => {
  const message = goodMessage({
    'List-Unsubscribe': '<https://example.com/u>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  });
  const deadline = { passed: new Promise<never>(() => {}), stop() {} };
  const findings = await Promise.all(
    (['marketing', 'transactional'] as const).map(async (kind) => {
      const context = await contextFor({ message, kind, zone: SENDER_ZONE });
      const run = { context, deadline, subject: 'message' } as const;
      return runChecks(CHECKS, run);
    }),
  );
  const [marketing, transactional] = findings;
  const differing = CHECKS.filter(
    (_, index) => JSON.stringify(marketing![index]) !== JSON.stringify(transactional![index]),
  );
  assert.deepEqual(
    differing.map(({ id }) => id),
    CHECKS.filter(({ dependsOnKind }) => dependsOnKind).map(({ id }) => id),
  );
  assert.equal(differing.length, 4);
});
