/** The page of a shared link as HTML: overview, reports, anchors, and hostile text. */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { DomUtils, parseDocument } from 'htmlparser2';
import { checksToFix } from '../../../src/analysis/summary.ts';
import { verdictOf } from '../../../src/report/content.ts';
import { REPORT_CSP, sharedPage } from '../../../src/report/html/report-page.tsx';
import type { Report } from '../../../src/report/report.ts';
import type { Share } from '../../../src/report/share.ts';
import { badReport, campaignShare, largeShare, shareOf } from '../reports.ts';

type Document = ReturnType<typeof parseDocument>;
type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number];

const all = (root: Document | Element, name = '*'): Element[] =>
  DomUtils.getElementsByTagName(name, root, true);
const byClass = (name: string, root: Document | Element): Element[] =>
  all(root).filter(({ attribs }) => attribs.class?.split(' ').includes(name));
const textOf = (node: Element): string => DomUtils.innerText(node).replace(/\s+/g, ' ').trim();
const parse = (share: Share): Document => parseDocument(sharedPage(share));
const levelOf = ({ name, attribs }: Element): number => Number(attribs['aria-level'] ?? name[1]);

/** The titles of the sections that a report has. */
function sectionsOf({ checks, placement }: Report): string[] {
  const count = checksToFix(checks).length;
  const has = (...of: string[]) => checks.some(({ status }) => of.includes(status));
  return [
    ...(count > 0 ? ['Fix these first'] : []),
    ...(count > 3 ? [`${count - 3} more ${count === 4 ? 'issue' : 'issues'}`] : []),
    'How the score is calculated',
    'Authentication',
    ...(placement.length > 0 ? ['Inbox placement'] : []),
    'Provider rules',
    ...(has('pass') ? ['Passed'] : []),
    ...(has('info') ? ['For your information'] : []),
    ...(has('error', 'skipped') ? ['Not checked'] : []),
  ];
}

let campaign: Share;
let alone: Share;
before(async () => {
  campaign = await campaignShare();
  alone = shareOf([await badReport()], { deletedTests: 2 });
});

describe('Shared report page of one test', () => {
  it('is the report without message content', () => {
    const page = parse(alone);
    const sections = sectionsOf(alone.reports[0]!);
    assert.deepEqual(all(page, 'h2').map(textOf), sections);
    const contents = byClass('contents', page)[0]!;
    assert.deepEqual(all(contents, 'a').map(textOf), sections);
    assert.equal(textOf(all(page, 'h1')[0]!), verdictOf(alone.reports[0]!.summary));
    assert.deepEqual(all(page, 'iframe'), []);
  });

  it('states sharing date, expiry and deleted tests', () => {
    const head = textOf(byClass('share-head', parse(alone))[0]!);
    assert.match(head, /Shared 21 Nov 2026, 10:05:00 UTC\. This link expires on 28 Nov 2026, /);
    assert.match(head, /2 tests in this report have been deleted\./);
  });
});

