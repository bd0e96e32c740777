/** Reports in a terminal: their content at any width, and hostile text. */

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Check } from '../../src/analysis/check.ts';
import type { DomainCheck, DomainHealth } from '../../src/analysis/domain/health.ts';
import type { AnalysisResult, ProviderVerdict, RuleStatus } from '../../src/analysis/result.ts';
import { domainText, reportText, type TextOptions } from '../../src/report/text.ts';
import { analyzeBy, fakeCheck } from '../analysis/fake-checks.ts';

const RECORD = {
  type: 'TXT',
  name: '_dmarc.example.com',
  value: `v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com; ${'x'.repeat(200)}`,
};

const bad = (id: string, status: 'fail' | 'warn', more: Partial<Check> = {}): Check =>
  fakeCheck(
    id,
    () => ({
      status,
      title: `The sentence on ${id} is long enough that it does not fit on one line of eighty.`,
      detail:
        'Why it matters takes more than one line as well, on most of the terminals there are.',
      fix: {
        text: 'Publish this record, and wait until the old one is forgotten.',
        record: RECORD,
      },
    }),
    more,
  );

const GOOD = await analyzeBy([fakeCheck('a', 'pass', { category: 'content' })]);
const BAD = await analyzeBy([
  bad('dmarc', 'fail'),
  ...['b', 'c', 'd', 'e'].map((id) => bad(id, 'fail', { category: 'infrastructure' })),
  bad('f', 'warn', { category: 'content' }),
  bad('g', 'warn', { category: 'compliance' }),
  fakeCheck('timed_out', 'error', { category: 'content', points: 60 }),
  fakeCheck('local', 'skipped', { category: 'infrastructure' }),
  fakeCheck('unasked', 'error', { category: 'reputation' }),
]);
const NO_SCORE = await analyzeBy(['spf', 'dkim', 'dmarc'].map((id) => fakeCheck(id, 'error')));

const text = (result: AnalysisResult, options: Partial<TextOptions> = {}): string =>
  reportText(result, { width: 80, color: false, ...options });

const RULE = {
  id: 'r',
  title: 'R.',
  detail: 'R.',
  applies: 'any' as const,
  checks: ['spf'],
  error: null,
};
const verdict = (ready: boolean, ...statuses: RuleStatus[]): ProviderVerdict => ({
  provider: 'gmail',
  name: 'Gmail',
  ready,
  status: ready ? 'ready' : statuses.includes('not_met') ? 'not_ready' : 'unknown',
  reference: { name: 'Rules', url: 'https://example.com' },
  rules: statuses.map((status) => ({ ...RULE, status })),
});

describe('Text report', () => {
  it('shows met, unmet and unknown rules per provider', () => {
    const of = (provider: ProviderVerdict) => text({ ...GOOD, providers: [provider] });
    assert.match(of(verdict(true, 'met', 'met')), /✓ Gmail +2 met\n/);
    assert.match(of(verdict(false, 'met', 'not_met')), /✗ Gmail +1 met, 1 not met\n/);
    assert.match(of(verdict(false, 'met', 'unknown')), /\? Gmail +1 met, 1 unknown\n/);
    // As on the page: rules for bulk mail do not count for a transactional message.
    const { rules, ...gmail } = verdict(false, 'met', 'not_met');
    const bulkOnly = {
      ...gmail,
      status: 'unknown' as const,
      rules: rules.map((rule) => ({ ...rule, applies: 'bulk' as const })),
    };
    assert.equal(GOOD.judged_kind.kind, 'transactional');
    assert.match(of(bulkOnly), /\? Gmail +0 met\n/);
    const marketing = { ...GOOD.judged_kind, kind: 'marketing' as const };
    const unready = { ...bulkOnly, status: 'not_ready' as const };
    const asMarketing = text({ ...GOOD, judged_kind: marketing, providers: [unready] });
    assert.match(asMarketing, /✗ Gmail +1 met, 1 not met\n/);
  });

  it('of a good message shows the score and that nothing needs fixing', () => {
    const report = text(GOOD, { testedName: 'good.eml' });
    assert.match(report, /^100\/100 {2}A {2}good\.eml\n/);
    assert.match(
      report,
      /“Your order has shipped” · from news@example\.com · \d+ bytes · ruleset\s2026/,
    );
    assert.match(report, /✓ No problems found\./);
    assert.match(report, /content +█{20} +100 {2}10 of 10 points, weight 10/);
    assert.match(report, /SPF \S+.*DKIM \S+.*DMARC \S+/);
    assert.doesNotMatch(report, /could not be completed|Not applicable/);
    assert.ok(report.endsWith('\n') && !report.endsWith('\n\n'));
  });

  it('of a bad message shows the cap, five findings in full and the rest briefly', () => {
    const report = text(BAD);
    assert.match(report, new RegExp(`^${BAD.score}/100 {2}F\n`));
    assert.match(report, /DMARC fails\. The score is capped at 40 until you fix this\./);
    assert.equal(report.match(/→ Publish this record/g)?.length, 5);
    assert.equal(report.match(/The sentence on /g)?.length, 7);
    assert.match(
      report,
      new RegExp(`\\+${Math.round(BAD.of('dmarc').gain)} {2}The sentence on dmarc`),
    );
    assert.match(report, /score capped at 40/);
    assert.match(report, /DMARC · RFC 5322/);
    assert.match(report, /reputation +not checked/);
    assert.match(
      report,
      /2 of 12 checks could not be completed \(coverage \d+%\): TIMED_OUT, UNASKED\./,
    );
    assert.match(report, /Not checked: LOCAL\./);
  });

  it('states the same coverage everywhere, rounded down', () => {
    for (const [coverage, percent] of [
      [0.926, '92%'],
      [0.57, '57%'],
      [0.996, '99%'],
    ] as const)
      assert.deepEqual(text({ ...BAD, coverage }).match(/(?<=coverage:? )\d+%/gi), [
        percent,
        percent,
      ]);
  });

  it('omits checks that depend on a failed one from the findings', async () => {
    const report = text(
      await analyzeBy([fakeCheck('a', 'fail'), fakeCheck('b', 'fail', { dependsOn: ['a'] })]),
    );
    assert.doesNotMatch(report, /b says fail|Not applicable/);
  });

  it('without a score says so and why', () => {
    const report = text(NO_SCORE);
    assert.match(report, /^No score\nThis message has no score: fewer than two of SPF, DKIM/);
    assert.doesNotMatch(report, /✓|\/100/);
    assert.match(report, /No problems found in the completed checks\./);
    assert.match(report, /SPF temperror +DKIM temperror +DMARC temperror/);
    const offline = { ...NO_SCORE, auth_results: { spf: null, dkim: null, dmarc: null } };
    assert.match(text(offline), /SPF not checked +DKIM not checked +DMARC not checked/);
  });
});

