/** The checks `link_text`, `link_host`, `link_scheme` and `link_shorteners`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check, CheckStatus } from '../../../src/analysis/check.ts';
import { linkHost } from '../../../src/analysis/checks/link-host.ts';
import { linkScheme } from '../../../src/analysis/checks/link-scheme.ts';
import { linkShorteners } from '../../../src/analysis/checks/link-shorteners.ts';
import { linkText } from '../../../src/analysis/checks/link-text.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };

const html = (body: string, changes = {}) => goodMessage({ ...HTML, ...changes }, `${body}\n`);
const link = (href: string, text = 'Our shop') => html(`<p><a href="${href}">${text}</a></p>`);
const plain = (text: string) => goodMessage({}, `${text}\n`);

const CHECKS: [Check, [name: string, message: string, status: CheckStatus, expected?: RegExp][]][] =
  [
    [
      linkText,
      [
        ['no HTML', plain('https://example.net/'), 'skipped'],
        ['no web links', link('mailto:a@example.com', 'example.net'), 'skipped'],
        ['words as link text', link('https://click.example.net/x', 'Our new shop'), 'pass'],
        ['the same domain', link('https://example.com/a?b', 'https://example.com/a'), 'pass'],
        [
          'a subdomain of the shown domain',
          link('https://click.example.com/x', 'www.example.com'),
          'pass',
        ],
        [
          'the parent of the shown domain',
          link('https://example.com/', 'shop.example.com'),
          'pass',
        ],
        [
          'another domain',
          link('https://example.net/', 'https://example.org/a'),
          'fail',
          /example\.org/,
        ],
        ['www. without scheme', link('https://example.net/', 'www.example.org'), 'fail'],
        ['only a domain as text', link('https://example.net/', 'example.org'), 'fail'],
        ['the domain in brackets', link('https://example.net/', '«example.org»'), 'fail'],
        [
          'a domain followed by a path',
          link('https://example.net/', 'example.org/offers?x=1'),
          'fail',
        ],
        ['capitals', link('https://example.net/', 'HTTPS://EXAMPLE.ORG'), 'fail'],
        [
          'a domain split by invisible characters',
          link('https://example.net/', 'exam&#8203;ple.o&shy;rg'),
          'fail',
        ],
        [
          'an address among words',
          link('https://example.net/', 'See https://example.org now'),
          'fail',
        ],
        ['a domain among words', link('https://example.net/', 'Shop at example.org now'), 'warn'],
        ['a bare URL as target', link('https://192.0.2.1/', 'example.org'), 'fail', /192\.0\.2\.1/],
        ['a look-alike domain', link('https://example.org/', 'ехample.org'), 'fail'],
        [
          'an image’s alt text',
          html('<a href="https://example.net/"><img alt="example.org"></a>'),
          'fail',
        ],
        [
          'tracking link for the From domain',
          link('https://click.example.com/x', 'www.example.org'),
          'warn',
        ],
        ['a mailbox', link('https://example.net/', 'help@example.org'), 'pass'],
        ['a mailbox among words', link('https://example.net/', 'Write to me@example.org'), 'pass'],
        ['an @ in the path', link('https://example.net/', 'https://www.example.org/@me'), 'fail'],
        ['an @ in a path alone', link('https://example.net/', 'example.org/@me'), 'fail'],
        ['an @ before the host', link('https://example.net/', 'https://me@example.org/'), 'fail'],
        ['a host before an @', link('https://example.net/', 'https://example.org@x/'), 'fail'],
        ['ideographic full stops', link('https://example.net/', 'www。example．org'), 'fail'],
        ['half-width full stops', link('https://example.net/', 'example｡org'), 'fail'],
        [
          'a symbol before the domain',
          link('https://example.net/', '→https://example.org'),
          'fail',
        ],
        ...['ASP.NET', 'Socket.IO', 'main.cc', 'Foo.pm', 'logo.ai', 'libfoo.so', 'Dr.med. Schmidt']
          .concat(['GmbH & Co.KG', 'Learn ASP.NET today', 'ASP.NET/C#'])
          .map((text): [string, string, CheckStatus] => [
            `${text} is no domain`,
            link('https://example.net/', text),
            'pass',
          ]),
        ['a domain with capitals', link('https://example.net/', 'Example.org'), 'warn'],
        ['a country’s domain', link('https://example.net/', 'example.co.uk'), 'fail'],
        [
          'a domain after a thousand words',
          link('https://example.net/', `${'bücher.example.com '.repeat(90)} https://example.org`),
          'fail',
          /says example\.org/,
        ],
        ['a file', link('https://example.net/', 'report.zip'), 'pass'],
        ['a file below a path', link('https://example.net/', 'readme.md'), 'pass'],
        ['a version', link('https://example.net/', 'Version 2.4.1 of node.js, e.g. now'), 'pass'],
        ['a forgotten space', link('https://example.net/', 'Read it here.It is new'), 'pass'],
        ['a name without a known suffix', link('https://example.net/', 'package.module'), 'pass'],
        [
          'several links, the worst counts',
          html(
            '<a href="https://example.com">x</a><a href="https://click.example.com">example.org</a><a href="https://example.net">example.org</a>',
          ),
          'fail',
          /A link shows/,
        ],
      ],
    ],
    [
      linkHost,
      [
        ['no links', plain('Hello'), 'skipped'],
        ['a host name', link('https://www.example.net/'), 'pass'],
        ['a name in the text part', plain('See https://www.example.net/.'), 'pass'],
        ['an underscore', link('https://my_shop.example.net/'), 'pass'],
        ['an IP address', link('https://192.0.2.1/x'), 'fail', /the IP address 192\.0\.2\.1/],
        ['an IP address in the text part', plain('See http://192.0.2.1/x'), 'fail'],
        ['an IPv6 address', link('https://[2001:db8::1]/'), 'fail', /2001:db8::1/],
        ['an IP address in hexadecimal', link('http://0xc0000201/'), 'fail', /192\.0\.2\.1/],
        ['an IP address as one number', link('http://3221225985/'), 'fail', /192\.0\.2\.1/],
        ['an IP address in octal', link('http://0300.0.2.1/'), 'fail', /192\.0\.2\.1/],
        ['a user name', link('https://example.org@example.net/'), 'fail', /user name/],
        ['a password', link('https://www.example.org:80@example.net/'), 'fail', /user name/],
        ['Latin and Cyrillic', link('https://exаmple.com/'), 'fail', /Latin and Cyrillic/],
        [
          'mixed scripts in Punycode',
          link('https://xn--exmple-4nf.com/'),
          'fail',
          /Latin and Cyrillic/,
        ],
        ['Latin and Greek', link('https://οffice.example.com/'), 'fail', /Latin and Greek/],
        ['Cyrillic that looks Latin', link('https://сосо.com/'), 'warn', /looks like a Latin one/],
        ['Cyrillic under a Cyrillic TLD', link('https://сосо.рф/'), 'pass'],
        ['plain Cyrillic', link('https://пример.com/'), 'pass'],
        ['umlauts', link('https://bücher.example.com/'), 'pass'],
        ['Japanese in three scripts', link('https://東京タワーのa.example.com/'), 'pass'],
        ['localhost', link('http://localhost:3000/'), 'fail', /localhost/],
        ['a single label', link('http://intranet/'), 'fail', /intranet/],
        ['a name of a local network', link('http://wiki.corp.internal/'), 'fail'],
        ['no host', link('https://'), 'fail', /link has an invalid URL/],
        ['a placeholder', link('https://{{host}}/'), 'fail', /link has an invalid URL/],
        [
          'an overlong name',
          link(`https://${'ü.'.repeat(2000)}com/`),
          'fail',
          /link has an invalid URL/,
        ],
        ['an overlong URL', link(`https://example.com/${'a/'.repeat(5000)}`), 'fail', /8,192/],
        ['a space', link('https://exa mple.com/'), 'fail', /link has an invalid URL/],
      ],
    ],
    [
      linkScheme,
      [
        ['no links', plain('Hello'), 'skipped'],
        ['https', link('https://example.com/'), 'pass'],
        ['capitals and white space', link(' HTTPS://example.com/ '), 'pass'],
        [
          'mail, telephone, text message',
          html('<a href=mailto:a@example.com>a</a><a href=tel:+1>b</a><a href=sms:+1>c</a>'),
          'pass',
        ],
        ['an anchor in the message', link('#top'), 'pass'],
        ['http', link('http://example.com/'), 'warn', /not encrypted/],
        ['http in the text part', plain('http://example.com/'), 'warn'],
        ['no scheme in the text part', plain('See www.example.com.'), 'pass'],
        ['a relative address', link('/shop'), 'fail', /no scheme/],
        ['no scheme', link('www.example.com'), 'fail', /no scheme/],
        ['only the host’s slashes', link('//example.com/'), 'fail', /no scheme/],
        ['an empty address', link(''), 'fail', /empty URL/],
        ['a placeholder', link('{{url}}'), 'fail'],
        ['javascript', link('javascript:void(0)'), 'fail', /javascript:/],
        ['javascript in disguise', link('java&#10;script:alert(1)'), 'fail', /javascript:/],
        ['data', link('data:text/html,x'), 'fail', /data:/],
        ['file', link('file:///C:/a.docx'), 'fail', /file:/],
        ['vbscript', link('VBScript:x'), 'fail', /vbscript:/],
        ['a custom scheme', link('myapp://open'), 'warn', /myapp:.*an app that supports it/],
        ['a calendar', link('webcal://example.com/a.ics'), 'warn', /webcal:.*a calendar app/],
        ['a call', link('facetime:a@example.com'), 'warn', /works only for some recipients/],
        ['a location', link('geo:1,2'), 'warn', /geo:.*a map app/],
        [
          'an app beside http',
          html('<a href=http://example.com>a</a><a href=whatsapp://send>b</a>'),
          'warn',
          /^A link uses http, which is not encrypted/,
        ],
        [
          'http beside a worse one',
          html('<a href=http://example.com>a</a><a href=file:///x>b</a>'),
          'fail',
          /^A link cannot be opened/,
        ],
      ],
    ],
    [
      linkShorteners,
      [
        ['no links', plain('Hello'), 'skipped'],
        ['none', link('https://example.com/bit.ly'), 'pass'],
        ['one', link('https://bit.ly/abc'), 'fail', /bit\.ly/],
        ['by www and http', link('http://www.tinyurl.com/abc'), 'fail', /tinyurl\.com/],
        ['in the text part', plain('Look: https://t.co/abc.'), 'fail', /t\.co/],
        ['a name that ends like one', link('https://rabbit.ly/abc'), 'pass'],
        ['a short domain of one site', link('https://youtu.be/abc'), 'pass'],
        ['its own mail', html('<a href="https://bit.ly/a">x</a>', { From: 'news@bit.ly' }), 'pass'],
        [
          'several',
          html('<a href="https://bit.ly/a">x</a><a href="https://ow.ly/a">y</a>'),
          'fail',
          /2 links use.*bit\.ly, ow\.ly/s,
        ],
      ],
    ],
  ];

for (const [check, cases] of CHECKS)
  for (const [name, message, status, expected] of cases)
    test(`${check.id} check reports ${status}: ${name}`, async () => {
      const finding = await runCheck(check, { message, offline: true });
      assert.equal(finding.status, status, `${finding.title} ${finding.detail}`);
      if (expected) assert.match(`${finding.title} ${finding.detail}`, expected);
      if (status === 'warn' || status === 'fail') {
        assert.ok(finding.fix?.text);
        assert.ok((finding.evidence!.found as object[]).length > 0);
      }
    });

test('link_text check treats the DKIM signing domain as the sender’s own', async () => {
  const signature = 'v=1; a=rsa-sha256; d=esp.example.net; s=s; h=from; bh=eA==; b=eA==';
  const message = html('<a href="https://click.example.net/x">example.org</a>', {
    'DKIM-Signature': signature,
  });
  // Offline, the signature may be valid. An invalid one proves nothing, because anyone could have written it.
  assert.equal((await runCheck(linkText, { message, offline: true })).status, 'warn');
  assert.equal((await runCheck(linkText, { message })).status, 'fail');
});

test('Link checks report error beyond parser limits but keep earlier findings', async () => {
  const parts = (first: string) =>
    goodMessage(
      { 'Content-Type': 'multipart/mixed; boundary=x' },
      `${`--x\nContent-Type: text/html\n\n${first}\n`}${'--x\n\na\n'.repeat(1001)}--x--\n`,
    );
  for (const check of [linkText, linkHost, linkScheme, linkShorteners]) {
    const fine = { message: parts('<a href="https://example.com">x</a>'), offline: true };
    assert.equal((await runCheck(check, fine)).status, 'error', check.id);
  }
  const bad = { message: parts('<a href="http://bit.ly/a">x</a>'), offline: true };
  assert.equal((await runCheck(linkShorteners, bad)).status, 'fail');
  assert.equal((await runCheck(linkScheme, bad)).status, 'warn');
});

test('Link checks handle messages full of links quickly with short evidence', async () => {
  const words = 'www.a.com '.repeat(200);
  const many = Array.from(
    { length: 1100 },
    (_, i) => `<a href="http://bit.ly/${i}/${'x'.repeat(3000)}">${words}</a>`,
  );
  const message = html(many.join('\n'));
  for (const check of [linkText, linkHost, linkScheme, linkShorteners]) {
    const start = cpuTime();
    const finding = await runCheck(check, { message, offline: true });
    assert.ok(cpuTime() - start < 3000, check.id);
    assert.ok(JSON.stringify(finding).length < 30_000, check.id);
  }
});

test('Link checks mask secrets in URLs', async () => {
  const finding = await runCheck(linkScheme, {
    message: link('http://example.com/reset?token=9fK2mQ7xR4tZ8vB1nC5w&lang=en'),
  });
  const [found] = finding.evidence!.found as { href: string }[];
  assert.equal(found!.href, 'http://example.com/reset?token=9fK2…&lang=en');
});
