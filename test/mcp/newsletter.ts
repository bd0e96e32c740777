/** The session of an assistant that is asked why a newsletter fails: from the question to a record that fixes it. */

import assert from 'node:assert/strict';
import type { Zone } from '../../src/net/dns/zone.ts';
import type { TestService } from '../helpers/app.ts';
import { sendMail } from '../helpers/send.ts';
import { type AnyClient, answerOf } from './mcp-client.ts';

const SPF = 'v=spf1 ip4:192.0.2.80 -all';
/** What the finding proposes: the sending server is added, and nothing is lost. */
const FIXED_SPF = 'v=spf1 ip4:192.0.2.80 ip4:192.0.2.1 -all';

export const newsletterZone = (): Zone => ({
  'shop.example': { TXT: [SPF, 'other=kept'], MX: ['10 mx.shop.example'] },
  'mx.shop.example': { A: ['192.0.2.80'] },
  '_dmarc.shop.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@shop.example'] },
});

const NEWSLETTER = [
  'From: Shop <news@shop.example>',
  'To: reader@example.net',
  'Subject: The spring newsletter',
  'Date: Sat, 21 Nov 2026 09:59:58 +0000',
  'Message-ID: <20261121.1@shop.example>',
  'List-Unsubscribe: <https://shop.example/unsubscribe/1>',
  '',
  'Our spring collection is here. Unsubscribe: https://shop.example/unsubscribe/1',
].join('\r\n');

/** Sends the newsletter to a test, as someone did before they asked. */
export async function sendNewsletter(service: TestService): Promise<void> {
  await service.call('POST', '/v1/domains', { json: { name: 'shop.example' } });
  const { id, address } = await service.createTest();
  await sendMail({
    port: service.smtp.port,
    to: address,
    raw: NEWSLETTER,
    mailFrom: 'news@shop.example',
  });
  assert.equal((await service.getTest(id, '?wait=20')).status, 'completed');
}

export interface SessionCall {
  name: string;
  characters: number;
}

/** Asserts that the record is found, that it fixes the finding, and that this takes at most 8 calls. Needs `--allow-writes`. */
export async function fixNewsletter(client: AnyClient, zone: Zone): Promise<SessionCall[]> {
  const calls: SessionCall[] = [];
  const ask = async (name: string, args = {}) => {
    const text = await answerOf(client, name, args);
    calls.push({ name, characters: text.length });
    return text;
  };
  const listed = await ask('list_tests', { q: 'newsletter' });
  const [, id] = /(test_\w+) .* \d+\/100 \(F\)/.exec(listed) ?? [];
  assert.ok(id, listed);
  const result = await ask('get_test', { id });
  assert.match(result, /SPF fail, DKIM none, DMARC fail/);
  const [, value] = /FAIL spf \(.*\n[\s\S]*?Record: TXT shop\.example\n(.*)\n/.exec(result) ?? [];
  assert.equal(value, FIXED_SPF);
  assert.match(await ask('explain_check', { check: 'spf' }), /Gmail: Mail passes SPF, or DKIM/);
  assert.match(
    await ask('get_domain', { domain: 'shop.example' }),
    /^shop\.example .*: (fail|warn)\./,
  );
  assert.match(await ask('check_domain', { domain: 'shop.example' }), /deliverability-verify=/);
  // The user publishes the record.
  zone['shop.example'] = { ...zone['shop.example'], TXT: [value!, 'other=kept'] };
  const after = await ask('reanalyze_test', { id });
  assert.match(after, /SPF pass, DKIM none, DMARC pass/);
  assert.doesNotMatch(after, /FAIL spf/);
  assert.ok(calls.length <= 8);
  return calls;
}
