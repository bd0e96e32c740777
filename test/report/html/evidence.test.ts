/** Evidence for people: every kind of value is distinct. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Json } from '../../../src/analysis/check.ts';
import { evidenceFacts } from '../../../src/report/document/evidence.ts';
import { Blocks } from '../../../src/report/html/paint.tsx';

const render = (evidence: { [key: string]: Json }): string =>
  renderToString(h(Blocks, { blocks: [evidenceFacts(evidence)] }));

/** The rendered value as text. */
const shown = (name: string, value: Json): string =>
  render({ [name]: value })
    .replace(/^.*?<dd>/s, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

describe('Evidence value', () => {
  const CASES: [name: string, value: Json, expected: string][] = [
    ['anything', null, 'none'],
    ['anything', true, 'yes'],
    ['anything', false, 'no'],
    ['aligned', true, 'aligned'],
    ['aligned', false, 'not aligned'],
    ['anything', '', 'empty'],
    ['anything', 'mail.example.com', 'mail.example.com'],
    ['anything', 12345, '12,345'],
    ['score', -0.1234567, '-0.123'],
    ['octets', 102400, '102,400 bytes (102 KB)'],
    ['message_size', 12, '12 bytes'],
    ['last_delay_seconds', 3700, '1 h 1 min'],
    ['clock_skew_seconds', -5, '−5 s'],
    ['anything', '2026-11-21T10:00:05.000Z', '21 Nov 2026, 10:00:05 UTC'],
    ['anything', '2026-99-99T10:00:05Z', '2026-99-99T10:00:05Z'],
    ['result', 'softfail', 'softfail'],
    // Words of ours become words; data with underscores stays as it is.
    ['status', 'not_listed', 'not listed'],
    ['found', ['exclamation_marks'], 'exclamation marks'],
    ['selector', 'my_selector', 'my_selector'],
    ['status', 'a_b.example', 'a_b.example'],
    ['anything', [], 'none'],
    ['anything', {}, 'none'],
    ['anything', ['a', 'b'], 'a b'],
    ['anything', 'a<b>&"', 'a&lt;b>&amp;&quot;'],
  ];
  for (const [name, value, expected] of CASES)
    it(`${name}: ${JSON.stringify(value)} is shown as ${expected}`, () => {
      assert.equal(shown(name, value), expected);
    });

  it('that is an authentication result has an icon', () => {
    assert.match(render({ result: 'pass' }), /class="state pass".*#icon-pass/);
    assert.match(render({ result: 'fail' }), /class="state fail".*#icon-fail/);
    assert.match(render({ result: 'temperror' }), /class="state unknown".*#icon-unknown/);
    assert.doesNotMatch(render({ result: 'constructor' }), /class="state/);
  });

  it('that is long or multi-line is shown in a box', () => {
    assert.match(render({ a: 'x'.repeat(101) }), /<pre class="box">x{101}<\/pre>/);
    assert.match(render({ a: 'one\r\ntwo\tthree' }), /<pre class="box">one\ntwo {4}three<\/pre>/);
    assert.match(render({ a: 'turn\u202eed\nround' }), /<pre class="box">turn·ed\nround<\/pre>/);
  });
});

describe('Evidence names', () => {
  it('are shown as standard terms and acronyms', () => {
    const names = [
      'client_ip',
      'record',
      'spf',
      'from_domain',
      'checked_urls',
      'helo',
      'tls_id',
      'a_b',
    ];
    const html = render(Object.fromEntries(names.map((name) => [name, 1])));
    assert.deepEqual(
      [...html.matchAll(/<dt>(.*?)<\/dt>/g)].map(([, name]) => name),
      [
        'Sending IP address',
        'Record',
        'SPF',
        'From domain',
        'Checked URLs',
        'HELO',
        'TLS ID',
        'A b',
      ],
    );
  });
});

describe('Evidence lists', () => {
  const SIGNATURES = [
    { domain: 'a.example', selector: 's1', bits: 2048, result: 'pass', reason: null },
    { domain: 'b.example', selector: 's2', bits: null, result: 'fail', reason: null },
  ];

  it('of similar objects become a table without empty columns', () => {
    const html = render({ signatures: SIGNATURES });
    const heads = [...html.matchAll(/<th scope="col">(.*?)<\/th>/g)].map(([, name]) => name);
    assert.deepEqual(heads, ['Domain', 'Selector', 'Bits', 'Result']);
    assert.equal(html.match(/<tr>/g)?.length, 3);
  });

  it('that were truncated say so', () => {
    assert.match(shown('signatures', [...SIGNATURES, '… and 12 more']), /… and 12 more$/);
  });

  it('of complex objects become nested lists', () => {
    const html = render({ hops: [{ by: 'a', more: { deep: [1, 2] } }, { by: 'b' }] });
    assert.doesNotMatch(html, /<table/);
    assert.equal(html.match(/<dt>By<\/dt>/g)?.length, 2);
  });

  it('are cut at a maximum depth', () => {
    let deep: Json = 'bottom';
    for (let level = 0; level < 50; level += 1) deep = { level: deep };
    const html = render({ deep });
    assert.ok(html.length < 3000);
  });
});
