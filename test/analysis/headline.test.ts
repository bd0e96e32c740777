/** The headline of many results: short, one sentence, and in agreement with findings, grade and provider rules. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONSEQUENCES } from '../../src/analysis/consequences.ts';
import { causesOf } from '../../src/analysis/headline-cause.ts';
import { PROVIDER_RULES, worstConsequence } from '../../src/analysis/providers/evaluate.ts';
import { type AnalysisResult, factsOf } from '../../src/analysis/result.ts';
import { MAX_HEADLINE, summarize, unknownResults } from '../../src/analysis/summary.ts';
import { analyzeMail, loadMail, mailNames } from '../helpers/mail-corpus.ts';
import { seededRandom } from '../helpers/random.ts';
import { analyzeWorld, makeWorld } from './generated-worlds.ts';

const PROVIDERS = PROVIDER_RULES.map(({ name }) => name);

/** Names of domains, versions and addresses have dots. */
const SENTENCE = /^[A-Z](?:[^.!?\n]|\.(?=\S))*\.$/;

/** What a headline claims about the message. */
const CLAIMS = {
  rejected: /^(?:[A-Z].*) (?:is|are) likely to reject this message: /,
  spam: /^[A-Z].* may send this message to spam[:.]/,
  clipped: /^Gmail hides part of this message: /,
  requirement: / breaks (?:provider rules|rules of )/,
  weakness: /^(?:Mailbox providers are likely to accept this message|Likely to be accepted), but /,
};

function assertRight(result: AnalysisResult, name: string): void {
  const { summary, score, grade, providers, judged_kind, checks } = result;
  const text = `${name}: “${summary}”`;
  assert.ok(summary.length <= MAX_HEADLINE, `${text} has ${summary.length} characters`);
  assert.match(summary, SENTENCE, `${text} is not one sentence`);
  if (score === null) {
    assert.match(summary, /^This message has no score: /, text);
    return;
  }
  const { kind } = judged_kind;
  const facts = factsOf(checks);
  const worst = worstConsequence((id) => facts.get(id), kind);
  const status = (wanted: string) =>
    providers.filter((one) => one.status === wanted).map(({ name: one }) => one);
  if (worst) {
    const effect =
      score < 70 && ['requirement', 'weakness'].includes(worst.effect) ? 'spam' : worst.effect;
    assert.match(summary, CLAIMS[effect], text);
    const causes = [...causesOf(worst.id, (id) => facts.get(id)), worst.problem];
    if (worst.id !== 'requirement')
      assert.ok(
        causes.some((cause) => summary.includes(cause)),
        text,
      );
    assert.doesNotMatch(summary, /\bmeets\b/, text);
    assert.ok(grade !== 'A', text);
  } else {
    assert.deepEqual(status('not_ready'), [], text);
    assert.doesNotMatch(summary, /reject|breaks|hides/, text);
  }
  // What is unknown is never fine.
  const [claimed = ''] = /meets the rules of [^;]*/.exec(summary) ?? [];
  const isUnknown = /^Whether /.test(summary);
  for (const one of [...status('not_ready'), ...status('unknown')])
    if (!isUnknown) assert.ok(!claimed.includes(one), `${text}, but not ${one}`);
  if (score >= 90 && status('unknown').length > 0) assert.match(summary, /is unknown\.$/, text);
  const missing = checks.filter((check) => check.status === 'error' && check.points > 0);
  if (missing.length > 0 && !missing.every(({ id }) => facts.get(id)!.failedCauses.length > 0))
    assert.ok(unknownResults(result) !== null, `${text} with unknown checks`);
  // A provider that acts or whose rules are broken is not ready.
  if (/reject|breaks rules of/.test(summary))
    for (const one of PROVIDERS)
      if (new RegExp(`\\b${one}\\b`).test(summary.replace(/: .*/, '')))
        assert.ok(status('not_ready').includes(one), `${text}, but ${one} is ready`);
}

describe('The headline is one short sentence that agrees with the result', () => {
  it('for whole mails of each kind', async () => {
    const names = mailNames('json');
    assert.ok(names.length >= 70);
    const headlines = new Set<string>();
    for (const name of names)
      for (const kind of ['auto', 'marketing', 'transactional'] as const) {
        const result = await analyzeMail({ ...loadMail(name), kind });
        assertRight(result, `${name} as ${kind}`);
        headlines.add(result.summary);
      }
    assert.ok(headlines.size >= 25, `only ${headlines.size} different headlines`);
  });

  it('for 150 generated senders, servers and faults', async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const kind = seed % 2 === 0 ? 'marketing' : 'transactional';
      assertRight(await analyzeWorld(makeWorld(seed), kind), `seed ${seed}`);
    }
  });

  it('for any combination of what checks may find, also where checks have no result', async () => {
    const random = seededRandom(33);
    const base = await analyzeMail(loadMail('kinds/survey-after-support'));
    const statuses = ['pass', 'warn', 'fail', 'error', 'skipped'] as const;
    for (let round = 0; round < 2000; round++) {
      const faults = random.below(4);
      const changed = new Set(
        Array.from({ length: faults }, () => base.checks[random.below(base.checks.length)]!.id),
      );
      const checks = base.checks.map((check) =>
        changed.has(check.id) ? { ...check, status: statuses[random.below(5)]! } : check,
      );
      const score = random.below(101);
      const alternative = random.below(2) === 0 ? null : base.alternative;
      const text = summarize({ ...base, checks, score, alternative });
      assert.ok(text.length <= MAX_HEADLINE, text);
      assert.match(text, SENTENCE);
    }
  });

  it('for each consequence', () => {
    for (const { problem, id } of CONSEQUENCES) {
      assert.match(problem, /^(?:[a-z]|DMARC|SPF|DKIM|From|Message-ID|HTML)[^.]*[^. ]$/, id);
      assert.ok(problem.length <= 36, `${id} is too long for a headline`);
    }
  });
});
