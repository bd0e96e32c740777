/** What receivers report, in a real browser on the pages of a monitor, the summary and a test. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { sendAndWait } from '../e2e/sender.ts';
import { BEGIN, tls, tlsFailure, tlsPolicy } from '../feedback/reading/builders.ts';
import { named, startFeedback } from '../feedback/start.ts';
import { reportsOfDay, SENDERS, STORY_ZONE } from '../feedback/story.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { checkLook, SIZES, startMemberBrowser } from './dashboard.ts';

const DAY_S = 86_400;
/** Where pictures go, to look at them. */
const PICTURES = process.env.FEEDBACK_PICTURES;

test('What receivers report is readable on a monitor, the summary and the report of a test', async (t) => {
  const feedback = await startFeedback(t, { zone: STORY_ZONE });
  const { service, domain, upload } = feedback;
  for (let day = 9; day >= 0; day--)
    for (const report of reportsOfDay(BEGIN - day * DAY_S, {
      reporters: 3,
      sendgridSigns: false,
      newcomer: day < 3,
    }))
      await upload(report);
  await upload(tls({}, [tlsPolicy({}, {}, [tlsFailure()])]));
  await named(feedback);
  await service.app.db.updateTable('domains').set({ status: 'verified' }).execute();
  const { body: monitor } = await service.call<{ id: string }>('POST', '/v1/monitors', {
    json: { name: 'Our domain', type: 'domain_health', domain_id: domain.id, frequency: 'daily' },
  });
  const done = await sendAndWait(service, { raw: goodMessage(), clientIp: SENDERS.own });
  assert.equal(done.status, 'completed');
  const paths = {
    monitor: `/monitors/${monitor.id}`,
    summary: '/reports',
    test: `/tests/${done.id}`,
  };
  const browser = await startMemberBrowser(t, service, 'member');
  for (const path of Object.values(paths)) {
    const page = await browser.open(path);
    await page.getByRole('heading', { name: 'What receivers report' }).waitFor();
    await page.context().close();
    await checkLook(browser, path);
  }
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  const pdf = await fetch(`${service.url}/v1/tests/${done.id}/report.pdf`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  writeFileSync(`${PICTURES}/test.pdf`, new Uint8Array(await pdf.arrayBuffer()));
  for (const [name, path] of Object.entries(paths))
    for (const [size, viewport] of Object.entries(SIZES))
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.open(path, { viewport, colorScheme });
        await page.locator('#receivers').screenshot({
          path: `${PICTURES}/${name}-${size}-${colorScheme}.png`,
        });
        await page.context().close();
      }
});
