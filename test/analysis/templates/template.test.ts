/** Templates: what their merge tags do to the other checks, what is left out, the score and the headline. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import { parseMessage } from '../../../src/analysis/mime/parse-message.ts';
import type { AnalysisResult } from '../../../src/analysis/result.ts';
import { createStandIns, fillHtml } from '../../../src/analysis/templates/fill.ts';
import { readTemplate, shownTemplate } from '../../../src/analysis/templates/template.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import type { WebClient } from '../../../src/net/http/web.ts';
import { ENVELOPE, RECEIVED_AT } from '../../helpers/analysis.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const HTML_HEADER = 'MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n';

const rawOf = (text: string) => Buffer.from(text.replace(/\r?\n/g, '\r\n'));

const analyzeTemplate = (text: string, web?: WebClient) =>
  analyze(
    {
      raw: rawOf(text),
      envelope: { ...ENVELOPE, client_ip: null, mail_from: null, helo: null, tls: null },
      receivedAt: RECEIVED_AT,
      kind: 'marketing',
      isTemplate: true,
    },
    {
      resolver: zoneResolver({}),
      ...(web ? { web, setup: { ...NO_SETUP, checkLinks: true } } : { offline: true }),
    },
  );

const html = (body: string, head = '') =>
  analyzeTemplate(
    `${HTML_HEADER}<!doctype html><html lang="en"><head><title>t</title>${head}</head><body>${body}</body></html>`,
  );

const checkOf = ({ checks }: AnalysisResult, id: string) => checks.find((one) => one.id === id)!;
const problems = ({ checks }: AnalysisResult) =>
  checks.filter(({ status }) => ['fail', 'warn', 'error'].includes(status)).map(({ id }) => id);

const FOOTER = '<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>';

const HARMLESS: [string, string][] = [
  [
    'rows in a loop',
    `<table>{% for row in rows %}<tr><td>{{ row.name }}</td></tr>{% endfor %}</table>${FOOTER}`,
  ],
  [
    'branches that open the same table',
    `{% if a %}<table class="a">{% else %}<table class="b">{% endif %}<tr><td>x</td></tr></table>${FOOTER}`,
  ],
  [
    'branches around a link',
    `{{#if a}}<a href="{{u}}">x{{else}}<b>y{{/if}}{{#if a}}</a>{{else}}</b>{{/if}}${FOOTER}`,
  ],
  [
    'a style that hides in some cases',
    `<p style="{% if a %}display:none{% endif %}">${'Many words are here. '.repeat(10)}</p>${FOOTER}`,
  ],
  [
    'attributes of a loop',
    `<p {% if a %}class="x"{% endif %} style="color:{{ c }};width:{{ w }}px">Hello {{ name }}</p>${FOOTER}`,
  ],
  [
    'a comparison in a tag',
    `{% if a < b and c > d %}<p>x</p>{% endif %}<img src="{{ i }}" alt="{{ a > b }}">${FOOTER}`,
  ],
  [
    'links that are tags',
    `<p><a href="*|ARCHIVE|*">View</a> <a href="%%=RedirectTo(@u)=%%">a</a> <a href="<%= url %>">b</a> <a href="[[url]]">c</a> <a href="%recipient.u%">d</a> <a href="-u-">e</a> <a href="[weblink]">f</a> <a href="{$u}">g</a> <a href="\${u}">h</a></p>${FOOTER}`,
  ],
  [
    'links with tags in them',
    `<p><a href="https://{{ host }}/a">a</a> <a href="https://shop.example/{{ id }}?u=*|UNIQID|*">b</a> <a href="mailto:{{ mail }}">c</a></p>${FOOTER}`,
  ],
  ['a merge tag that prints the unsubscribe link', '<p>News for {{ name }}. {% unsubscribe %}</p>'],
  [
    'an image and a merge tag for the content',
    `<img src="https://shop.example/a.png" alt="Shop">{{{ content_html }}}${FOOTER}`,
  ],
  ['a part of a page', `{{> header}}<table><tr><td>News for you</td></tr>{{> footer}}`],
  ['a layout', '<table><tr><td>{% block content %}{% endblock %}</td></tr></table>'],
  ['link text that is a tag', `<p><a href="https://shop.example/">{{ domain }}</a></p>${FOOTER}`],
];

for (const [name, body] of HARMLESS)
  test(`a template with ${name} has no problem`, async () => {
    const result = await html(body);
    assert.deepEqual(problems(result), []);
    assert.equal(result.summary, 'No problems found in this template.');
    assert.equal(result.score, 100);
  });

const BAD: [string, string, string][] = [
  ['a cell outside of a table', `<p>News</p><td>x</td>${FOOTER}`, 'html_structure'],
  ['no unsubscribe link', '<p>News for {{ name }}</p>', 'unsubscribe_link'],
  ['an image without alt text', `<p>News</p><img src="{{ i }}">${FOOTER}`, 'image_alt'],
  [
    'an http link',
    `<p><a href="http://shop.example/{{ id }}">Shop</a></p>${FOOTER}`,
    'link_scheme',
  ],
  ['a relative link', `<p><a href="/shop">Shop</a></p>${FOOTER}`, 'link_scheme'],
  ['a script', `<script>a()</script><p>x</p>${FOOTER}`, 'active_content'],
  [
    'a link to an IP address',
    `<p><a href="https://192.0.2.7/{{ id }}">a</a></p>${FOOTER}`,
    'link_host',
  ],
  ['a broken tag', `<p>Hi {{ name }</p>${FOOTER}`, 'merge_tags'],
];

for (const [name, body, id] of BAD)
  test(`a template with ${name} has the problem ${id}`, async () => {
    const result = await html(body);
    assert.deepEqual(problems(result), [id]);
    assert.match(result.summary, /^This template has a problem: /);
  });

test('all that needs a sent message is left out of a template, and the score is about the rest', async () => {
  const result = await html(`<p>News for {{ name }}</p>${'<img src="a.png">'.repeat(3)}`);
  const { checks, categories, providers, auth_results } = result;
  const leftOut = checks.filter(({ detail }) =>
    detail.startsWith('Not checked: this is a template'),
  );
  for (const id of [
    'dkim',
    'spf',
    'dmarc',
    'date',
    'message_id',
    'from',
    'subject',
    'ptr',
    'tls',
    'list_unsubscribe',
    'one_click',
    'ip_blocklists',
    'text_part',
  ])
    assert.ok(
      leftOut.some((one) => one.id === id && one.status === 'skipped'),
      id,
    );
  assert.deepEqual(
    categories.map(({ name }) => name),
    ['compliance', 'content'],
  );
  assert.deepEqual([providers, Object.values(auth_results)], [[], [null, null, null]]);
  // Each point counts the same.
  const ran = checks.filter(({ earned }) => earned !== null);
  const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
  const share = sum(ran.map(({ earned }) => earned!)) / sum(ran.map(({ points }) => points));
  assert.equal(result.score, Math.floor(share * 100));
  assert.equal(result.is_template, true);
});

test('a message template has its subject, text part and addresses checked', async () => {
  const result = await analyzeTemplate(
    'From: "{{ shop }}" <{{ sender }}>\nTo: *|EMAIL|*\nReply-To: help@shop.example\nSubject: BUY NOW!!! *|FNAME|*\nContent-Type: multipart/alternative; boundary=x\n\n' +
      '--x\nContent-Type: text/plain\n\nHello {{ name }}, this is all new: boots, hats, coats, gloves, socks and more of it.\n' +
      `--x\nContent-Type: text/html\n\n<html lang="en"><body><p>Hello {{ name }}, this is all new: boots, hats, coats, gloves, socks and more of it.</p>${FOOTER}</body></html>\n--x--\n`,
  );
  assert.deepEqual(problems(result), ['subject_style']);
  assert.equal(result.subject, 'BUY NOW!!! *|FNAME|*');
  assert.equal(checkOf(result, 'text_matches_html').status, 'pass');
  assert.match(checkOf(result, 'from').detail, /merge tags, which are filled in later/);
});

test('a link with a merge tag is never requested', async () => {
  const requested: string[] = [];
  const web: WebClient = async ({ url }) => {
    requested.push(String(url));
    return { status: 'failed', reason: 'timeout', detail: '' };
  };
  await analyzeTemplate(
    `${HTML_HEADER}<p><a href="https://shop.example/plain">a</a> <a href="https://shop.example/{{ id }}">b</a> <a href="https://shop.example/?x=[id]">c</a></p>`,
    web,
  );
  assert.deepEqual(requested, ['https://shop.example/plain']);
});

test('a result names the merge tags as they are written', async () => {
  const result = await html(
    `<p>Hello {{ first_name }}, ${'welcome to {{ shop }}. '.repeat(20)}</p><p><a href="http://{{ host }}/a">b</a></p>${FOOTER}`,
  );
  assert.doesNotMatch(JSON.stringify(result), /zqx/);
  assert.match(
    JSON.stringify(checkOf(result, 'link_scheme').evidence),
    /http:\/\/\{\{ host \}\}\/a/,
  );
});

test('the preview of a template shows values by name, and no other tags', async () => {
  const message = await parseMessage(
    rawOf(
      `${HTML_HEADER}<table>{% for r in rows %}<tr><td title="{{ t "a" }}">{{ r }}</td></tr>{% endfor %}</table>`,
    ),
  );
  assert.equal(
    shownTemplate(message).html!.trim(),
    '<table><tr><td title="{{ t &#34;a&#34; }}">{{ r }}</td></tr></table>',
  );
});

test('Templates with more tags than are read have nothing broken because of that', () => {
  for (const text of [
    '{% if a %}'.concat('{{a}} '.repeat(12_000), '{% endif %}'),
    '{% include "a" %} '.repeat(9000).concat('{% if a %}b{% endif %}'),
    '{{#if a}}'.repeat(4000).concat('b', '{{/if}}'.repeat(4000)),
  ])
    assert.deepEqual(fillHtml(text, createStandIns()).broken, []);
});

test('Hostile templates are read in linear time', () => {
  const fill = (unit: string, size = 300_000) => unit.repeat(size / unit.length);
  const nested = (open: string, close: string) =>
    `${open.repeat(4990)}${fill('a <b>c</b>')}${close.repeat(4990)}`;
  for (const text of [
    '<style',
    '<!--{{a}}',
    '<!---->a}}',
    '<%a ',
    '{% raw %}',
    '{% if a %}\n',
    '*|A',
    '{{a{{b}}',
    '%%[',
    '{{a\n',
    '{%',
    '{{a"b\'}}',
    '\n',
  ]
    .map((unit) => fill(unit))
    .concat(
      nested('{% if a %}', '{% endif %}'),
      nested('{{#if a}}', '{{/if}}'),
      `<${fill('a')}{{a}}`,
      `<a ${fill('b={{a}}\n')}>`,
      `{% if a %}<${fill('a')}{% endif %}`,
      `${fill(`%%[ ${'IF '.repeat(5000)}]%%`)}${fill(`%%[ ${'NEXT '.repeat(3000)}]%%`)}`,
      `{{#a${' '.repeat(3900)}b}}`.repeat(70),
      `<%a${' '.repeat(19_000)}b%>`.repeat(15),
    )) {
    const started = cpuTime();
    readTemplate({ headers: [], subject: null, html: text, text } as never);
    assert.ok(cpuTime() - started < 2000, text.slice(0, 40));
  }
});
