/** Which texts are domain names, and why others are not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDomainName } from '../../../src/analysis/domain/read-domain-name.ts';

test('readDomainName returns lower-case A-labels', () => {
  for (const [text, name] of [
    ['example.com', 'example.com'],
    [' News.Example.COM. ', 'news.example.com'],
    ['a.b.example.co.uk', 'a.b.example.co.uk'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['例え.テスト.example', 'xn--r8jz45g.xn--zckzah.example'],
  ])
    assert.deepEqual(readDomainName(text!), { name });
});

test('readDomainName rejects invalid names with the reason', () => {
  const cases: [string, RegExp][] = [
    ['', /is empty/],
    ['com', /single label/],
    ['localhost', /single label/],
    ['co.uk', /public suffix/],
    ['ann@example.com', /email address/],
    ['https://example.com/', /has a scheme/],
    ['mailto:ann@example.com', /has a scheme/],
    ['example.com:25', /has a port/],
    ['example.com:', /has a port/],
    ['example.com/a', /has a path/],
    ['192.0.2.1', /IP address/],
    ['[2001:db8::1]', /IP address/],
    ['2001:db8::1', /IP address/],
    ['1.2.3', /not a domain name/],
    ['example..com', /not a domain name/],
    ['-a.example.com', /not a domain name/],
    ['exa mple.com', /not a domain name/],
    [`${'a'.repeat(64)}.example.com`, /not a domain name/],
    [`${'a.'.repeat(130)}example.com`, /not a domain name/],
    ['_dmarc.example.com', /name of a DNS record/],
    ['\u202eexample.com', /not a domain name/],
  ];
  for (const [text, reason] of cases) {
    const { name, fault } = readDomainName(text);
    assert.equal(name, null, text);
    assert.match(fault ?? '', reason, text);
  }
});