describe('Shared report page of many tests', () => {
  it('has an overview row per test linking to its report', () => {
    const page = parse(campaign);
    const overview = all(page).find(({ attribs }) => attribs.id === 'overview')!;
    const text = textOf(overview);
    assert.match(text, /Autumn campaign: before and after/);
    assert.match(text, /1 test in this report has been deleted\./);
    assert.match(text, /Scores from 40 to 100, 76 on average; 1 test has no score\./);
    const rows = all(byClass('tests', overview)[0]!, 'tr').slice(1);
    assert.equal(rows.length, 4);
    campaign.reports.forEach((report, index) => {
      const row = rows[index]!;
      const link = all(row, 'a')[0]!;
      assert.equal(textOf(link), report.name);
      const target = all(page).find(({ attribs }) => `#${attribs.id}` === link.attribs.href)!;
      assert.ok(textOf(target).includes(verdictOf(report.summary)));
      const label = all(row, 'svg')[0]!.attribs['aria-label']!;
      assert.match(
        label,
        report.score === null
          ? /^No score$/
          : new RegExp(`Score ${report.score} out of 100, grade`),
      );
      assert.ok(textOf(row).includes(verdictOf(report.summary)));
      assert.match(textOf(row), /(?:shop|acme)\.example/);
      assert.match(textOf(row), /21 Nov 2026, 10:00:02 UTC/);
    });
  });

  it('shows scores as bars with a text alternative', () => {
    const [figure] = byClass('scores', parse(campaign));
    const [svg] = all(figure!, 'svg');
    const bars = all(svg!, 'rect').filter(({ attribs }) => attribs.class !== 'hit');
    assert.equal(bars.length, 3);
    const description = textOf(all(svg!, 'desc')[0]!);
    assert.match(
      description,
      /^Score of each test\. Test 1, Order confirmation: 100; .*: no score\.$/,
    );
    // Without a viewBox, the text keeps its size on narrow pages.
    assert.deepEqual([svg!.attribs['font-size'], svg!.attribs.viewBox], ['14', undefined]);
    const rows = all(byClass('tests', parse(campaign))[0]!, 'tr').slice(1);
    rows.forEach((row, index) => {
      assert.match(textOf(row), new RegExp(`Test ${index + 1} ·`));
    });
    for (const few of [alone, shareOf([], { deletedTests: 1 })])
      assert.deepEqual(byClass('scores', parse(few)), []);
  });

  it('links to the PDF without exposing the token', () => {
    for (const share of [campaign, alone]) {
      const link = all(parse(share), 'a').find((each) => textOf(each) === 'Open as PDF')!;
      assert.equal(link.attribs.href, '?format=pdf');
    }
  });

  it('contains each full report folded', () => {
    const folds = byClass('shared-test', parse(campaign));
    assert.equal(folds.length, 4);
    folds.forEach((fold, index) => {
      assert.equal('open' in fold.attribs, false);
      const sections = byClass('section', fold).map((section) => textOf(all(section, 'h2')[0]!));
      assert.deepEqual(sections, sectionsOf(campaign.reports[index]!));
      const { checks } = campaign.reports[index]!;
      const places = all(fold).filter(({ attribs }) => attribs.id?.includes('-check-'));
      assert.equal(places.length, checks.length);
    });
  });

  it('has unique anchors and no broken internal links', () => {
    for (const share of [campaign, alone]) {
      const page = parse(share);
      const ids = all(page).flatMap(({ attribs }) => attribs.id ?? []);
      assert.equal(new Set(ids).size, ids.length);
      const named = all(page).flatMap(({ attribs }) => [
        ...(attribs.href?.startsWith('#') ? [attribs.href.slice(1)] : []),
        ...(attribs['aria-labelledby']?.split(' ') ?? []),
      ]);
      assert.ok(named.length > 20);
      for (const id of named) assert.ok(ids.includes(id), id);
    }
  });

  it('keeps internal links within each report', () => {
    byClass('shared-test-report', parse(campaign)).forEach((report, index) => {
      const inside = all(report, 'a').flatMap(({ attribs }) =>
        attribs.href?.startsWith('#') && attribs.href !== '#overview' ? [attribs.href] : [],
      );
      assert.ok(inside.length > 0);
      for (const href of inside) assert.ok(href.startsWith(`#test-${index + 1}-`), href);
    });
  });

  it('skips no heading level', () => {
    const levels = all(parse(campaign))
      .filter(({ name }) => /^h[1-6]$/.test(name))
      .map(levelOf);
    assert.equal(levels.filter((level) => level === 1).length, 1);
    assert.equal(levels.filter((level) => level === 2).length, 4);
    levels.slice(1).forEach((level, index) => {
      assert.ok(level > 1 && level <= levels[index]! + 1 && level <= 6);
    });
  });

  it('handles all tests deleted', () => {
    const text = textOf(all(parse(shareOf([], { deletedTests: 3 })), 'main')[0]!);
    assert.match(text, /All tests in this report have been deleted\./);
  });

  it('of a hundred tests stays below 10 MB with all findings', async () => {
    const share = await largeShare();
    const html = sharedPage(share);
    assert.ok(html.length < 10_000_000, `${html.length}`);
    const page = parseDocument(html);
    assert.equal(byClass('shared-test', page).length, 100);
    const findings = byClass('finding', byClass('shared-test', page)[1]!);
    assert.ok(findings.length > 10);
    assert.match(textOf(findings[0]!), /Evidence/);
    assert.match(textOf(byClass('share-head', page)[0]!), /omits the evidence of passed checks/);
  });
});

describe('Shared report page protection', () => {
  const EVIL = `</title></style><script>alert(1)</script><img src=x onerror=alert(1)>" onload="x" javascript:alert(1) ' \u202e\u0000`;

  it('renders hostile names without elements, attributes or links', () => {
    const evil = campaign.reports.map((report) => ({
      ...report,
      name: EVIL,
      subject: EVIL,
      from_address: `a@${EVIL}`,
      summary: EVIL,
      id: EVIL,
      completed_at: EVIL,
    }));
    for (const reports of [evil, evil.slice(0, 1)]) {
      const html = sharedPage({ ...campaign, title: EVIL, expires_at: EVIL, reports });
      const page = parseDocument(html);
      assert.equal(all(page, 'script').length, 1);
      assert.deepEqual([...all(page, 'img'), ...all(page, 'iframe')], []);
      for (const { attribs } of all(page))
        for (const key of Object.keys(attribs)) assert.doesNotMatch(key, /^(?:on|src|action)/);
      assert.doesNotMatch(html, /[\u0000\u202a-\u202e]/);
    }
  });

  it('sends noindex, no referrer and a strict CSP', () => {
    const page = parse(campaign);
    const metas = all(page, 'meta').map(
      ({ attribs }) => `${attribs.name ?? attribs['http-equiv']}: ${attribs.content}`,
    );
    assert.ok(metas.includes('robots: noindex') && metas.includes('referrer: no-referrer'));
    const policy = metas.find((meta) => meta.startsWith('Content-Security-Policy'))!;
    assert.equal(REPORT_CSP, `${policy.split(': ')[1]}; frame-ancestors 'none'`);
    assert.match(REPORT_CSP, /^default-src 'none'; .*script-src 'sha256-/);
    for (const { name } of all(page))
      assert.ok(!['object', 'embed', 'form', 'base', 'iframe', 'img'].includes(name), name);
    for (const { attribs } of all(page, 'link'))
      assert.match(attribs.href!, /^data:image\/svg\+xml,/);
  });
});
