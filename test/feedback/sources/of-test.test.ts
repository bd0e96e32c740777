/** The report of a test says what receivers report about its sender, to the team and to nobody else. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type {
  FeedbackSource,
  FeedbackSourceDetails,
} from '../../../src/feedback/sources/schema.ts';
import { newMember } from '../../dashboard/member.ts';
import { getPage, mainOf, postForm } from '../../dashboard/pages.ts';
import { sendAndWait } from '../../e2e/sender.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { pdfText } from '../../helpers/pdf.ts';
import { type SendOptions, sendMail } from '../../helpers/send.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';
import { BEGIN, dmarc, record } from '../reading/builders.ts';
import { NOW, named, startFeedback } from '../start.ts';
import { reportsOfDay, SENDERS, STORY_ZONE } from '../story.ts';

const DAY_S = 86_400;
const KEY = makeKey();
const ZONE = {
  ...STORY_ZONE,
  's1._domainkey.example.com': { TXT: [KEY.record] },
  'crm1._domainkey.example.com': { TXT: [KEY.record] },
  'bounce.crm.example': { TXT: ['v=spf1 ip4:203.0.114.62 -all'] },
};
const TITLE = /What receivers report/i;

/** Reports of three receivers about four days. The newcomer signs with a selector of its own. */
async function startReported(t: TestContext, env: Record<string, string> = {}) {
  const feedback = await startFeedback(t, { zone: ZONE, env });
  const { service, domain, upload } = feedback;
  for (let day = 3; day >= 0; day--)
    for (const report of reportsOfDay(BEGIN - day * DAY_S, {
      reporters: 3,
      sendgridSigns: true,
      newcomer: false,
    }))
      await upload(report);
  const results =
    '<auth_results><dkim><domain>example.com</domain><selector>crm1</selector><result>pass</result></dkim><spf><domain>bounce.crm.example</domain><result>pass</result></spf></auth_results>';
  await upload(
    dmarc({
      id: 'crm',
      records: [
        record({ source: SENDERS.newcomer, count: '95', spf: 'fail', results }),
        record({ source: SENDERS.newcomer, count: '2', spf: 'fail', dkim: 'fail', results }),
        record({ source: SENDERS.forwarder, count: '5', spf: 'fail', results }),
      ].join(''),
    }),
  );
  await named(feedback);
  const verify = () =>
    service.app.db
      .updateTable('domains')
      .set({ status: 'verified' })
      .where('id', '=', domain.id)
      .execute();
  const pageOf = async (mail: Partial<SendOptions> = {}) => {
    const done = await sendAndWait(service, { raw: goodMessage(), ...mail });
    assert.equal(done.status, 'completed');
    const { text } = await service.call('GET', `/v1/tests/${done.id}/report.html`);
    return { id: done.id, html: text };
  };
  return { ...feedback, verify, pageOf };
}

const signedBy = (selector: string) =>
  signMessage(goodMessage(), { domain: 'example.com', selector, key: KEY, signTime: NOW - 60_000 });

/** The sentence and its basis. */
const sentenceIn = (html: string): string =>
  /Receivers reported [^<]*/.exec(html.replace(/<\/?bdi>/g, ''))?.[0] ?? '';

test('The source of a test is found by address, sending service or signature', async (t) => {
  const { verify, pageOf, clock } = await startReported(t);
  const own = { clientIp: SENDERS.own };
  // The domain is not verified yet.
  assert.doesNotMatch((await pageOf(own)).html, TITLE);
  await verify();
  const { html } = await pageOf(own);
  assert.equal(
    sentenceIn(html),
    'Receivers reported 240 messages from mail.example.com in the last 30 days; 100% passed DMARC.',
  );
  assert.match(
    html,
    /Reports from 4 reporters about example\.com, Sat 24 Oct 2026 to Sun 22 Nov 2026 \(UTC\)\./,
  );
  assert.match(html, /<a [^>]*href="[^"]*\/feedback\/sources\/src_\w+"/);
  // An address of the service that no report has named.
  const service = await pageOf({ clientIp: '198.2.128.99', helo: 'mail99.mcsv.net' });
  assert.match(sentenceIn(service.html), /480 messages from Mailchimp .* 100% passed/);
  const signed = await pageOf({ clientIp: '203.0.114.61', raw: await signedBy('crm1') });
  assert.match(sentenceIn(signed.html), /97 messages from example\.net .* 97\.9% passed/);
  // Several senders use this selector.
  const shared = await pageOf({ clientIp: '203.0.114.61', raw: await signedBy('s1') });
  assert.doesNotMatch(shared.html, TITLE);
  const unknown = await pageOf({ clientIp: '203.0.114.61' });
  assert.doesNotMatch(unknown.html, TITLE);
  clock.advance(40 * DAY_S * 1000);
  assert.doesNotMatch((await pageOf(own)).html, TITLE);
});

