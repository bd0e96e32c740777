/** What others changed after the author wrote the message: rewritten links, and the Reply-To of a list. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkText } from '../../../src/analysis/checks/link-text.ts';
import { replyTo } from '../../../src/analysis/checks/reply-to.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const GATEWAYS: [product: string, href: string][] = [
  [
    'Safe Links of Microsoft Defender',
    'https://eur02.safelinks.protection.outlook.com/?url=https%3A%2F%2Fwww.laden.example&data=1',
  ],
  ['URL Defense of Proofpoint', 'https://urldefense.com/v3/__https://www.laden.example__;!!x'],
  ['URL Protection of Mimecast', 'https://protect-de.mimecast.com/s/AbCd?domain=laden.example'],
  [
    'Link Protection of Barracuda',
    'https://linkprotect.cudasvc.com/url?a=https%3a%2f%2fwww.laden.example',
  ],
];

for (const [product, href] of GATEWAYS)
  test(`link_text check names ${product}, which rewrote the link`, async () => {
    const message = goodMessage(
      { 'Content-Type': 'text/html; charset=utf-8' },
      `<p>Hallo, <a href="${href.replaceAll('&', '&amp;')}">https://www.laden.example</a></p>\n`,
    );
    const { status, detail, fix } = await runCheck(linkText, { message });
    assert.equal(status, 'warn');
    assert.ok(detail.includes(`${product} replaced the link`), detail);
    assert.match(fix?.text ?? '', /^Exempt outgoing mail from link rewriting/);
    assert.doesNotMatch(fix?.text ?? '', /click tracking/);
  });

test('link_text check still fails for a link to another domain', async () => {
  const message = goodMessage(
    { 'Content-Type': 'text/html; charset=utf-8' },
    '<p>Hallo, <a href="https://klick.example/1">https://www.laden.example</a></p>\n',
  );
  const { status, fix } = await runCheck(linkText, { message });
  assert.equal(status, 'fail');
  assert.match(fix?.text ?? '', /click tracking/);
});

const LISTS: [name: string, fields: Record<string, string>][] = [
  ['Mailman', { 'X-Mailman-Version': '2.1.39', 'List-Post': '<mailto:dev@lists.verein.example>' }],
  [
    'Google Groups',
    { 'Mailing-list': 'list team@groups.example; contact team+owners@groups.example' },
  ],
  [
    'a list with List-Post',
    {
      'List-Post': '<mailto:liste@listen.example>',
      'List-Id': '<liste.listen.example>',
      To: 'liste@listen.example',
    },
  ],
];

for (const [name, fields] of LISTS)
  test(`reply_to check gives no advice about the Reply-To of a discussion list: ${name}`, async () => {
    const message = goodMessage({ ...fields, 'Reply-To': 'liste@listen.example' });
    const { status, fix } = await runCheck(replyTo, { message });
    assert.equal(status, 'pass');
    assert.equal(fix, undefined);
  });
