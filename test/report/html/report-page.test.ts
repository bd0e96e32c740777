/** The report page as HTML: order, completeness, sums, and hostile text. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { DomUtils, parseDocument } from 'htmlparser2';
import type { CheckResult } from '../../../src/analysis/result.ts';
import { checksToFix } from '../../../src/analysis/summary.ts';
import {
  dependsOnFailedCheck,
  formatGain,
  SCORE_LIMITATIONS,
} from '../../../src/report/content.ts';
import { REPORT_CSP, reportPage } from '../../../src/report/html/report-page.tsx';
import type { Report } from '../../../src/report/report.ts';
import { ICON_SVG } from '../../../src/ui/frame.tsx';
import { badReport, goodReport, newsletterReport, unscoredReport } from '../reports.ts';

type Document = ReturnType<typeof parseDocument>;
type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number];
type Test = (element: Element) => boolean;

const byTag = (name: string, root: Document | Element): Element[] =>
  DomUtils.getElementsByTagName(name, root, true);
const byId = (id: string, root: Document | Element): Element => {
  const found = DomUtils.getElementById(id, root, true);
  assert.ok(found, `#${id}`);
  return found;
};
/** In document order. */
const elements = (root: Document | Element, test: Test = () => true): Element[] =>
  DomUtils.getElementsByTagName('*', root, true).filter(test);
const byClass = (name: string, root: Document | Element): Element[] =>
  elements(root, ({ attribs }) => (attribs.class ?? '').split(' ').includes(name));

const INLINE = ['a', 'b', 'bdi', 'code', 'span', 'strong', 'time'];

/** The text with spaces between elements. */
function textOf(node: Element): string {
  const read = (children: Element['children']): string =>
    children
      .map((child) => {
        if (child.type === 'text') return child.data;
        if (!('children' in child)) return '';
        const inner = read(child.children as Element['children']);
        return INLINE.includes((child as Element).name) ? inner : ` ${inner} `;
      })
      .join('');
  return read(node.children).replace(/\s+/g, ' ').trim();
}

const parse = (report: Report): Document => parseDocument(reportPage(report));

let [good, bad, unscored, newsletter]: Report[] = [];
before(async () => {
  [good, bad, unscored, newsletter] = await Promise.all([
    goodReport(),
    badReport(),
    unscoredReport(),
    newsletterReport(),
  ]);
});

const REST: { title: string; statuses: CheckResult['status'][] }[] = [
  { title: 'Passed', statuses: ['pass'] },
  { title: 'For your information', statuses: ['info'] },
  { title: 'Not checked', statuses: ['error', 'skipped'] },
];

/** The first three fixes are beside the preview. */
function fixTitles({ checks }: Report): string[] {
  const count = checksToFix(checks).length;
  return [
    ...(count > 0 ? ['Fix these first'] : []),
    ...(count > 3 ? [`${count - 3} more ${count === 4 ? 'issue' : 'issues'}`] : []),
  ];
}

describe('Report page order', () => {
  it('has the same sections for every report', () => {
    for (const report of [good!, bad!, unscored!, newsletter!])
      assert.deepEqual(byTag('h2', parse(report)).map(textOf), [
        ...fixTitles(report),
        'How the score is calculated',
        'Authentication',
        ...(report.placement.length > 0 ? ['Inbox placement'] : []),
        'Provider rules',
        'Delivery path',
        ...(report.preview ? ['As recipients see it'] : []),
        'Message',
        ...REST.filter(({ statuses }) =>
          report.checks.some(({ status }) => statuses.includes(status)),
        ).map(({ title }) => title),
      ]);
  });

  it('skips no heading level', () => {
    for (const report of [good!, bad!, unscored!]) {
      const headings = elements(parse(report), ({ name }) => /^h[1-6]$/.test(name));
      const levels = headings.map(({ name }) => Number(name[1]));
      assert.equal(levels[0], 1);
      levels.slice(1).forEach((level, index) => {
        assert.ok(level > 1 && level <= levels[index]! + 1, textOf(headings[index + 1]!));
      });
    }
  });
});

