/** The pages of feedback in a real browser: a month of reports, and a domain without any. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bounce, complaint, GMAIL, runTest, UNKNOWN, withId } from '../feedback/messages.ts';
import { BEGIN, dmarc, tls, tlsFailure, tlsPolicy } from '../feedback/reading/builders.ts';
import { type FeedbackService, NOW, named, startFeedback } from '../feedback/start.ts';
import { reportsOfDay, SENDERS, STORY_ZONE } from '../feedback/story.ts';
import { checkLook, type MemberBrowser, SIZES, startMemberBrowser } from './dashboard.ts';

const DAY_S = 86_400;
/** Where pictures go, to look at them. */
const PICTURES = process.env.FEEDBACK_PICTURES;

async function startStory(t: TestContext) {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  for (let day = 27; day >= 0; day--)
    for (const report of reportsOfDay(BEGIN - day * DAY_S, {
      ...{ reporters: 3, sendgridSigns: day < 6, newcomer: day < 8 },
    }))
      await feedback.upload(report);
  await feedback.upload(tls({}, [tlsPolicy({}, {}, [tlsFailure()])]));
  await feedback.upload('{"not": "a report"}');
  await named(feedback);
  await feedback.service.call('POST', '/v1/domains', { json: { name: 'quiet.example' } });
  feedback.service.app.scheduler.wakeHere('domains.feedback-records');
  return feedback;
}

const DAY_MS = DAY_S * 1000;

/** Two weeks of complaints and bounces, most of them about one newsletter. */
async function sendMessages(feedback: FeedbackService) {
  const { clock, send } = feedback;
  for (let day = 14; day >= 0; day -= 2) {
    clock.set(NOW - day * DAY_MS);
    const id = (name: string) => `${name}-${day}`;
    await send(complaint('abuse', SENDERS.mailchimp, { id: id('a') }));
    if (day % 4 === 0) await send(complaint('abuse', '192.0.2.200', { id: id('b') }));
    if (day > 8) continue;
    await send(bounce({ ...GMAIL, original: withId(id('c')) }), { sign: false });
    await send(bounce({ status: '5.1.1', original: withId(id('d')) }), { sign: false });
    await send(
      bounce({
        ...{ server: 'mx.other.example', remote: 'eu-smtp-inbound-1.mimecast.com' },
        ...{ status: '5.0.0', reply: '550 SPF Sender Invalid - envelope rejected' },
        original: withId(id('e'), UNKNOWN),
      }),
      { sign: false },
    );
    await send(bounce({ status: '4.2.2', original: withId(id('f')) }), { sign: false });
  }
  await runTest(feedback, '203.0.113.7');
}

async function takePictures(browser: MemberBrowser, paths: Record<string, string>) {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  for (const [name, path] of Object.entries(paths))
    for (const [size, viewport] of Object.entries(SIZES))
      for (const colorScheme of ['light', 'dark'] as const) {
        const look = await browser.open(path, { viewport, colorScheme });
        await look.screenshot({
          ...{ path: `${PICTURES}/${name}-${size}-${colorScheme}.png`, fullPage: true },
        });
        await look.context().close();
      }
}