test('The report of a test and the page of a source agree on which sent the test', async (t) => {
  const feedback = await startReported(t);
  const { service, domain, verify, pageOf } = feedback;
  await verify();
  const { body: sources } = await service.call<{ data: FeedbackSource[] }>(
    'GET',
    `/v1/feedback/sources?domain_id=${domain.id}`,
  );
  /** The newest test by the name of its source, as their pages have it. */
  const testsOfSources = async () => {
    const found: Record<string, string> = {};
    for (const { id, name } of sources.data) {
      const { body } = await service.call<FeedbackSourceDetails>(
        'GET',
        `/v1/feedback/sources/${id}`,
      );
      if (body.test) found[name] = body.test.id;
    }
    return found;
  };
  const unknown = { clientIp: '203.0.114.61' };
  const senders: [name: string, mail: Partial<SendOptions>][] = [
    ['mail.example.com', { clientIp: SENDERS.own }],
    ['Mailchimp', { clientIp: '198.2.128.99', helo: 'mail99.mcsv.net' }],
    ['example.net', { ...unknown, raw: await signedBy('crm1') }],
    ['example.net', { clientIp: '203.0.114.62', mailFrom: 'b@bounce.crm.example' }],
    // SPF does not pass for it there.
    ['', { ...unknown, mailFrom: 'b@bounce.crm.example' }],
    ['', { ...unknown, raw: await signedBy('s1') }],
    ['', unknown],
  ];
  const expected: Record<string, string> = {};
  for (const [name, mail] of senders) {
    const { id, html } = await pageOf(mail);
    if (name !== '') expected[name] = id;
    assert.equal(/ from (.+) in the last 30 days/.exec(sentenceIn(html))?.[1] ?? '', name);
    assert.deepEqual(await testsOfSources(), expected, JSON.stringify(mail.mailFrom ?? name));
  }
});

test('The page and the PDF of the team name the source; shared links and public tests do not', {
  skip: skipUnlessInstalled('pdftotext'),
}, async (t) => {
  const { service, verify, pageOf } = await startReported(t, {
    DELIVERABILITY_PUBLIC_TESTS: 'true',
  });
  await verify();
  const { id } = await pageOf({ clientIp: SENDERS.own });
  const bytesOf = async (path: string, key: string | null = service.key) => {
    const response = await fetch(`${service.url}${path}`, {
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
    });
    assert.equal(response.status, 200, path);
    return new Uint8Array(await response.arrayBuffer());
  };
  const member = await newMember(service, 'viewer');
  assert.match(mainOf((await member.get(`/tests/${id}`)).html), TITLE);
  const pdf = pdfText(await bytesOf(`/v1/tests/${id}/report.pdf`)).replace(/\s+/g, ' ');
  assert.match(pdf, TITLE);
  assert.ok(pdf.includes('Receivers reported 240 messages from mail.example.com'), pdf);

  const { body } = await service.call<{ url: string }>('POST', '/v1/reports/share', {
    json: { test_ids: [id] },
  });
  const { pathname } = new URL(body.url);
  const shared = Buffer.from(await bytesOf(pathname, null)).toString();
  assert.match(shared, /Authentication/);
  assert.doesNotMatch(shared, TITLE);
  assert.doesNotMatch(pdfText(await bytesOf(`${pathname}.pdf`, null)), TITLE);
  const json = await service.call('GET', pathname, {
    key: null,
    headers: { accept: 'application/json' },
  });
  assert.doesNotMatch(json.text, /Receivers reported|reported_?source/i);

  const { location } = await postForm(service, '/public/tests', {});
  const waiting = await getPage(service, location!);
  const to = /<code>([^<]+@[^<]+)<\/code>/.exec(waiting.html)![1]!;
  await sendMail({ port: service.smtp.port, to, raw: goodMessage(), clientIp: SENDERS.own });
  let page = await getPage(service, `${location}?wait=20&seen=waiting`);
  if (page.html.includes('data-watch'))
    page = await getPage(service, `${location}?wait=20&seen=processing`);
  assert.match(page.html, /Authentication/);
  assert.doesNotMatch(page.html, TITLE);
});