describe('Report page verdict', () => {
  it('shows score, grade and summary', () => {
    const page = parse(bad!);
    const verdict = byClass('verdict', page)[0]!;
    assert.match(textOf(verdict), new RegExp(`${bad!.score} ?Grade F`));
    assert.equal(textOf(byTag('h1', page)[0]!), bad!.summary);
    const ring = byTag('svg', verdict)[0]!;
    assert.equal(
      ring.attribs['aria-label'],
      `Score ${bad!.score} out of 100, grade F, capped at ${bad!.cap!.limit}`,
    );
    assert.match(
      textOf(verdict),
      /Not everything is known\. Not checked: Mail servers \(MX\) and Return path\. Coverage: 9\d%\./,
    );
  });

  it('without a score says so and shows no gains', () => {
    const page = parse(unscored!);
    assert.match(
      textOf(byClass('verdict', page)[0]!),
      /No score.*This message has no score: SPF and DMARC were not checked\./,
    );
    assert.equal(byClass('gain', page).length, 0);
    assert.doesNotMatch(textOf(byId('score', page)), /Sum|Adds|rounded down/);
  });

  it('of a flawless message says there is nothing to fix', () => {
    const page = parse(good!);
    assert.equal(good!.score, 100);
    assert.match(textOf(byClass('verdict', page)[0]!), /No problems found\./);
    assert.deepEqual(byClass('finding', page), []);
  });
});

describe('Report page findings', () => {
  it('are the three with the highest gain with their fix, and one line for each of the others', () => {
    const page = parse(bad!);
    const ids = checksToFix(bad!.checks).map(({ id }) => `check-${id}`);
    assert.ok(ids.length > 15);
    const findingsIn = (id: string) => byClass('finding', byId(id, page));
    const first = findingsIn('fix');
    assert.deepEqual(
      first.map(({ attribs }) => attribs.id),
      ids.slice(0, 3),
    );
    // What to change is not folded.
    for (const finding of first) {
      const [fold] = byTag('details', finding);
      assert.equal('open' in fold!.attribs, false);
      assert.deepEqual(byClass('fix', fold!), []);
      assert.equal(byClass('fix', finding).length, 1);
    }
    const others = findingsIn('more-fixes');
    assert.deepEqual(others.map(({ attribs }) => attribs.id).toSorted(), ids.slice(3).toSorted());
    for (const { name, attribs } of others) assert.ok(name === 'details' && !('open' in attribs));
  });

  it('show verdict, fix, evidence, reason and rule', () => {
    const page = parse(bad!);
    for (const check of checksToFix(bad!.checks)) {
      const finding = byId(`check-${check.id}`, page);
      const order = ['What to change', 'Evidence', 'Why it matters'].filter(
        (title) => title !== 'Evidence' || Object.keys(check.evidence).length > 0,
      );
      assert.deepEqual(byTag('h4', finding).map(textOf), order);
      const gain = check.gain > 0 ? formatGain(check.gain) : 'unlocks later';
      assert.ok(textOf(byClass('gain', finding)[0]!).startsWith(gain));
      const text = textOf(finding);
      for (const part of [
        check.title,
        check.detail,
        check.fix!.text,
        check.reference.name,
        check.label,
      ])
        assert.ok(text.includes(part.replace(/\s+/g, ' ')), `${check.id}: ${part}`);
      const links = byTag('a', finding).map(({ attribs }) => attribs.href);
      assert.deepEqual(links, [check.reference.url, `#check-${check.id}`]);
      if (check.fix!.record) {
        const { type, name, value } = check.fix!.record;
        const boxes = byTag('code', byClass('record', finding)[0]!).map(textOf);
        assert.deepEqual(boxes, [type, name, value]);
        assert.equal(byTag('button', finding).length, 2);
      }
    }
  });

  it('show the cap that limits the score', () => {
    const text = textOf(byClass('cap', parse(bad!))[0]!);
    assert.match(
      text,
      /^Neither SPF nor DKIM passes for the From domain of this marketing mail\. The score is capped at 40 until you fix this\./,
    );
    assert.equal(byClass('cap', parse(good!)).length, 0);
  });
});