test('Feedback is read, marked and understood in a browser', async (t) => {
  const { domain, service } = await startStory(t);
  const browser = await startMemberBrowser(t, service, 'member');
  const page = await browser.open('/feedback');
  await page.getByRole('link', { name: 'example.com' }).click();
  await page
    .getByText('Not ready for p=quarantine: failing mail from SendGrid would go to spam.')
    .waitFor();
  await page.getByText('SendGrid: 660 of 840 messages fail DMARC.').waitFor();
  await page.getByLabel('Sources').selectOption({ label: 'Only failing' });
  await page.getByRole('button', { name: 'Apply' }).click();
  const senders = page.locator('#sources tbody tr');
  assert.equal(await senders.count(), 1);
  await senders.first().getByRole('link').click();
  await page.getByRole('heading', { name: 'SendGrid', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Send a test through SendGrid' }).waitFor();
  await page.getByLabel('Your answer').selectOption({ label: 'It is not ours' });
  await page.getByLabel('Name').fill('Old shop');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. It applies to all reports.').waitFor();
  await page.getByRole('link', { name: 'example.com' }).click();
  await page.getByText('You can change the policy to p=quarantine.').waitFor();
  await page.goto(`${service.url}/feedback/reports`);
  await page.getByLabel('Status').selectOption({ label: 'Not accepted' });
  await page.getByRole('button', { name: 'Apply' }).click();
  assert.equal(await page.locator('main tbody tr').count(), 1);
  await page.getByLabel('File').setInputFiles({
    ...{ name: 'r.xml', mimeType: 'text/xml', buffer: Buffer.from(dmarc({ id: 'by-hand' })) },
  });
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByText('Uploaded. Reports by status: counted: 1.').waitFor();

  const reports = await service.call<{ data: { id: string }[] }>(
    'GET',
    '/v1/feedback/reports?type=dmarc&limit=1',
  );
  const sources = await service.call<{ data: { id: string }[] }>(
    'GET',
    `/v1/feedback/sources?domain_id=${domain.id}`,
  );
  const domains = await service.call<{ data: { id: string; name: string }[] }>(
    'GET',
    '/v1/domains',
  );
  const quiet = domains.body.data.find(({ name }) => name === 'quiet.example')!;
  const paths = {
    list: '/feedback',
    domain: `/feedback/domains/${domain.id}`,
    quiet: `/feedback/domains/${quiet.id}`,
    source: `/feedback/sources/${sources.body.data[2]!.id}`,
    reports: '/feedback/reports',
    report: `/feedback/reports/${reports.body.data[0]!.id}`,
  };
  for (const path of Object.values(paths)) await checkLook(browser, path);
  await takePictures(browser, paths);
});

test('Complaints and bounces are read in a browser, with what to fix', async (t) => {
  const feedback = await startStory(t);
  await sendMessages(feedback);
  const { domain, service } = feedback;
  const browser = await startMemberBrowser(t, service, 'viewer');
  const page = await browser.open(`/feedback/domains/${domain.id}`);
  await page.getByRole('link', { name: 'Complaints', exact: true }).click();
  await page.getByText('Recipients marked 12 messages as spam.').waitFor();
  await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Recipients marked 6 messages as spam.').waitFor();
  await page.getByText('Show as a table').click();
  assert.equal(await page.locator('#by-day tbody tr').count(), 4);
  const source = page.locator('#by-source').getByRole('link', { name: 'Mailchimp' });
  assert.match((await source.getAttribute('href'))!, /^\/feedback\/sources\/src_/);
  await page.getByRole('link', { name: 'Bounces', exact: true }).click();
  await page
    .getByText(
      '20 deliveries bounced: 10 refused by policy, 5 failed permanently, 5 failed temporarily.',
    )
    .waitFor();
  await page.getByRole('heading', { name: 'Gmail 5.7.26' }).waitFor();
  await page.getByLabel('Result').selectOption({ label: 'Permanent' });
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('link', { name: 'Clear filters' }).waitFor();
  assert.equal(await page.locator('#newest tbody tr').count(), 5);
  await page.locator('#refused .finding').first().getByRole('link').click();
  await page.locator('#check-dkim').waitFor();
  const domains = await service.call<{ data: { id: string; name: string }[] }>(
    'GET',
    '/v1/domains',
  );
  const quiet = domains.body.data.find(({ name }) => name === 'quiet.example')!;
  const paths = {
    complaints: `/feedback/domains/${domain.id}/complaints`,
    bounces: `/feedback/domains/${domain.id}/bounces`,
    empty: `/feedback/domains/${quiet.id}/bounces`,
  };
  for (const path of Object.values(paths)) await checkLook(browser, path);
  await takePictures(browser, paths);
});

test('A viewer reads feedback and changes nothing', async (t) => {
  const { domain, service } = await startStory(t);
  const browser = await startMemberBrowser(t, service, 'viewer');
  const page = await browser.open(`/feedback/domains/${domain.id}`);
  await page.locator('#sources tbody tr').first().getByRole('link').click();
  await page.getByRole('heading', { name: 'Addresses' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
});
