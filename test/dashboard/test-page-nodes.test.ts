/** The page of a test on one node, while another one receives the message. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SENDER_ZONE, signed } from '../e2e/sender.ts';
import { newDatabase, startNode } from '../helpers/nodes.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { sendMail } from '../helpers/send.ts';
import { givePassword, signIn } from '../team/browser.ts';
import { getPage, mainOf } from './pages.ts';

test('A page becomes the report of a message that another node receives', {
  skip: skipUnlessOnPostgres(),
}, async (t) => {
  const url = await newDatabase(t);
  const here = await startNode(t, url, { zone: SENDER_ZONE });
  const there = await startNode(t, url, { zone: SENDER_ZONE });
  await givePassword(here, 'owner@example.com');
  const { cookie } = await signIn(here, 'owner@example.com');
  const { id, address } = await here.createTest();
  const seen: string[] = [];
  const next = async () => {
    const query = `wait=20&seen=${seen.at(-1) ?? ''}`;
    const { status, html } = await getPage(here, `/tests/${id}?${query}`, { cookie });
    assert.equal(status, 200);
    seen.push(/data-version="([^"]+)"/.exec(html)![1]!);
    return mainOf(html);
  };
  assert.match(await next(), /Waiting for a connection/);
  const waiting = next();
  await sendMail({ port: there.smtp.port, to: address, raw: await signed() });
  let text = await waiting;
  // The result may be there already, as soon as the message.
  for (let changes = 0; changes < 10 && !text.includes('How the score'); changes += 1) {
    assert.match(text, /Connected from 192\.0\.2\.1/);
    text = await next();
  }
  assert.match(text, /How the score is calculated/);
});