describe('Report page ledger', () => {
  const figures = (report: Report) => {
    const table = byClass('ledger', parse(report))[0]!;
    const rows = byTag('tr', table).map((row) => byTag('td', row).map(textOf));
    return { rows: rows.filter((cells) => cells.length === 3), text: textOf(table) };
  };

  it('adds up to the score as displayed', () => {
    for (const report of [good!, bad!, newsletter!]) {
      const { rows, text } = figures(report);
      const sum = rows.pop()!;
      const adds = rows.map((cells) => Number(cells[2]));
      assert.equal(
        adds.reduce((a, b) => a + Math.round(b * 10), 0),
        Math.round(Number(sum[2]) * 10),
      );
      assert.equal(
        rows.reduce((total, cells) => total + Number(cells[1]), 0),
        Number(sum[1]),
      );
      const capped = report.cap ? Math.min(Number(sum[2]), report.cap.limit) : Number(sum[2]);
      assert.equal(Math.floor(capped), report.score);
      assert.ok(text.includes(`Score, rounded down ${report.score} (${report.grade})`));
    }
  });

  it('lists every counted check with category sums', () => {
    const section = byId('score', parse(bad!));
    const table = byTag('table', section)[1]!;
    const bodies = byTag('tbody', table);
    const named = bad!.categories.filter(({ name }) =>
      bad!.checks.some((c) => c.category === name),
    );
    assert.equal(bodies.length, named.length);
    bodies.forEach((body, index) => {
      const cells = byTag('tr', body)
        .slice(1)
        .map((row) => byTag('td', row).map(textOf));
      const counted = cells.filter(([, earned]) => earned !== 'not counted');
      const sums = [1, 2].map((column) =>
        counted.reduce((sum, row) => sum + Number(row[column]), 0),
      );
      const { earned, points } = bad!.categories[index]!;
      assert.deepEqual(sums, [earned, points]);
    });
  });

  it('states the limits of the score', () => {
    assert.ok(textOf(byId('score', parse(good!))).includes(SCORE_LIMITATIONS));
  });
});

