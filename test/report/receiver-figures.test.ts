/** The rows of what Google and Microsoft publish: each number with its basis, and what is not known is grey or absent. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateOf } from '../../src/figures/figure.ts';
import { SPAM_LIMITS } from '../../src/figures/gmail.ts';
import { rateInWords } from '../../src/lib/format/numbers.ts';
import { publishedNote, publishedRows, worstFirst } from '../../src/report/receiver-figures.ts';
import type { GmailFigures, ReceiverFigures } from '../../src/report/summary.ts';
import { PUBLISHED } from './scheduled-reports.ts';

const linesOf = (figures: ReceiverFigures) =>
  publishedRows(figures).map(
    ({ name, value, basis, state }) => `${name}: ${value} (${basis})${state ? ` ${state}` : ''}`,
  );

const [SHOP, QUIET] = PUBLISHED.gmail.domains as [GmailFigures, GmailFigures];

test('publishedRows names the domain of each row if there are several, and the basis of each number', () => {
  assert.deepEqual(linesOf(PUBLISHED), [
    'Gmail spam rate (shop.example): 0.34% (On 18 Nov 2026, the highest of 5 days with data; 0.04% on 20 Nov 2026) fail',
    'Gmail requirements to fix (shop.example): 2 (DMARC alignment since 19 Nov 2026; One-click unsubscribe. Read on 22 Nov 2026) fail',
    'Rejected by Gmail (shop.example): 2.1% (On 18 Nov 2026, the highest day, mostly because of low IP reputation) warn',
    'Gmail spam rate (example.com): No data (Google publishes a rate only for days with enough mail to Gmail) unknown',
    'Gmail requirements to fix (example.com): None (Read on 22 Nov 2026) pass',
    'Addresses that Outlook blocks: 1 (203.0.113.16-203.0.113.31, first seen on 21 Nov 2026: Blocked due to user complaints or other evidence of spamming. Read on 22 Nov 2026) fail',
    'Addresses that Outlook treats as spam: 1 (203.0.113.9: over 90% spam on 2 of 5 days with data) fail',
  ]);
});

test('publishedRows has no row for requirements, errors and addresses that are not known', () => {
  const figures = { ...QUIET, requirements: null };
  const gmail = { total: 1, domains: [figures] };
  assert.deepEqual(linesOf({ ...PUBLISHED, gmail, outlook: null }), [
    'Gmail spam rate: No data (Google publishes a rate only for days with enough mail to Gmail) unknown',
  ]);
  const none = { total: 0, addresses: [] };
  const outlook = { days: 1, addresses: 1, spam: none, blocked: null };
  assert.deepEqual(linesOf({ ...PUBLISHED, gmail: { total: 0, domains: [] }, outlook }), [
    'Addresses that Outlook treats as spam: None (Of 1 address with data on 1 day) pass',
  ]);
  const blocked = { checked_at: '2026-11-22T06:10:00.000Z', total: 0, addresses: [] };
  assert.deepEqual(
    linesOf({
      ...PUBLISHED,
      gmail: { total: 0, domains: [] },
      outlook: { days: 0, addresses: 0, spam: none, blocked },
    }),
    ['Addresses that Outlook blocks: None (Read on 22 Nov 2026) pass'],
  );
});

test('The spam rate of a single day has no other day beside it', () => {
  const day = { day: '2026-11-20', rate: 0.0012 };
  const spam = (days: number) => {
    const figures = { ...QUIET, spam_rate: { days, latest: day, highest: day } };
    const domains = [{ ...figures, requirements: null }];
    return linesOf({ ...PUBLISHED, gmail: { total: 1, domains }, outlook: null });
  };
  assert.deepEqual(spam(1), [
    'Gmail spam rate: 0.12% (On 20 Nov 2026, the only day with data) warn',
  ]);
  assert.deepEqual(spam(3), [
    'Gmail spam rate: 0.12% (On 20 Nov 2026, the latest and highest of 3 days with data) warn',
  ]);
});

test('A spam rate is never shown at a limit of Google that it has not reached', () => {
  const cases: [rate: number, text: string, state: string][] = [
    [0, '0%', 'pass'],
    [0.00001, '<0.01%', 'pass'],
    [0.000999, '0.09%', 'pass'],
    [0.001, '0.1%', 'warn'],
    [0.0029999, '0.29%', 'warn'],
    [0.003, '0.3%', 'fail'],
    [0.0031, '0.31%', 'fail'],
    [1, '100%', 'fail'],
  ];
  for (const [rate, text, state] of cases)
    assert.deepEqual([rateInWords(rate), stateOf(rate, SPAM_LIMITS)], [text, state], `${rate}`);
});

test('The worst domain comes first: 0.3% before a requirement, which comes before 0.1%', () => {
  const figures = (domain: string, rate: number, needs_work = 0): GmailFigures => {
    const day = { day: '2026-11-20', rate };
    return {
      ...SHOP,
      domain,
      rejected: null,
      spam_rate: { days: 1, latest: day, highest: day },
      requirements: {
        checked_at: '2026-11-22T06:10:00.000Z',
        needs_work: SHOP.requirements!.needs_work.slice(0, needs_work),
      },
    };
  };
  const unsorted = [
    figures('fine.example', 0.0001),
    figures('near.example', 0.002),
    figures('work.example', 0, 1),
    { ...figures('unknown.example', 0), spam_rate: null, requirements: null },
    figures('bad.example', 0.004),
    figures('worse.example', 0.04),
  ];
  assert.deepEqual(
    unsorted.toSorted(worstFirst).map(({ domain }) => domain.split('.')[0]),
    ['worse', 'bad', 'work', 'near', 'fine', 'unknown'],
  );
});

test('The note names the days, and says that more domains have figures than are listed', () => {
  assert.equal(
    publishedNote(PUBLISHED),
    'Mon 16 Nov 2026 to Sun 22 Nov 2026. Google and Microsoft publish a day or two later, so the last days may be missing.',
  );
  const many = { ...PUBLISHED, to: PUBLISHED.from, gmail: { ...PUBLISHED.gmail, total: 40 } };
  assert.match(
    publishedNote(many),
    /^Mon 16 Nov 2026\. The 2 of 40 domains with the worst figures are listed\. /,
  );
});