describe('Text report width', () => {
  for (const width of [40, 80, 200])
    it(`of ${width}: no line is longer except records`, () => {
      const record = `${RECORD.name} ${RECORD.type} ${RECORD.value}`;
      for (const result of [GOOD, BAD, NO_SCORE]) {
        const lines = text(result, { width }).split('\n');
        const long = lines.filter((line) => line.length > width && line.trim() !== record);
        assert.deepEqual(long, []);
      }
      const report = text(BAD, { width });
      assert.equal(report.split('\n').filter((line) => line.trim() === record).length, 5);
    });

  it('is limited to 100 columns', () => {
    const record = RECORD.value.slice(-50);
    const lines = text(BAD, { width: 400 }).split('\n');
    assert.ok(Math.max(...lines.filter((l) => !l.endsWith(record)).map((l) => l.length)) <= 100);
  });

  it('drops the bars on narrow terminals and nothing else', () => {
    const [narrow, wide] = [text(BAD, { width: 40 }), text(BAD, { width: 80 })];
    assert.ok(wide.includes('█') || wide.includes('░'));
    assert.ok(!narrow.includes('█') && !narrow.includes('░'));
    for (const { name } of BAD.categories) assert.ok(narrow.includes(name.replace('_', ' ')), name);
  });
});

describe('Text report colors', () => {
  it('appear only on request and leave the text unchanged', () => {
    for (const result of [GOOD, BAD, NO_SCORE]) {
      const colored = text(result, { color: true });
      assert.ok(colored.includes('\u001b['));
      assert.equal(stripVTControlCharacters(colored), text(result));
    }
  });

  it('are omitted by default', () => {
    for (const result of [GOOD, BAD, NO_SCORE])
      assert.ok(!text(result, { testedName: 'a.eml' }).includes('\u001b'));
  });
});

describe('Text report with hostile text', () => {
  const EVIL = 'a\u001b[2J\u001b]0;owned\u0007b\r\nc\u009b31md\u202ee\u0000f\u0008g';
  /** Control and bidi characters, except newlines. */
  const HARMFUL = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

  it('replaces control and bidi characters everywhere', async () => {
    const evil = fakeCheck('evil', () => ({
      status: 'fail',
      title: `The HELO was ${EVIL}.`,
      detail: `It was ${EVIL}.`,
      fix: { text: `Not ${EVIL}.`, record: { type: 'TXT', name: EVIL, value: EVIL } },
    }));
    const others = ['b', 'c', 'd', 'e', 'f'].map((id) => ({ ...evil, id }));
    const result = {
      ...(await analyzeBy([evil, ...others])),
      subject: EVIL,
      from_address: `${EVIL}@example.com`,
      summary: `This is at risk. First: ${EVIL}`,
    };
    for (const width of [40, 80]) {
      const report = text(result, { testedName: EVIL, width });
      assert.doesNotMatch(report, HARMFUL);
      assert.match(report, /“a·\[2J·\]0;owned·b c·31md·e·f·g”/);
    }
  });

  it('truncates long text', async () => {
    const long = 'x'.repeat(100_000);
    const report = text({ ...GOOD, subject: long, from_address: long });
    assert.ok(report.length < 2_000);
  });
});