describe('Report page completeness', () => {
  it('shows every check once with its reason', () => {
    for (const report of [good!, bad!, unscored!]) {
      const page = parse(report);
      for (const check of report.checks) {
        const places = elements(page, ({ attribs }) => attribs.id === `check-${check.id}`);
        assert.equal(places.length, 1, check.id);
        const reason = dependsOnFailedCheck(check) ? check.title : check.detail;
        assert.ok(textOf(places[0]!).includes(reason.replace(/\s+/g, ' ')), check.id);
      }
      for (const { title, statuses } of REST) {
        const count = report.checks.filter(({ status }) => statuses.includes(status)).length;
        const folds = byTag('summary', page).map(textOf);
        const line = `${title} ${count} ${count === 1 ? 'check' : 'checks'}`;
        assert.equal(folds.includes(line), count > 0, line);
      }
    }
  });

  it('folds everything else, and each fold can be linked', () => {
    for (const report of [good!, bad!]) {
      const page = parse(report);
      const folds = byClass('fold', page);
      assert.ok(folds.length >= 10);
      const links = new Set(byTag('a', page).map(({ attribs }) => attribs.href));
      for (const { attribs } of folds) assert.ok(links.has(`#${attribs.id}`), attribs.id);
      const open = folds
        .filter(({ attribs }) => 'open' in attribs)
        .map(({ attribs }) => attribs.id);
      assert.deepEqual(open, report === good ? [] : ['authentication', 'providers']);
    }
  });

  it('has one table of provider rules, in which a shared rule is one row', () => {
    const section = byId('providers', parse(bad!));
    const rows = byTag('tr', section).map((row) =>
      elements(row, ({ name }) => name === 'th' || name === 'td').map(textOf),
    );
    const providers = bad!.providers.map(({ name }) => name);
    assert.deepEqual(rows[0], ['Rule', ...providers]);
    assert.deepEqual(rows[1], ['Verdict', ...providers.map(() => 'Not ready')]);
    const ids = new Set(bad!.providers.flatMap(({ rules }) => rules.map(({ id }) => id)));
    const rules = rows.slice(2).filter(([title]) => title !== 'Rule');
    assert.equal(rules.length, ids.size);
    const states = rules.flatMap((cells) => cells.slice(1));
    for (const text of states)
      assert.match(text, /^(?:Met|Not met|Unknown|– No rule|– Not needed)(?: [45][\d., ]+)?$/);
    // Rules that are not met come first.
    const isUnmet = rules.map((cells) => cells.some((text) => text.startsWith('Not met')));
    assert.equal(isUnmet.lastIndexOf(true) + 1, isUnmet.filter(Boolean).length);
    // What has the words of one provider only follows in them.
    const [reverse] = rules.filter(([title]) => title!.includes('has a PTR record'));
    assert.match(reverse![0]!, /Yahoo: The sending IP address has valid forward and reverse DNS\./);
  });

  it('never shows unknown results as passed or failed', () => {
    for (const report of [bad!, unscored!]) {
      const page = parse(report);
      for (const { id, status } of report.checks) {
        if (status !== 'error' && status !== 'skipped') continue;
        const [state] = byClass('state', byId(`check-${id}`, page));
        assert.match(state!.attribs.class!, /unknown/, id);
      }
    }
    const unknownOnly = structuredClone(good!);
    for (const provider of unknownOnly.providers) {
      provider.ready = false;
      provider.status = 'unknown';
      for (const rule of provider.rules) rule.status = 'unknown';
    }
    const section = byId('providers', parse(unknownOnly));
    assert.deepEqual(byClass('badge', section).map(textOf), Array(4).fill('Unknown'));
    assert.doesNotMatch(textOf(section), /Not ready|Not met|Ready/);
  });

  it('names the SMTP replies with which a provider rejects the message', () => {
    const section = textOf(byId('providers', parse(bad!)));
    assert.match(
      section,
      /203\.0\.114\.200 has no PTR record\..*Not met 550 5\.7\.25, 451 4\.7\.23/,
    );
    assert.match(section, /The codes are the replies with which a provider rejects such mail\./);
  });

  it('shows the message in a strict sandbox or states its absence', () => {
    const frames = byTag('iframe', parse(newsletter!));
    assert.deepEqual(
      frames.map(({ attribs }) => attribs.sandbox),
      // One beside the verdict, and one for each client and theme.
      Array.from({ length: 11 }, () => ''),
    );
    assert.match(
      frames[0]!.attribs.srcdoc!,
      /^<!doctype html><meta http-equiv="Content-Security-Policy"/,
    );
    assert.match(
      textOf(byId('preview', parse(newsletter!))),
      /2 remote images are not loaded\. A tracking pixel is marked and never loaded/,
    );
    const section = byId('message', parse(newsletter!));
    assert.match(textOf(section), /size-guide\.pdf application\/pdf/);
    assert.match(textOf(byId('message', parse(unscored!))), /does not include the message/);
  });

  it('excludes unreadable seed mailboxes from the count', () => {
    assert.match(
      textOf(byId('placement', parse(good!))),
      /4 of 4 seed mailboxes received the message in the inbox/,
    );
    assert.match(textOf(byId('placement', parse(bad!))), /1 of 4 seed mailboxes/);
    const titles = byTag('h2', parse(unscored!)).map(textOf);
    assert.ok(titles.length > 0 && !titles.includes('Inbox placement'));
  });
});

