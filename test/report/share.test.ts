/** The sentences about the tests of a shared link. */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Report } from '../../src/report/report.ts';
import {
  deletedTestsSentence,
  fromDomainOf,
  isBrief,
  isBriefPdf,
  reportName,
  scoresChart,
  scoresSentence,
  shareTitle,
} from '../../src/report/share.ts';
import { goodReport, shareOf } from './reports.ts';

describe('Share texts', () => {
  let report: Report;
  before(async () => {
    report = await goodReport();
  });

  const scored = (...scores: (number | null)[]) =>
    shareOf(scores.map((score) => ({ ...report, score })));

  it('scoresSentence gives range and rounded-down average', () => {
    for (const [scores, words] of [
      [[80, 61, 80], 'Scores from 61 to 80, 73 on average.'],
      [[80, 80], 'All scores are 80.'],
      [[80, null, null], 'The only score is 80; 2 tests have no score.'],
      [[0, 100, null], 'Scores from 0 to 100, 50 on average; 1 test has no score.'],
      [[null], null],
      [[], null],
    ] as const)
      assert.equal(scoresSentence(scored(...scores)), words);
  });

  it('deletedTestsSentence states the number of deleted tests', () => {
    assert.equal(deletedTestsSentence(scored(1)), null);
    const words = [1, 2].map((deletedTests) =>
      deletedTestsSentence({ ...scored(1), deletedTests }),
    );
    assert.deepEqual(words, [
      '1 test in this report has been deleted.',
      '2 tests in this report have been deleted.',
    ]);
  });

  it('shareTitle uses the given title or a default', () => {
    assert.equal(shareTitle(shareOf([report], { title: 'For you' })), 'For you');
    assert.equal(shareTitle(shareOf([report])), 'Deliverability report');
    assert.equal(shareTitle(scored(1, 2)), '2 deliverability tests');
  });

  it('isBrief applies from 21 tests, isBriefPdf from 2', () => {
    const of = (count: number) => scored(...Array.from({ length: count }, () => 1));
    assert.deepEqual([isBrief(of(20)), isBrief(of(21))], [false, true]);
    assert.deepEqual([isBriefPdf(of(1)), isBriefPdf(of(2))], [false, true]);
  });

  it('scoresChart needs at least two tests with a score', () => {
    assert.equal(scoresChart(scored(80)), null);
    assert.equal(scoresChart(scored(null, null)), null);
    const { max, buckets } = scoresChart(scored(80, null))!;
    assert.equal(max, 100);
    assert.deepEqual(
      buckets.map(({ label, name, value }) => [label, name, value]),
      [
        ['1', 'Test 1, Order confirmation', 80],
        ['2', 'Test 2, Order confirmation', null],
      ],
    );
  });

  it('reportName uses name, subject or ID', () => {
    assert.equal(reportName(report), 'Order confirmation');
    assert.equal(reportName({ ...report, name: null }), 'Your order 1042 is on its way');
    const bare = { ...report, name: null, subject: null, from_address: null };
    assert.equal(reportName(bare), report.id);
    assert.deepEqual([fromDomainOf(report), fromDomainOf(bare)], ['shop.example', null]);
  });
});
