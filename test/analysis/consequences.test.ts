/** Findings, caps, provider rules and the headline never contradict one another. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CHECK_STATUSES, type CheckStatus, type Json } from '../../src/analysis/check.ts';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import {
  CONSEQUENCES,
  consequencesOf,
  EFFECTS,
  type FindFact,
  type MailKind,
} from '../../src/analysis/consequences.ts';
import { gradeOf } from '../../src/analysis/grade.ts';
import { causesOf, clauseOf } from '../../src/analysis/headline-cause.ts';
import {
  capTable,
  namedProviders,
  PROVIDER_RULES,
  REQUIREMENT_LIMIT,
  worstConsequence,
} from '../../src/analysis/providers/evaluate.ts';
import {
  type AnalysisResult,
  factsOf,
  type Provider,
  ruleApplies,
} from '../../src/analysis/result.ts';
import { weightTable } from '../../src/analysis/score.ts';
import { COMPLIANCE, CONTENT } from './planted/message.ts';
import { AUTHENTICATION, INFRASTRUCTURE, REPUTATION } from './planted/sender.ts';
import { analyzeWorld, cleanWorld, type Defect, type World } from './planted/world.ts';
import { type Changes, NEEDED, verdicts } from './providers/results.ts';

const KINDS: MailKind[] = ['marketing', 'transactional'];

// The table itself.

describe('The table of consequences', () => {
  it('has unique ids, known effects, falling severity and full sentences', () => {
    assert.equal(new Set(CONSEQUENCES.map(({ id }) => id)).size, CONSEQUENCES.length);
    const limits = CONSEQUENCES.map(({ limit }) => limit);
    assert.deepEqual(
      limits,
      limits.toSorted((a, b) => a - b),
    );
    for (const { effect, reason, reference, limit } of CONSEQUENCES) {
      assert.ok(EFFECTS.includes(effect));
      assert.match(reason, /^[A-Z].*\.$/);
      assert.match(reference, /\S/);
      assert.ok(limit <= REQUIREMENT_LIMIT, 'no consequence leaves grade A');
    }
  });

  it('names only consequences of the table in provider rules', () => {
    const ids: string[] = CONSEQUENCES.map(({ id }) => id);
    for (const { provider, rules } of PROVIDER_RULES)
      for (const { id, consequences = [] } of rules)
        assert.deepEqual(
          consequences.filter((one) => !ids.includes(one)),
          [],
          `${provider} ${id}`,
        );
  });

  it('gives every rejection that a provider rule has a lower cap than grade A', () => {
    for (const { limit, effect } of CONSEQUENCES)
      if (effect === 'rejected') assert.ok(limit <= 75, 'a rejection leaves grade C at most');
  });
});

// Every check in every status, alone and with one other.

const EVIDENCE: Record<string, { [key: string]: Json }[]> = {
  attachments: [
    { found: [{ file: 'a.exe', problem: 'is of type .exe, which Gmail blocks', refused: true }] },
    { found: [{ file: 'a.docm', problem: 'contains macros', refused: true }] },
  ],
  encoding: [{ bare_lf: 3 }, { eight_bit_body: 3 }],
  from: [{ shown: 'a@b.example' }, { brand: 'PayPal' }, { addresses: ['a', 'b'] }],
  date: [{ sent_at: '2026-11-01T00:00:00.000Z' }],
  dmarc: [{ policy: 'none' }, { policy: 'reject', from_domain: 'gmail.com' }],
};

interface Variant {
  id: string;
  status: CheckStatus;
  evidence: { [key: string]: Json } | null;
}

const ALL_IDS = [...new Set([...CHECKS.map(({ id }) => id), ...NEEDED])];
const VARIANTS: Variant[] = ALL_IDS.flatMap((id) =>
  CHECK_STATUSES.flatMap((status) =>
    [null, ...(EVIDENCE[id] ?? [])].map((evidence) => ({ id, status, evidence })),
  ),
);

const changesOf = (variants: Variant[]): Changes =>
  Object.fromEntries(
    variants.map(({ id, status, evidence }) => [
      id,
      evidence === null ? status : { status, evidence },
    ]),
  );

/** What must hold for any combination of findings. */
function checkConsistency(variants: Variant[], kind: MailKind): void {
  const { all, results } = verdicts(changesOf(variants), kind);
  const name = `${kind}: ${variants.map(({ id, status, evidence }) => `${id} ${status} ${JSON.stringify(evidence)}`).join(', ')}`;
  const facts = factsOf(results);
  const find: FindFact = (id) => facts.get(id);
  const worst = worstConsequence(find, kind);
  const limit = worst?.limit ?? 100;
  const applied = consequencesOf(find, kind);
  for (const one of applied) assert.ok(limit <= one.limit, `${name}: ${one.id} is worse`);
  for (const verdict of all) {
    const counted = verdict.rules.filter((rule) => ruleApplies(rule, kind));
    const isUnmet = counted.some(({ status }) => status === 'not_met');
    const isOpen = counted.some(({ status, checks }) => status === 'unknown' && checks.length > 0);
    const expected = isUnmet ? 'not_ready' : isOpen ? 'unknown' : 'ready';
    assert.equal(verdict.status, expected, name);
    assert.equal(verdict.ready, expected === 'ready', name);
    if (isUnmet) assert.ok(limit <= REQUIREMENT_LIMIT, `${name}: ${verdict.name} is not ready`);
    for (const { detail, id } of verdict.rules) assert.match(detail, /\S.*\.$/, `${name} ${id}`);
  }
  // Grade F by a cap means that a large provider rejects the message.
  if (gradeOf(limit) === 'F')
    assert.ok(
      all.some(({ status }) => status === 'not_ready'),
      `${name}: capped at ${limit}, but no provider is not ready`,
    );
  // A provider that the headline names is not ready.
  for (const { id } of applied)
    for (const named of namedProviders(id, all, kind))
      assert.equal(all.find((one) => one.name === named)?.status, 'not_ready', `${name} ${id}`);
}

