/** A browser connects an assistant: it signs in, returns to the consent, and goes on to the program that asked. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startBrowser } from '../helpers/chromium.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import {
  authorizePath,
  clientId,
  mcpStatus,
  redeem,
  startOAuthService,
} from '../oauth-server/oauth-client.ts';
import { givePassword, PASSWORD } from '../team/browser.ts';

test('A member signs in, allows an assistant, and returns to it with a code', {
  skip: skipUnlessInstalled('chromium'),
}, async (t) => {
  const service = await startOAuthService(t);
  await givePassword(service, 'owner@example.com');
  // As assistants do, it redirects once more: to a page of another origin.
  const listen = async (answer: RequestListener): Promise<number> => {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    return (server.address() as AddressInfo).port;
  };
  const next = await listen((_, response) => response.end('connected'));
  const port = await listen(({ url }, response) => {
    const location = `http://127.0.0.1:${next}${url!.replace('/callback', '/done')}`;
    response.writeHead(302, { location }).end();
  });
  const redirect_uri = `http://127.0.0.1:${port}/callback`;
  const id = await clientId(service, { redirect_uris: ['http://127.0.0.1/callback'] });
  const browser = await startBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(service.url + authorizePath(id, { redirect_uri }));
  await page.fill('[name=email]', 'owner@example.com');
  await page.fill('[name=password]', PASSWORD);
  await page.click('button[type=submit]');
  await page.check('[name=writes]');
  await page.selectOption('[name=role]', 'admin');
  await page.click('button[value=allow]');
  await page.waitForURL(/\/done\?/);
  const { searchParams } = new URL(page.url());
  assert.equal(searchParams.get('state'), 'the state');
  assert.equal(searchParams.get('iss'), service.url);
  const { body } = await redeem(service, id, searchParams.get('code')!, { redirect_uri });
  assert.equal(await mcpStatus(service, body.access_token), 200);
  const row = await service.app.db
    .selectFrom('connected_assistants')
    .select(['role', 'writes', 'livemode'])
    .executeTakeFirst();
  assert.deepEqual(row, { role: 'admin', writes: 1, livemode: 1 });
});
