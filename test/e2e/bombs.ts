/** Messages that try to stall, exhaust or confuse the parser. */

import { goodMessage } from '../helpers/good-message.ts';

const crlf = (text: string): Buffer => Buffer.from(text.replaceAll('\n', '\r\n'));
const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
/** A header field folded into lines that every server accepts. */
const folded = (item: string, times: number, perLine = 20): string =>
  Array.from({ length: Math.ceil(times / perLine) }, () => item.repeat(perLine)).join('\n ');

function multipart(parts: string, more: Record<string, string> = {}): string {
  return goodMessage({ 'Content-Type': 'multipart/mixed; boundary=b', ...more }, parts);
}

function nested(depth: number): string {
  let body = 'Content-Type: text/plain\n\nThe innermost.\n';
  for (let level = depth; level > 0; level--)
    body = `Content-Type: multipart/mixed; boundary=b${level}\n\n--b${level}\n${body}\n--b${level}--\n`;
  return body;
}

function base64Part(bytes: number): string {
  const line = `${Buffer.alloc(57, 'attachment').toString('base64')}\n`;
  return `--b\nContent-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n${line.repeat(Math.ceil(bytes / line.length))}--b--\n`;
}

/** By name; functions, because some messages are large. */
export const BOMBS: Record<string, () => Buffer> = {
  '1 MB of nested div': () => crlf(goodMessage(HTML, `${'<div>\n'.repeat(170_000)}`)),
  '1 MB of tags that never end': () => crlf(goodMessage(HTML, '<a href="x\n'.repeat(90_000))),
  '100,000 attributes': () => crlf(goodMessage(HTML, `<p ${'a=1 b c="d"\n'.repeat(34_000)}>Text`)),
  '100,000 styled elements': () =>
    crlf(goodMessage(HTML, '<p style="color:#fff;font-size:0">x\n'.repeat(100_000))),
  '50,000 style rules': () =>
    crlf(goodMessage(HTML, `<style>${'.a .b{color:red}\n'.repeat(50_000)}</style><p>Text`)),
  '50,000 links': () =>
    crlf(goodMessage(HTML, '<a href="https://example.com/a">example.net</a>\n'.repeat(50_000))),
  '1 MB of braces': () => crlf(goodMessage(HTML, '{{%*|<%=\n'.repeat(110_000))),
  '450 kB of To': () => crlf(goodMessage({ To: folded('a@example.com, ', 30_000) })),
  '450 kB of To in one line': () => crlf(goodMessage({ To: 'a@example.com, '.repeat(30_000) })),
  '450 kB of brackets in From': () => crlf(goodMessage({ From: folded('(<"', 150_000, 200) })),
  '900 kB of blanks in Subject': () => crlf(goodMessage({ Subject: `a${' '.repeat(900_000)}b` })),
  '20,000 encoded words': () => crlf(goodMessage({ Subject: folded('=?utf-8?B?w6k=?= ', 20_000) })),
  '100,000 header fields': () => crlf(`${'X-Field: value\n'.repeat(100_000)}${goodMessage()}`),
  '1,000 signatures': () =>
    crlf(
      `${'DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=s1; h=from; bh=YQ==; b=YQ==\n'.repeat(1000)}${goodMessage()}`,
    ),
  '2,000 Received fields': () =>
    crlf(
      `${'Received: from a.example (a.example [192.0.2.9]) by b.example; Sat, 21 Nov 2026 09:59:58 +0000\n'.repeat(2000)}${goodMessage()}`,
    ),
  '200,000 parameters': () =>
    crlf(goodMessage({ 'Content-Type': `text/plain${folded('; a*0=b', 100_000)}` })),
  '50,000 parts': () => crlf(multipart(`${'--b\n\nx\n'.repeat(50_000)}--b--\n`)),
  'parts nested 500 deep': () =>
    crlf(`${goodMessage({ 'Content-Type': null }).split('\n\n')[0]}\n${nested(500)}`),
  '20 MB of base64': () => crlf(multipart(base64Part(20_000_000))),
  '20 MB in lines of one octet': () => crlf(goodMessage({}, 'x\n'.repeat(6_600_000))),
  '20 MB of HTML text': () => crlf(goodMessage(HTML, `<p>${'word word word\n'.repeat(1_250_000)}`)),
};
