/** Codes and refresh tokens that two nodes get at once: a code has one use, and a refresh token one that lasts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  authorizePath,
  clientId,
  connectAgain,
  consent,
  freePort,
  mcpStatus,
  redeem,
  refresh,
  type Tokens,
} from '../../oauth-server/oauth-client.ts';
import { givePassword, ownerBrowser, signIn } from '../../team/browser.ts';
import { ROUNDS, SETUPS, statusesOf } from './nodes.ts';

/** Both nodes are behind one URL. */
const env = async () => ({ DELIVERABILITY_BASE_URL: `http://127.0.0.1:${await freePort()}` });

for (const { on, skip, start } of SETUPS) {
  test(`Of two redemptions of one code one succeeds, and then the other ends it (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t, { env: await env() });
    const browser = await ownerBrowser(a);
    const id = await clientId(a);
    for (let round = 0; round < ROUNDS; round++) {
      const code = (await consent(a, browser, authorizePath(id))).searchParams.get('code')!;
      const responses = await Promise.all([redeem(a, id, code), redeem(b, id, code)]);
      assert.deepEqual(statusesOf(responses), [200, 400]);
      const { access_token } = responses.find(({ status }) => status === 200)!.body as Tokens;
      assert.equal(await mcpStatus(b, access_token), 401);
    }
  });

  test(`Of two refreshes with one token both succeed, and one of the new tokens stays (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t, { env: await env() });
    const browser = await ownerBrowser(a);
    const id = await clientId(a);
    for (let round = 0; round < ROUNDS; round++) {
      const { tokens } = await connectAgain(a, browser, id);
      const token = tokens.refresh_token;
      const responses = await Promise.all([refresh(a, id, token), refresh(b, id, token)]);
      assert.deepEqual(statusesOf(responses), [200, 200]);
      const nexts = responses.map(({ body }) => body.refresh_token);
      assert.notEqual(nexts[0], nexts[1]);
      assert.equal((await refresh(b, id, nexts[0]!)).status, 200);
      const rows = await a.app.db
        .selectFrom('assistant_tokens')
        .select('hash')
        .where('kind', '=', 'refresh')
        .where('used_at', 'is', null)
        .execute();
      // One for each connection so far.
      assert.equal(rows.length, round + 1);
    }
  });

  test(`A refresh and the removal of the member leave no token (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t, { env: await env() });
    for (let round = 0; round < ROUNDS; round++) {
      const member = await a.makeMember('member');
      await givePassword(a, member.email);
      const id = await clientId(a);
      const { tokens } = await connectAgain(a, await signIn(a, member.email), id);
      const [refreshed, removed] = await Promise.all([
        refresh(a, id, tokens.refresh_token),
        b.call('DELETE', `/v1/team/members/${member.id}`),
      ]);
      assert.equal(removed.status, 200);
      assert.ok([200, 400].includes(refreshed.status), refreshed.text);
      assert.deepEqual(await a.app.db.selectFrom('assistant_tokens').selectAll().execute(), []);
    }
  });
}