describe('Report page protection', () => {
  const EVIL = `</iframe></title></style><script>alert(1)</script><img src=x onerror=alert(1)>" onload="x" javascript:alert(1) ' \u202e\u0000\u2066 &lt;b&gt;`;

  const evilReport = (): Report => {
    const infect = (value: unknown): unknown => {
      if (typeof value === 'string') return `${value}${EVIL}`;
      if (Array.isArray(value)) return [...value.map(infect), EVIL];
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries([
        ...Object.entries(value).map(([key, item]) => [key, infect(item)]),
        [EVIL, EVIL],
      ]);
    };
    const report = structuredClone(bad!);
    const check = (each: CheckResult): CheckResult => ({
      ...each,
      title: each.title + EVIL,
      detail: each.detail + EVIL,
      evidence: infect(each.evidence) as CheckResult['evidence'],
      fix: each.fix && {
        text: each.fix.text + EVIL,
        record: { type: EVIL, name: EVIL, value: EVIL },
      },
    });
    return {
      ...report,
      checks: report.checks.map(check),
      name: EVIL,
      subject: EVIL,
      from_address: EVIL,
      received_at: EVIL,
      envelope: {
        mail_from: EVIL,
        client_ip: EVIL,
        helo: EVIL,
        tls: { used: true, version: EVIL, cipher: EVIL },
        reported_by: { client_ip: EVIL, name: EVIL, method: 'received' },
      },
      judged_kind: { kind: 'marketing', by: 'message', confidence: 'likely', reasons: [EVIL] },
      placement: [{ provider: EVIL, placement: EVIL, seconds: 1 }],
      message: {
        ...report.message!,
        headers: [{ name: EVIL, value: EVIL }],
        text: EVIL,
        source: EVIL,
        attachments: [{ filename: EVIL, type: EVIL, size: 1 }],
        links: [
          { href: `javascript:${EVIL}`, text: EVIL },
          { href: 'https://evil.example/', text: null },
        ],
      },
    };
  };

  it('renders hostile text without elements, attributes or links', () => {
    const page = parse(evilReport());
    const scripts = byTag('script', page);
    assert.equal(scripts.length, 1);
    const icon = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`;
    const references = new Set([
      ...bad!.checks.map(({ reference }) => reference.url),
      ...bad!.providers.map(({ reference }) => reference.url),
    ]);
    for (const { name, attribs } of elements(page)) {
      assert.ok(name !== 'img' && name !== 'b', name);
      for (const [key, value] of Object.entries(attribs)) {
        assert.doesNotMatch(key, /^on/);
        if (key === 'href')
          assert.ok(/^#[\w-]+$/.test(value) || references.has(value) || value === icon, value);
        if (key === 'src' || key === 'action') assert.fail(`${name} ${key}`);
      }
    }
  });

  it('removes bidi and control characters', () => {
    const html = reportPage(evilReport());
    const [before, after] = html.split(/srcdoc="[^"]*"/);
    const found = /.{0,200}[\u0000\u202a-\u202e\u2066-\u2069]/.exec(before! + after!);
    assert.equal(found?.[0], undefined);
  });

  it('truncates very long text everywhere', () => {
    const long = 'x'.repeat(300_000);
    const report = structuredClone(bad!);
    Object.assign(report, { subject: long, from_address: long, name: long });
    for (const check of report.checks) Object.assign(check, { title: long, detail: long });
    report.message!.headers = [{ name: 'a', value: 'b' }];
    const size = reportPage(report).length;
    assert.ok(size < 800_000, `${size}`);
  });

  it('allows only its own script by hash and no requests in its CSP', () => {
    const page = parse(good!);
    const script = DomUtils.textContent(byTag('script', page)[0]!);
    const hash = createHash('sha256').update(script).digest('base64');
    const meta = byTag('meta', page).find(
      ({ attribs }) => attribs['http-equiv'] === 'Content-Security-Policy',
    )!;
    assert.equal(REPORT_CSP, `${meta.attribs.content}; frame-ancestors 'none'`);
    const policy = new Map(
      REPORT_CSP.split('; ').map((part) => {
        const [name, ...values] = part.split(' ');
        return [name, values.join(' ')] as const;
      }),
    );
    assert.equal(policy.get('script-src'), `'sha256-${hash}'`);
    for (const name of ['default-src', 'frame-src', 'base-uri', 'form-action'])
      assert.equal(policy.get(name), "'none'");
    assert.equal(policy.get('img-src'), 'data:');
    // The policy comes before anything that could load or run.
    const head = byTag('head', page)[0]!;
    assert.ok(elements(page).indexOf(meta) < elements(page).indexOf(byTag('style', head)[0]!));
    const names = byTag('meta', page).map(({ attribs }) => `${attribs.name}: ${attribs.content}`);
    assert.ok(names.includes('robots: noindex') && names.includes('referrer: no-referrer'));
  });
});