describe('Caps and provider readiness agree', () => {
  for (const kind of KINDS)
    it(`for each check in each status, in ${kind} mail`, () => {
      for (const variant of VARIANTS) checkConsistency([variant], kind);
    });

  it('for pairs of problems', () => {
    const problems = VARIANTS.filter(
      ({ id, status, evidence }) =>
        NEEDED.includes(id) && (status === 'fail' || status === 'error') && evidence === null,
    );
    for (const [index, one] of problems.entries())
      for (const other of problems.slice(index + 1))
        if (one.id !== other.id) checkConsistency([one, other], 'marketing');
  });
});

it('A consequence breaks the rules that name it, unless the rule decides otherwise', () => {
  const exceptions = new Set(['dmarc_policy', 'attachments']);
  for (const variant of VARIANTS)
    for (const kind of KINDS) {
      const { of, results } = verdicts(changesOf([variant]), kind);
      const facts = factsOf(results);
      for (const { id: consequence } of consequencesOf((id) => facts.get(id), kind))
        for (const { provider, rules } of PROVIDER_RULES)
          for (const { id, consequences } of rules) {
            if (exceptions.has(id) || !consequences?.some((one) => one === consequence)) continue;
            const verdict = of(provider).rules.find((rule) => rule.id === id);
            if (verdict)
              assert.equal(verdict.status, 'not_met', `${consequence}: ${provider} ${id}`);
          }
    }
});

// Real messages: what the findings say about providers.

const NAMES: Record<Provider, RegExp> = {
  gmail: /\bGmail\b/,
  yahoo: /\bYahoo\b/,
  microsoft: /\b(?:Microsoft|Outlook)\b/,
  apple: /\b(?:Apple|iCloud)\b/,
};
const HARM =
  /\b(?:rejects?|refuses?|blocks?|discards?|hides everything|clips|(?:to|as|into the) spam)\b/;
const ANY = /\b(?:[Mm]ailbox providers|[Mm]any mail servers|[Mm]any spam filters)\b/;
/** Not statements about this message. */
const HARMLESS = /\b(?:may|might|could|if|sometimes|some mail servers|close to)\b|\bnothing for\b/i;

/** The sentences of a finding that say that a provider harms this message. */
function claimsOf(texts: string[]): string[] {
  return texts
    .flatMap((text) => text.split(/(?<=[.:;])\s+(?=[A-Z])/))
    .filter((sentence) => HARM.test(sentence) && !HARMLESS.test(sentence));
}

const MORE: Defect[] = [
  {
    check: 'attachments',
    name: 'a script in an archive name',
    plant(world) {
      world.attachments.push(
        'Content-Type: application/octet-stream; name="a.js"\nContent-Disposition: attachment; filename="a.js"\n\nalert(1)',
      );
    },
  },
  {
    check: 'message_id',
    name: 'two',
    plant(world) {
      world.fields['Message-ID'] = ['<1@example.com>', '<2@example.com>'];
    },
  },
  {
    check: 'header_duplicates',
    name: 'two subjects',
    plant(world) {
      world.fields.Subject = ['One', 'Two'];
    },
  },
  {
    check: 'from',
    name: 'two',
    plant(world) {
      world.fields.From = ['a@example.com', 'b@example.com'];
    },
  },
  {
    check: 'from',
    name: 'a brand',
    plant(world) {
      world.fields.From = 'PayPal Security <a@example.com>';
    },
  },
  {
    check: 'mx',
    name: 'null MX',
    plant(world) {
      world.zone['example.com']!.MX = ['0 .'];
    },
  },
  {
    check: 'hidden_text',
    name: '1,400 characters',
    plant(world) {
      world.html = world.html.replace(
        '</body>',
        `<div style="font-size:0">${'cheap pills '.repeat(120)}</div></body>`,
      );
    },
  },
];

const DEFECTS = [
  ...AUTHENTICATION,
  ...REPUTATION,
  ...INFRASTRUCTURE,
  ...COMPLIANCE,
  ...CONTENT,
  ...MORE,
];

