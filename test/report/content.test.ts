/** Content of reports: points by category, authentication and placement. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CATEGORIES } from '../../src/analysis/check.ts';
import type { CategoryScore } from '../../src/analysis/result.ts';
import { WEIGHTS, wholeScore } from '../../src/analysis/score.ts';
import {
  authenticationOf,
  type Identifier,
  ledgerOf,
  placementTable,
} from '../../src/report/content.ts';
import type { Report, SeedPlacement } from '../../src/report/report.ts';
import { seededRandom } from '../helpers/random.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import { badReport, goodReport, ORDER, reportOn, unscoredReport } from './reports.ts';

const category = (name: CategoryScore['name'], earned: number, points: number): CategoryScore => ({
  name,
  score: points === 0 ? null : Math.floor((100 * earned) / points),
  weight: WEIGHTS[name],
  earned,
  points,
});

describe('Score ledger', () => {
  it('weights category shares by the categories that ran', () => {
    const { rows, weight, sum } = ledgerOf({
      categories: [
        category('authentication', 47, 50),
        category('reputation', 0, 0),
        category('infrastructure', 10, 20),
      ],
    });
    assert.equal(weight, 50);
    assert.deepEqual(
      rows.map(({ name, share, contribution }) => [name, share, contribution]),
      [
        ['authentication', 0.94, 65.8],
        ['reputation', null, null],
        ['infrastructure', 0.5, 15],
      ],
    );
    assert.equal(sum, 80.8);
  });

  it('has no sum when nothing ran', () => {
    const { rows, sum } = ledgerOf({ categories: [category('content', 0, 0)] });
    assert.deepEqual([rows[0]!.contribution, sum], [null, null]);
    assert.equal(ledgerOf({ categories: [] }).sum, null);
  });

  it('adds up as displayed and never exceeds what was earned', () => {
    const { below } = seededRandom(20261121);
    for (let round = 0; round < 2000; round += 1) {
      const categories = CATEGORIES.map((name) => {
        const points = below(60);
        return category(name, below(2 * points + 1) / 2, points);
      });
      const { rows, weight, sum } = ledgerOf({ categories });
      const tenths = rows.map(({ contribution }) => Math.round((contribution ?? 0) * 10));
      assert.equal(
        tenths.reduce((a, b) => a + b, 0),
        Math.round((sum ?? 0) * 10),
      );
      const exact = categories.map(({ earned, points, weight: own }) =>
        points > 0 ? (100 * own * earned) / points / weight : 0,
      );
      const whole = exact.reduce((a, b) => a + b, 0);
      assert.equal(Math.floor(sum ?? 0), wholeScore(whole));
      exact.forEach((value, index) => {
        assert.ok(Math.abs(tenths[index]! / 10 - value) <= 0.1 + 1e-9);
      });
    }
  });
});

// SPF, DKIM and DMARC with their alignment to the From domain, read from the evidence of checks.

const aligned = (report: Report): [string, string | null, string | null, boolean | null][] =>
  authenticationOf(report).identifiers.map(({ mechanism, domain, result, aligned }: Identifier) => [
    mechanism,
    domain,
    result,
    aligned,
  ]);

describe('Authentication identifiers', () => {
  it('of a correct message are aligned', async () => {
    const report = await goodReport();
    assert.deepEqual(aligned(report), [
      ['SPF', 'shop.example', 'pass', true],
      ['DKIM', 'shop.example', 'pass', true],
    ]);
    const { fromDomain, dmarc, uncheckedSignatures } = authenticationOf(report);
    assert.equal(fromDomain, 'shop.example');
    assert.deepEqual(dmarc, {
      result: 'pass',
      policy: 'reject',
      record: 'v=DMARC1; p=reject; rua=mailto:dmarc@shop.example',
      recordName: '_dmarc.shop.example',
    });
    assert.equal(uncheckedSignatures, 0);
  });

  it('of a service signing with its own domain are not aligned', async () => {
    assert.deepEqual(aligned(await badReport()), [
      ['SPF', 'acme.example', 'softfail', true],
      ['DKIM', 'sender.example', 'pass', false],
    ]);
  });

  it('include every signature in message order', async () => {
    const key = makeKey();
    const inner = await signMessage(ORDER, { domain: 'mail.shop.example', selector: 'a', key });
    const raw = await signMessage(inner, { domain: 'sender.example', selector: 'b', key });
    const report = await reportOn({
      name: 'two',
      raw,
      zone: {
        '_dmarc.shop.example': { TXT: ['v=DMARC1; p=none'] },
        'a._domainkey.mail.shop.example': { TXT: [key.record] },
        'b._domainkey.sender.example': { TXT: [key.record] },
        'shop.example': { TXT: ['v=spf1 -all'] },
      },
      envelope: { mail_from: 'bounces@shop.example' },
    });
    assert.deepEqual(aligned(report), [
      ['SPF', 'shop.example', 'fail', true],
      ['DKIM', 'sender.example', 'pass', false],
      ['DKIM', 'mail.shop.example', 'pass', true],
    ]);
  });

  it('that could not be compared are neither aligned nor unaligned', async () => {
    const key = makeKey();
    const raw = await signMessage(ORDER, { domain: 'sender.example', selector: 'a', key });
    const report = await reportOn({
      name: 'silent',
      raw,
      zone: {
        '_dmarc.shop.example': { fails: 'timeout' },
        'a._domainkey.sender.example': { TXT: [key.record] },
      },
      envelope: { mail_from: 'bounces@sender.example' },
    });
    for (const [, , , isAligned] of aligned(report)) assert.equal(isAligned, null);
  });

  it('that were not checked have no result', async () => {
    const report = await unscoredReport();
    assert.deepEqual(aligned(report), [
      ['SPF', null, null, null],
      ['DKIM', null, 'none', null],
    ]);
    assert.equal(authenticationOf(report).fromDomain, 'shop.example');
  });

  it('can be read from results of other rulesets', () => {
    const { identifiers, dmarc } = authenticationOf({
      checks: [],
      auth_results: { spf: 'pass', dkim: null, dmarc: null },
      from_address: null,
    });
    assert.deepEqual(identifiers, [
      { mechanism: 'SPF', result: 'pass', domain: null, aligned: null, notes: [] },
      { mechanism: 'DKIM', result: null, domain: null, aligned: null, notes: [] },
    ]);
    assert.equal(dmarc.record, null);
  });
});

// The placement table: a row for each provider, and a rate without unknown results.

const seed = (
  provider: string,
  placement: string,
  seconds: number | null = null,
): SeedPlacement => ({
  provider,
  placement,
  seconds,
});

describe('Placement table', () => {
  it('counts seed mailboxes per provider and folder with first and last time', () => {
    const { columns, rows } = placementTable([
      seed('Gmail', 'spam', 30),
      seed('Yahoo', 'inbox', 5),
      seed('Gmail', 'inbox', 12),
      seed('Gmail', 'missing'),
    ]);
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['Inbox', 'Spam', 'Missing'],
    );
    assert.deepEqual(rows, [
      { provider: 'Gmail', seeds: 3, counts: [1, 1, 1], seconds: [12, 30], inbox: 1, settled: 3 },
      { provider: 'Yahoo', seeds: 1, counts: [1, 0, 0], seconds: [5, 5], inbox: 1, settled: 1 },
    ]);
  });

  it('counts tabs as inbox and excludes unsettled results from the rate', () => {
    const places = ['inbox', 'promotions', 'social', 'updates', 'forums', 'spam', 'missing'];
    const { inbox, settled } = placementTable(
      [...places, 'pending', 'unknown'].map((place) => seed('Gmail', place)),
    );
    assert.deepEqual([inbox, settled], [5, 7]);
  });

  it('shows unknown folders last under their own name', () => {
    const { columns } = placementTable([
      seed('A', 'attic'),
      seed('A', 'constructor'),
      seed('A', 'spam'),
    ]);
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['Spam', 'attic', 'constructor'],
    );
  });

  it('is empty without seed mailboxes', () => {
    assert.deepEqual(placementTable([]), { columns: [], rows: [], inbox: 0, settled: 0 });
  });
});