// The health of a domain as text.

const check = (changes: Partial<DomainCheck>): DomainCheck => ({
  id: 'mx',
  label: 'Mail servers (MX)',
  category: 'infrastructure',
  status: 'pass',
  severity: null,
  title: 'Mail to example.com can be delivered.',
  detail: 'Replies find a server.',
  evidence: {},
  points: 4,
  reference: { name: 'RFC 5321 §5.1', url: 'https://www.rfc-editor.org/rfc/rfc5321' },
  fix: null,
  ...changes,
});

const health = (checks: DomainCheck[], changes: Partial<DomainHealth> = {}): DomainHealth => ({
  name: 'example.com',
  status: 'critical',
  score: 40,
  summary: 'example.com needs attention: 1 critical problem and 2 warnings.',
  checks,
  ...changes,
});

const LONG = `v=spf1 ${'include:spf.example.com '.repeat(10)}-all`;
const MIXED = health([
  check({ severity: 'warning', status: 'warn', points: 2, title: 'A mild thing.' }),
  check({ severity: 'warning', status: 'fail', points: 3, title: 'A worse thing.' }),
  check({
    severity: 'critical',
    status: 'fail',
    points: 3,
    title: 'A grave thing.',
    fix: { text: 'Publish this.', record: { type: 'TXT', name: 'example.com', value: LONG } },
  }),
  check({}),
  check({ status: 'info', title: 'Good to know.' }),
  check({ status: 'error', title: 'Not shown.', detail: 'No answer came in time.' }),
]);

test('domainText shows verdict, fixes by severity, then one line per check', () => {
  const text = domainText(MIXED, { width: 80, color: false });
  const order = [
    '40/100  critical  example.com\nexample.com needs attention',
    'Fix these first\n  ✗ A grave thing.',
    '  ! A worse thing.',
    '  ! A mild thing.',
    'Checks\n  ! Mail servers (MX)         A mild thing.',
    '  ! Mail servers (MX)         A worse thing.',
    '  ✗ Mail servers (MX)         A grave thing.',
    '  ✓ Mail servers (MX)         Mail to example.com',
    '  i Mail servers (MX)         Good to know.',
    '  ? Mail servers (MX)         No answer came in time.',
  ].map((piece) => text.indexOf(piece));
  assert.ok(
    order.every((at, index) => at >= 0 && at > (order[index - 1] ?? -1)),
    `${order}\n${text}`,
  );
});

test('domainText keeps records whole on their own line', () => {
  for (const width of [40, 80, 200]) {
    const lines = domainText(MIXED, { width, color: false }).split('\n');
    const record = lines.filter((line) => line.includes('v=spf1'));
    assert.deepEqual(record, [`      example.com TXT ${LONG}`]);
    const others = lines.filter((line) => line !== record[0]);
    assert.ok(
      others.every((line) => line.length <= Math.max(width, 52)),
      others.join('\n'),
    );
  }
});

test('domainText colors change no word', () => {
  const colored = domainText(MIXED, { width: 80, color: true });
  assert.notEqual(colored, stripVTControlCharacters(colored));
  assert.equal(stripVTControlCharacters(colored), domainText(MIXED, { width: 80, color: false }));
});

test('domainText says when nothing needs fixing, limited to what is known', () => {
  const text = (changes: Partial<DomainHealth>) =>
    domainText(health([check({})], changes), { width: 80, color: false });
  assert.match(
    text({ status: 'healthy', score: 100 }),
    /^100\/100 {2}healthy[\s\S]*No problems found\./,
  );
  assert.match(text({ status: 'unknown', score: null }), /^unknown {2}example\.com/);
  assert.match(text({ status: 'unknown', score: null }), /No problems found in the completed/);
});

test('domainText replaces control characters from DNS', () => {
  const evil = '\u001b[2J\r\u0007\u202e';
  const text = domainText(
    health([
      check({
        severity: 'critical',
        status: 'fail',
        title: `a${evil}`,
        detail: `b${evil}`,
        label: `c${evil}`,
        fix: { text: `d${evil}`, record: { type: 'TXT', name: `e${evil}`, value: `f${evil}` } },
      }),
    ]),
    { width: 80, color: false },
  );
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
});
