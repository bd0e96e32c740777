/** Messages that need as much memory as possible, most of them of the maximum size. */

import { BOMBS } from '../e2e/bombs.ts';
import { zip } from '../helpers/archives.ts';
import { goodMessage } from '../helpers/good-message.ts';

const MAX_BYTES = 25 * 1024 * 1024 - 4096;

const crlf = (text: string): Buffer => Buffer.from(text.replaceAll('\n', '\r\n'));

/** The text repeated until the message has the maximum size. */
function filled(fields: Record<string, string>, unit: string, end = ''): Buffer {
  const head = crlf(goodMessage(fields, ''));
  const line = crlf(unit);
  const tail = crlf(end);
  const times = Math.floor((MAX_BYTES - head.length - tail.length) / line.length);
  return Buffer.concat([head, Buffer.alloc(times * line.length, line), tail]);
}

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
const html = (unit: string, end?: string) => () => filled(HTML, unit, end);
const MIXED = { 'Content-Type': 'multipart/mixed; boundary=b' };

function part(header: string, body: string | Buffer): string {
  const encoded = Buffer.from(body).toString('base64').replace(/.{76}/g, '$&\n');
  return `--b\n${header}\nContent-Transfer-Encoding: base64\n\n${encoded}\n`;
}

/** Parts of this type and content until the message has the maximum size, but not over 1,000. */
function parts(header: string, body: string | Buffer): Buffer {
  const one = part(header, body);
  const times = Math.min(990, Math.floor(MAX_BYTES / (one.length * 1.03)));
  return crlf(goodMessage(MIXED, `${one.repeat(times)}--b--\n`));
}

/** Thousands of file names in little space. */
const manyMembers = (): Buffer =>
  zip(...Array.from({ length: 4900 }, (_, i) => ({ name: `${'folder/'.repeat(20)}${i}.txt` })));

/** By name. Each call builds the message again, so that the test process holds few of them. */
export const HOSTILE_LOAD: Record<string, () => Buffer> = {
  ...BOMBS,
  '25 MiB of nested elements': html('<div><b><i><p>\n'),
  '25 MiB of links': html('<a href="https://a.example.com/x">example.net</a>\n'),
  '25 MiB of distinct entities': html('&lt;&eacute;&#1234;&#x1F600;\n'),
  '25 MiB of styled elements': html('<p style="color:#fff;font-size:0;display:none">x\n'),
  '25 MiB of style rules': html('<style>.a .b>c+d{color:red;margin:0 1px}</style>\n'),
  '25 MiB of images': html('<img src="cid:a" alt="x" width=1 height=1>\n'),
  '25 MiB of attributes': html(' a=1 b="c" onclick=x\n', '>'),
  '25 MiB of one word characters': html('\u00e9\u4e2d \n'),
  '25 MiB of merge tags': html('{{name}} *|FNAME|* %FIRST% [[x]]\n'),
  '25 MiB of addresses as text': () =>
    filled({}, 'https://a.example.com/path?x=1 www.example.net mail@example.org\n'),
  '25 MiB of empty lines': () => filled({}, '\n'),
  '25 MiB of quoted-printable': () =>
    filled({ 'Content-Transfer-Encoding': 'quoted-printable' }, `${'=41'.repeat(25)}=\n`),
  '25 MiB of UTF-16': () => filled({ 'Content-Type': 'text/plain; charset=utf-16le' }, 'a\n'),
  '25 MiB of delimiters': () => filled(MIXED, '--b\n--bb\n--a\n'),
  '25 MiB of base64 HTML': () =>
    filled(
      { ...HTML, 'Content-Transfer-Encoding': 'base64' },
      `${Buffer.from('<a href="https://example.com/1"><p>Some words for you.</p></a>\n'.slice(0, 57)).toString('base64')}\n`,
    ),
  '25 MiB of header': () =>
    Buffer.concat([Buffer.alloc(MAX_BYTES - 1024, 'X-Field: some value\r\n'), crlf(goodMessage())]),
  '25 MiB of attached messages': () =>
    filled(MIXED, '--b\nContent-Type: message/rfc822\n\nA: b\n\nMZ\n'),
  '25 MiB of programs in base64': () =>
    filled({}, `${Buffer.alloc(57, 'MZ\0\0PK\u0003\u0004').toString('base64')}\n\n`),
  '25 MiB of uuencoded files': () => filled({}, 'begin 644 a.exe\nM35J0\n`\nend\n'),
  '25 MiB of uuencoded text': () => filled({}, 'begin 644 a\n'),
  '25 MiB of base64 blocks that end at once': () =>
    filled({}, `begin-base64 644 a\n${'!'.repeat(70)}\n`),
  '25 MiB of yEnc headers': () => filled({}, '=ybegin name=a\n'),
  '1,000 HTML parts': () =>
    parts(
      'Content-Type: text/html; charset=utf-8',
      '<p>x <a href="https://example.com">y</a>\n'.repeat(400),
    ),
  '1,000 pictures': () =>
    parts('Content-Type: image/png; name=a.png\nContent-ID: <a>', Buffer.alloc(18_000, 7)),
  'archives with many files': () =>
    parts('Content-Type: application/zip; name=a.zip', manyMembers()),
};
