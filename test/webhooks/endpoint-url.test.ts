/** The URLs that an endpoint may have, and the error message for each rejected one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService } from '../helpers/app.ts';
import { ENDPOINTS, paramErrorsOf, statusAndCodeOf } from './webhook-service.ts';

/** The start of the message. */
const REFUSED: [urls: string[], message: string][] = [
  [
    [
      '',
      'example.com/hooks',
      'http://example.com/hooks',
      'ftp://example.com',
      ' https://example.com',
      'https:example.com',
    ],
    'must start with https://',
  ],
  [
    [
      'https://example.com/a b',
      'https://example.com/\n',
      'https://exa\tmple.com',
      'https://example.com\\@evil.example',
      'https://example.com/\u0000',
      'https://example.com/\ud800',
      'https://example.com/\u202egnp.exe',
      'https://example.com/hooks\u200b',
      'https://exam\u00adple.com/',
      'https://example.com/\u0085',
    ],
    'must not contain spaces',
  ],
  [
    [
      'https://',
      'https:///',
      'https:///example.com/',
      'https:////example.com/',
      'https://?example.com',
      'https://exa<mple.com',
      'https://[::1',
      'https://a:99999',
    ],
    'must be a valid URL',
  ],
  [
    [
      'https://me@example.com',
      'https://me:pass@example.com',
      'https://:pass@example.com',
      'https://@example.com/',
      'https://:@example.com:8443/',
      'https://@',
    ],
    'must not contain a user name',
  ],
  [['https://example.com/#part', 'https://example.com/#'], 'must not contain a fragment'],
  [
    [
      'https://example.com:22',
      'https://example.com:0',
      'https://example.com:6667',
      'https://example.com:993',
    ],
    'must use port 443',
  ],
  [
    ['https://localhost', 'https://LOCALHOST.:8443/', 'https://a.localhost/'],
    'must not point to localhost',
  ],
  [
    ['https://a..example.com', 'https://-a.example.com', `https://${'a'.repeat(64)}.example`],
    'must have a valid host name',
  ],
  [
    [
      'https://127.0.0.1',
      'https://127.1/',
      'https://0x7f.1',
      'https://2130706433',
      'https://①②⑦.0.0.1',
      'https://10.0.0.1:8443',
      'https://192.168.1.1',
      'https://169.254.169.254/latest',
      'https://100.64.0.1',
      'https://0.0.0.0',
      'https://[::1]',
      'https://[::ffff:127.0.0.1]',
      'https://[64:ff9b::7f00:1]',
      'https://[fd00::1]',
      'https://[fe80::1]',
    ],
    'must not point to',
  ],
  [['https://receiver/hooks', 'https://receiver.:8443'], 'must have a full host name'],
];

const LONGEST = `https://example.com/${'a'.repeat(2048 - 20)}`;

/** The given URL, and the one that is called and shown. */
const TAKEN: [given: string, shown: string][] = [
  ['https://example.com', 'https://example.com/'],
  ['HTTPS://Example.com./hooks?key=a%20b&x=', 'https://example.com./hooks?key=a%20b&x='],
  ['https://bücher.example/grüße', 'https://xn--bcher-kva.example/gr%C3%BC%C3%9Fe'],
  ['https://hooks.example.com:8443/a/b', 'https://hooks.example.com:8443/a/b'],
  ['https://example.com:443/a/../b', 'https://example.com/b'],
  ['https://example.com:80/', 'https://example.com:80/'],
  ['https://example.com/@me?to=a@b.example', 'https://example.com/@me?to=a@b.example'],
  ['https://1.1.1.1/hooks', 'https://1.1.1.1/hooks'],
  ['https://16843009/', 'https://1.1.1.1/'],
  ['https://１.１.１.１/', 'https://1.1.1.1/'],
  ['https://[2606:4700::1111]:8443/', 'https://[2606:4700::1111]:8443/'],
  [LONGEST, LONGEST],
];

test('Webhook endpoints normalize valid URLs and reject others with 422 and the reason', async (t) => {
  const { call } = await startTestService(t);
  const { body: made } = await call<{ id: string }>('POST', ENDPOINTS, {
    json: { url: TAKEN[0]![0], events: ['*'] },
  });
  const patch = (url: unknown) => call('PATCH', `${ENDPOINTS}/${made.id}`, { json: { url } });
  assert.equal((await call('GET', `${ENDPOINTS}/${made.id}`)).body.url, TAKEN[0]![1]);
  for (const [given, shown] of TAKEN) {
    const { status, body, text } = await patch(given);
    assert.deepEqual([status, body.url], [200, shown], text);
  }
  for (const [urls, message] of REFUSED)
    for (const url of urls) {
      const answers = [
        await call('POST', ENDPOINTS, { json: { url, events: ['*'] } }),
        await patch(url),
      ];
      for (const answer of answers) {
        assert.deepEqual(statusAndCodeOf(answer), [422, 'validation_failed'], url);
        const [fault, ...others] = paramErrorsOf(answer);
        assert.ok(fault!.startsWith(`url ${message}`) && others.length === 0, `${url}: ${fault}`);
      }
    }
  for (const url of [null, 7, ['https://example.com']])
    assert.deepEqual(statusAndCodeOf(await patch(url)), [422, 'validation_failed']);
  for (const url of [`${LONGEST}a`, `https://example.com/${'ü'.repeat(400)}`])
    assert.match(paramErrorsOf(await patch(url))[0]!, /^url must have at most 2048 characters/);
  const { body } = await call('GET', `${ENDPOINTS}/${made.id}`);
  assert.equal(body.url, LONGEST);
});

test('DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS permits only the listed private networks', async (t) => {
  const { call } = await startTestService(t, {
    env: { DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: '10.1.0.0/16, 127.0.0.1/32, fd00::/8' },
  });
  const create = async (url: string) =>
    (await call('POST', ENDPOINTS, { json: { url, events: ['*'] } })).status;
  for (const url of [
    'https://10.1.2.3/hooks',
    'https://127.0.0.1:8443',
    'https://[fd00::5]:9000',
    'https://receiver/hooks',
    'http://10.1.2.3',
    'http://[fd00::5]:9000',
    'http://gotify.lan/message',
  ])
    assert.equal(await create(url), 201, url);
  for (const url of [
    'https://10.2.0.1',
    'https://127.0.0.2',
    'https://169.254.169.254',
    'https://[fd00:ec2::254]',
    'https://[::ffff:10.1.2.3]',
    'https://localhost:8443',
    'http://10.2.0.1',
    'http://1.1.1.1',
    'http://169.254.169.254',
    'http://localhost:8080',
  ])
    assert.equal(await create(url), 422, url);
});
