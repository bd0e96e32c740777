/** The page of a source: how to repair it, the host names of its addresses, and the reports that name one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  FeedbackSource,
  FeedbackSourceDetails,
} from '../../../src/feedback/sources/schema.ts';
import { newMember } from '../../dashboard/member.ts';
import { mainOf } from '../../dashboard/pages.ts';
import { BEGIN } from '../reading/builders.ts';
import { named, startFeedback } from '../start.ts';
import { reportsOfDay, SENDERS, STORY_ZONE } from '../story.ts';

const DAY_S = 86_400;

test('The page of a source has the steps for a failing service, host names, and reports by address', async (t) => {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  const { service, domain, upload } = feedback;
  for (let day = 4; day >= 0; day--)
    for (const report of reportsOfDay(BEGIN - day * DAY_S, {
      reporters: 3,
      sendgridSigns: false,
      newcomer: true,
    }))
      await upload(report);
  await named(feedback);
  const { body } = await service.call<{ data: FeedbackSource[] }>(
    'GET',
    `/v1/feedback/sources?domain_id=${domain.id}`,
  );
  const idOf = (name: string) => body.data.find((source) => source.name === name)!.id;
  const detailsOf = async (name: string, query = '') =>
    (await service.call<FeedbackSourceDetails>('GET', `/v1/feedback/sources/${idOf(name)}${query}`))
      .body;

  const failing = await detailsOf('SendGrid');
  assert.deepEqual(
    failing.setup_steps.map(({ method }) => method),
    ['dkim', 'return_path'],
  );
  assert.match(failing.setup_steps[0]!.text, /In Twilio SendGrid|In SendGrid/);
  assert.match(failing.setup_steps[0]!.text, /d=example\.com/);
  assert.match(failing.setup_steps[1]!.text, /under example\.com\.$/);
  for (const { guide } of failing.setup_steps) assert.match(guide, /^https:\/\//);
  // All is well, or it is not the domain's own.
  for (const name of ['Mailchimp', 'mail.example.com', 'Forward Email'])
    assert.deepEqual((await detailsOf(name)).setup_steps, [], name);

  const { reports } = await detailsOf('SendGrid', `?address=${SENDERS.sendgrid}`);
  assert.equal(reports.length, 10);
  assert.deepEqual(
    reports.slice(0, 4).map(({ date, messages }) => [date, messages]),
    [
      ['2026-11-21', 10],
      ['2026-11-21', 10],
      ['2026-11-21', 10],
      ['2026-11-20', 10],
    ],
  );
  assert.deepEqual(
    reports
      .slice(0, 3)
      .map(({ reporter }) => reporter)
      .sort(),
    ['google.com', 'microsoft.com', 'yahoo.com'],
  );
  // Of another source.
  assert.deepEqual((await detailsOf('SendGrid', `?address=${SENDERS.own}`)).reports, []);

  const member = await newMember(service, 'viewer');
  const pageOf = async (name: string, query = '') =>
    mainOf((await member.get(`/feedback/sources/${idOf(name)}${query}`)).html);
  const page = await pageOf('SendGrid', `?address=${SENDERS.sendgrid}`);
  assert.match(page, /Set up SendGrid/);
  assert.doesNotMatch(page, /Show the steps/);
  assert.match(page, /o1\.ptr9\.sendgrid\.net \(confirmed\)/);
  assert.match(page, /Latest reports about 149\.72\.1\.9/);
  const path = `/feedback/sources/${idOf('SendGrid')}?address=${SENDERS.sendgrid}`;
  assert.ok((await member.get(path)).html.includes(`/feedback/reports/${reports[0]!.id}"`));
  assert.doesNotMatch(await pageOf('Mailchimp'), /Set up Mailchimp/);
  assert.match(await pageOf('198.51.100.0/24'), /None confirmed/);
  // The list leads to the page with the same period, of which the kind is.
  const { html } = await member.get(`/feedback/domains/${domain.id}?days=90`);
  assert.ok(html.includes(`href="/feedback/sources/${idOf('SendGrid')}?days=90"`));
  assert.match(await pageOf('SendGrid', '?days=90'), /from 25 Aug 2026 to 22 Nov 2026/);
});