async function analyzeDefect({ plant }: Defect, change?: (world: World) => void) {
  const world = cleanWorld();
  plant(world);
  change?.(world);
  return analyzeWorld(world);
}

/** Some provider rule, whichever. */
const UNMET = { problem: 'breaks', id: 'requirement' } as const;

function assertConsistent(result: AnalysisResult): void {
  const { checks, providers, score, grade, cap, summary } = result;
  const status = (provider: Provider) => providers.find((one) => one.provider === provider)!.status;
  const problems = checks.filter((check) => check.status === 'fail' || check.status === 'warn');
  for (const { id, title, detail, fix } of problems)
    for (const claim of claimsOf([title, detail, fix?.text ?? ''])) {
      const named = (Object.keys(NAMES) as Provider[]).filter((one) => NAMES[one].test(claim));
      for (const provider of named)
        assert.equal(status(provider), 'not_ready', `${id}: “${claim}”, but ${provider} is ready`);
      if (named.length > 0 || ANY.test(claim))
        assert.ok(cap !== null && cap.limit <= REQUIREMENT_LIMIT, `${id}: “${claim}”, but no cap`);
    }
  if (cap) {
    assert.ok(score! <= cap.limit && grade === gradeOf(score!));
    const { problem, id } = CONSEQUENCES.find(({ reason }) => reason === cap.reason) ?? UNMET;
    const facts = factsOf(checks);
    const ofProblems = problems.flatMap((check) => clauseOf(facts.get(check.id)) ?? []);
    const causes = causesOf(id, (check) => facts.get(check));
    const names = [problem, ...causes, ...(id === UNMET.id ? ofProblems : [])];
    assert.ok(
      names.some((name) => summary.includes(name)),
      `“${summary}” does not name: ${cap.reason}`,
    );
    if (gradeOf(cap.limit) === 'F')
      assert.ok(
        providers.some((one) => one.status === 'not_ready'),
        `${cap.reason} No provider acts.`,
      );
  }
  const unready = providers.filter((one) => one.status !== 'ready');
  if (unready.some(({ status: one }) => one === 'not_ready')) {
    assert.ok(grade !== 'A', summary);
    assert.doesNotMatch(summary, /\bmeets\b/);
  }
  for (const { name } of unready)
    assert.doesNotMatch(summary, new RegExp(`^This message meets [^.]*\\b${name}\\b`));
}

describe('What findings say agrees with providers, grade and headline', () => {
  for (const defect of DEFECTS)
    it(`${defect.check}: ${defect.name}`, async () => {
      const result = await analyzeDefect(defect);
      const found = result.checks.find(({ id }) => id === defect.check)!;
      assert.ok(['warn', 'fail'].includes(found.status), found.title);
      assertConsistent(result);
    });

  it('for a clean message', async () => {
    const result = await analyzeWorld(cleanWorld());
    assertConsistent(result);
    assert.ok(result.providers.every(({ ready }) => ready));
  });
});

// Every such sentence in the source was seen above, or is known to promise no harm.

/** Sentences about other cases: allowed, general advice, or a finding that does not apply to the message. */
const GENERAL: RegExp[] = [
  /nothing for mailbox providers to block/,
  /Gmail shows it without clipping/,
  // About a signature, a record or a report, not about the message.
  /strict mailbox providers reject it: /,
  /discard such a record/,
  /its own DMARC record, but/,
  /which campaigns recipients report as spam/,
];

it('Sentences that claim harm are known to the table, so that new ones are noticed', () => {
  const files = CHECKS.map(({ id }) => `${id.replaceAll('_', '-')}.ts`);
  const claims = files.flatMap((file) => {
    const text = readFileSync(
      new URL(`../../src/analysis/checks/${file}`, import.meta.url),
      'utf8',
    );
    const strings = [...text.matchAll(/(['"`])((?:(?!\1)[^\\\n]|\\.)*)\1/g)].map(
      ([, , one]) => one!,
    );
    return claimsOf(strings)
      .filter((claim) => ANY.test(claim) || Object.values(NAMES).some((name) => name.test(claim)))
      .filter((claim) => !GENERAL.some((general) => general.test(claim)))
      .map((claim) => ({ id: file.replace('.ts', '').replaceAll('-', '_'), claim }));
  });
  const covered = new Set(
    CONSEQUENCES.flatMap(({ applies }) => [
      ...applies.toString().matchAll(/["']([a-z_]+)["']/g),
    ]).map(([, id]) => id!),
  );
  // Their conditions are in helper functions of the table.
  for (const id of ['from', 'attachments', 'return_path']) covered.add(id);
  assert.deepEqual(
    claims.filter(({ id }) => !covered.has(id)),
    [],
  );
});

it('docs/scoring.md contains the tables of weights and caps', () => {
  const text = readFileSync(new URL('../../docs/scoring.md', import.meta.url), 'utf8');
  for (const table of [capTable(), weightTable()])
    assert.ok(text.includes(table), 'docs/scoring.md is out of date: npm run generate');
});
