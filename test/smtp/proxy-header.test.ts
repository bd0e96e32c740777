import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseProxyHeader } from '../../src/smtp/proxy-header.ts';
import { binaryHeader } from './proxy-headers.ts';

const read = (text: string) => parseProxyHeader(Buffer.from(text, 'latin1'));

describe('the PROXY header, version 1', () => {
  const right: [string, string | null, number | null][] = [
    ['PROXY TCP4 192.0.2.1 198.51.100.1 56324 25\r\n', '192.0.2.1', 56324],
    ['PROXY TCP6 2001:db8::1 2001:db8::2 56324 25\r\n', '2001:db8::1', 56324],
    ['PROXY UNKNOWN\r\n', null, null],
    ['PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n', null, null],
  ];
  for (const [header, address, port] of right) {
    it(`reads ${JSON.stringify(header)}, and needs it whole`, () => {
      assert.deepEqual(read(`${header}EHLO x\r\n`), { length: header.length, address, port });
      for (let end = 0; end < header.length; end++)
        assert.equal(read(header.slice(0, end)), 'incomplete');
    });
  }

  const wrong = [
    'EHLO client.example.com\r\n',
    'PROXZ',
    'PROXY\r\n',
    'PROXY TCP4\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.1 56324\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.1 56324 25 x\r\n',
    'PROXY TCP4 2001:db8::1 2001:db8::2 56324 25\r\n',
    'PROXY TCP6 192.0.2.1 198.51.100.1 56324 25\r\n',
    'PROXY TCP4 192.0.2.256 198.51.100.1 56324 25\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.1 65536 25\r\n',
    'PROXY TCP4 mail.example.com 198.51.100.1 1 25\r\n',
    'PROXY UDP4 192.0.2.1 198.51.100.1 56324 25\r\n',
    `PROXY UNKNOWN ${'x'.repeat(100)}\r\n`,
  ];
  for (const header of wrong)
    it(`refuses ${JSON.stringify(header)}`, () => assert.equal(read(header), 'invalid'));
});

describe('the PROXY header, version 2', () => {
  const v4 = [192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 0x04, 0, 25];
  const v6 = [
    ...Buffer.from('20010db8000000000000000000000001', 'hex'),
    ...Array(16).fill(0),
    1,
    2,
    0,
    25,
  ];
  const right: [string, Buffer, string | null, number | null][] = [
    ['TCP over IPv4', binaryHeader(0x21, 0x11, v4), '192.0.2.1', 56324],
    ['TCP over IPv6', binaryHeader(0x21, 0x21, v6), '2001:db8::1', 258],
    ['further fields', binaryHeader(0x21, 0x11, [...v4, 4, 0, 1, 0]), '192.0.2.1', 56324],
    ['LOCAL', binaryHeader(0x20, 0, []), null, null],
    ['LOCAL with an address', binaryHeader(0x20, 0x11, v4), null, null],
    ['a socket of UNIX', binaryHeader(0x21, 0x31, Array(216).fill(1)), null, null],
  ];
  for (const [name, header, address, port] of right) {
    it(`reads ${name}, and needs it whole`, () => {
      const followed = Buffer.concat([header, Buffer.from('EHLO')]);
      assert.deepEqual(parseProxyHeader(followed), { length: header.length, address, port });
      for (let end = 0; end < header.length; end++)
        assert.equal(parseProxyHeader(header.subarray(0, end)), 'incomplete');
    });
  }

  it('refuses another version, another command and too short an address', () => {
    assert.equal(parseProxyHeader(binaryHeader(0x11, 0x11, v4)), 'invalid');
    assert.equal(parseProxyHeader(binaryHeader(0x22, 0x11, v4)), 'invalid');
    assert.equal(parseProxyHeader(binaryHeader(0x21, 0x11, v4.slice(0, 11))), 'invalid');
    assert.equal(parseProxyHeader(binaryHeader(0x21, 0x21, v4)), 'invalid');
  });
});
