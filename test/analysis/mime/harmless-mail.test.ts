/** Harmless mail of many kinds: neither the files nor the MIME structure are accused. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { attachments } from '../../../src/analysis/checks/attachments.ts';
import { encoding } from '../../../src/analysis/checks/encoding.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { zip } from '../../helpers/archives.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import * as newsletters from '../../helpers/newsletters.ts';

const base64 = (bytes: Buffer | string): string =>
  Buffer.from(bytes).toString('base64').replace(/.{76}/g, '$&\n');
const part = (header: string, body: string) => `--=_b\n${header}\n\n${body}\n`;
const file = (type: string, name: string, bytes: Buffer | string, more = '') =>
  part(
    `Content-Type: ${type}; name="${name}"\nContent-Disposition: attachment; filename="${name}"\n${more}Content-Transfer-Encoding: base64`,
    base64(bytes),
  );
const TEXT = part('Content-Type: text/plain; charset=utf-8', 'Hello,\n\nsee the file.');
const HTML = part('Content-Type: text/html; charset=utf-8', '<p>Hello</p><img src="cid:a@b">');
const multipart = (parts: string, type = 'multipart/mixed') =>
  goodMessage({ 'Content-Type': `${type}; boundary="=_b"` }, `${parts}--=_b--\n`);

/** Bytes without a pattern, the same in each run. */
function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    bytes[i] = state >> 16;
  }
  return bytes;
}
const picture = (head: string, seed: number) =>
  Buffer.concat([Buffer.from(head, 'hex'), noise(40_000, seed)]);
const PNG = picture('89504e470d0a1a0a', 1);
const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(60_000, 2)]);
const DOCX = zip({ name: '[Content_Types].xml' }, { name: 'word/document.xml', content: '<w/>' });
const SIGNATURE = Buffer.concat([Buffer.from('3082', 'hex'), noise(2000, 3)]);
const forwarded = (body: string) =>
  multipart(TEXT + part('Content-Type: message/rfc822\nContent-Disposition: attachment', body));
const alternative = `--=_b\nContent-Type: multipart/alternative; boundary="=_c"\n\n--=_c\nContent-Type: text/plain; charset=utf-8\n\nHello\n--=_c\nContent-Type: text/html; charset=utf-8\n\n<p>Hello</p>\n--=_c--\n`;
const quoted = (text: string) =>
  goodMessage({ 'Content-Transfer-Encoding': 'quoted-printable' }, text);

const MAIL: Record<string, string> = {
  'a plain text': goodMessage(),
  'a text in base64': goodMessage(
    { 'Content-Transfer-Encoding': 'base64' },
    `${base64('Grüße aus Köln. '.repeat(40))}\n`,
  ),
  'a text in quoted-printable': quoted(
    'Gr=C3=BC=C3=9Fe aus K=C3=B6ln=2E A long line that =\ncontinues.\n',
  ),
  'an 8-bit text': goodMessage({ 'Content-Transfer-Encoding': '8bit' }, 'Grüße\n'),
  'a text that talks about programs': goodMessage({}, 'Run setup.exe, then a.js and files.zip.\n'),
  'a text with words that decode to magic numbers': goodMessage(
    {},
    'TVs on sale\nTVrooms\nUEsDB\nMZ stands for it\nRarely\nPK is here\n',
  ),
  'a text that begins a line with begin': goodMessage(
    {},
    'Let us\nbegin 2027 with joy.\nbegin with it\n',
  ),
  'a signature separator and dashes': goodMessage({}, 'Hello\n-- \nAnna\n--\n---- cut here ----\n'),
  'a quoted mail': goodMessage({}, '> From: a@example.com\n> Subject: x\n>\n> Hello\n'),
  'a mail forwarded in the text': goodMessage(
    {},
    '-------- Forwarded --------\nFrom: A <a@example.com>\nDate: today\nSubject: Hi\n\nHello\n',
  ),
  'source code': goodMessage({}, '#include <stdio.h>\n# a comment\nname="setup"; filename = "x"\n'),
  'a base64 key in a text': goodMessage(
    {},
    `-----BEGIN CERTIFICATE-----\n${base64(SIGNATURE)}\n-----END CERTIFICATE-----\n`,
  ),
  'text and HTML': multipart(TEXT + HTML, 'multipart/alternative'),
  'a picture': multipart(TEXT + file('image/png', 'photo.png', PNG)),
  'a JPEG picture': multipart(TEXT + file('image/jpeg', 'IMG 0001.JPG', picture('ffd8ffe0', 4))),
  'a GIF picture': multipart(TEXT + file('image/gif', 'a.gif', picture('474946383961', 5))),
  'an inline picture': multipart(
    HTML +
      part(
        'Content-Type: image/png\nContent-ID: <a@b>\nContent-Disposition: inline\nContent-Transfer-Encoding: base64',
        base64(PNG),
      ),
    'multipart/related',
  ),
  'a picture in a data: URL': multipart(
    part(
      'Content-Type: text/html; charset=utf-8',
      `<img alt="x" src="data:image/png;base64,${PNG.subarray(0, 300).toString('base64')}">`,
    ),
  ),
  'a PDF': multipart(TEXT + file('application/pdf', 'invoice 2026-11.pdf', PDF)),
  'a PDF without a name': multipart(
    TEXT + part('Content-Type: application/pdf\nContent-Transfer-Encoding: base64', base64(PDF)),
  ),
  'a document': multipart(
    TEXT +
      file(
        'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
        'letter.docx',
        DOCX,
      ),
  ),
  'an archive': multipart(
    TEXT + file('application/zip', 'texts.zip', zip({ name: 'a.txt' }, { name: 'b.pdf' })),
  ),
  'an archive in an archive': multipart(
    TEXT + file('application/zip', 'all.zip', zip({ name: 'texts.zip', content: 'PK' })),
  ),
  'a DMARC report': multipart(
    TEXT +
      file(
        'application/gzip',
        'example.com!example.net!1!2.xml.gz',
        Buffer.concat([Buffer.from('1f8b0800', 'hex'), noise(900, 6)]),
      ),
  ),
  'a calendar': multipart(
    TEXT +
      part(
        'Content-Type: text/calendar; charset=utf-8; method=REQUEST',
        'BEGIN:VCALENDAR\nEND:VCALENDAR',
      ),
  ),
  'a table': multipart(TEXT + file('text/csv', 'a.csv', 'a;b\n1;2\n')),
  'a contact': multipart(TEXT + file('text/vcard', 'anna.vcf', 'BEGIN:VCARD\nEND:VCARD\n')),
  'a name in UTF-8 (RFC 2231)': multipart(
    TEXT +
      part(
        "Content-Type: application/pdf\nContent-Disposition: attachment;\n filename*=utf-8''R%C3%A9sum%C3%A9.pdf\nContent-Transfer-Encoding: base64",
        base64(PDF),
      ),
  ),
  'a long name in pieces (RFC 2231)': multipart(
    TEXT +
      part(
        'Content-Type: application/pdf\nContent-Disposition: attachment;\n filename*0="a very long name of a report ";\n filename*1="for the year 2026.pdf"\nContent-Transfer-Encoding: base64',
        base64(PDF),
      ),
  ),
  'a name as an encoded word': multipart(
    TEXT +
      part(
        'Content-Type: application/pdf; name="=?utf-8?Q?R=C3=A9sum=C3=A9.pdf?="\nContent-Disposition: attachment; filename="=?utf-8?Q?R=C3=A9sum=C3=A9.pdf?="\nContent-Transfer-Encoding: base64',
        base64(PDF),
      ),
  ),
  'a name with dots': multipart(TEXT + file('application/pdf', 'Node.js 2.0 (v1.2).pdf', PDF)),
  'a signed mail (S/MIME)': goodMessage(
    {
      'Content-Type':
        'multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256; boundary="=_b"',
    },
    `${TEXT}${file('application/pkcs7-signature', 'smime.p7s', SIGNATURE)}--=_b--\n`,
  ),
  'a signed mail (OpenPGP)': goodMessage(
    {
      'Content-Type':
        'multipart/signed; protocol="application/pgp-signature"; micalg=pgp-sha512; boundary="=_b"',
    },
    `${TEXT}${part('Content-Type: application/pgp-signature; name="signature.asc"', `-----BEGIN PGP SIGNATURE-----\n\n${base64(SIGNATURE)}\n-----END PGP SIGNATURE-----`)}--=_b--\n`,
  ),
  'an encrypted mail (S/MIME)': goodMessage(
    {
      'Content-Type': 'application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"',
      'Content-Transfer-Encoding': 'base64',
    },
    base64(SIGNATURE),
  ),
  'an encrypted mail (OpenPGP)': goodMessage(
    { 'Content-Type': 'multipart/encrypted; protocol="application/pgp-encrypted"; boundary="=_b"' },
    `${part('Content-Type: application/pgp-encrypted', 'Version: 1')}${part('Content-Type: application/octet-stream; name="encrypted.asc"', `-----BEGIN PGP MESSAGE-----\n\n${base64(SIGNATURE)}\n-----END PGP MESSAGE-----`)}--=_b--\n`,
  ),
  'inline PGP': goodMessage(
    {},
    `-----BEGIN PGP MESSAGE-----\n\n${base64(SIGNATURE)}\n-----END PGP MESSAGE-----\n`,
  ),
  'a forwarded text': forwarded(goodMessage()),
  'a forwarded mail with a PDF': forwarded(
    multipart(TEXT + file('application/pdf', 'a.pdf', PDF)).replaceAll('=_b', 'inner'),
  ),
  'a forwarded mail with an archive': forwarded(
    multipart(TEXT + file('application/zip', 'a.zip', zip({ name: 'a.txt' }))).replaceAll(
      '=_b',
      'inner',
    ),
  ),
  'a forwarded mail named after its subject': multipart(
    TEXT +
      part(
        'Content-Type: message/rfc822; name="News from example.com"\nContent-Disposition: attachment; filename="News from example.com"',
        goodMessage(),
      ),
  ),
  'a digest': multipart(part('', goodMessage()) + part('', goodMessage()), 'multipart/digest'),
  'a bounce': multipart(
    TEXT +
      part('Content-Type: message/delivery-status', 'Reporting-MTA: dns; a.example\n') +
      part('Content-Type: text/rfc822-headers', 'From: a@example.com\nContent-Type: text/plain'),
    'multipart/report; report-type=delivery-status',
  ),
  'text and HTML and a file': multipart(alternative + file('application/pdf', 'a.pdf', PDF)),
  'a preamble and an epilogue': goodMessage(
    { 'Content-Type': 'multipart/mixed; boundary="=_b"' },
    `This is a multi-part message in MIME format.\n${TEXT}--=_b--\n\nThe end.\n`,
  ),
  'a type with a comment': goodMessage({ 'MIME-Version': '1.0 (a program)' }),
};

for (const [name, html] of Object.entries(newsletters).filter(
  (entry): entry is [string, string] => typeof entry[1] === 'string',
))
  MAIL[`the newsletter ${name}`] = multipart(
    TEXT +
      part(
        'Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64',
        base64(html),
      ),
    'multipart/alternative',
  );

test('corpus of harmless mail has at least 40 messages', () =>
  assert.ok(Object.keys(MAIL).length >= 40));

for (const [name, message] of Object.entries(MAIL))
  test(`attachments and encoding checks pass ${name}`, async () => {
    const [files, structure] = [
      await runCheck(attachments, { message }),
      await runCheck(encoding, { message }),
    ];
    assert.equal(files.status, 'pass', files.title);
    assert.equal(structure.status, 'pass', `${structure.title} ${structure.detail}`);
  });

const CORPUS = new URL('../../../../shared/vectors/mime/', import.meta.url);
/** Broken on purpose: the other folders are examples of standards and of real old mail. */
const BROKEN = /^malformed\//;

describe('MIME corpus without malformed messages', {
  skip: !existsSync(CORPUS) && 'shared/vectors/mime does not exist',
}, () => {
  const names = existsSync(CORPUS)
    ? readdirSync(CORPUS, { recursive: true, encoding: 'utf8' }).filter(
        (name) => name.endsWith('.eml') && !BROKEN.test(name),
      )
    : [];
  for (const name of names)
    test(`attachments check reports no hidden file in ${name}`, async () => {
      const { title } = await runCheck(attachments, {
        message: readFileSync(new URL(name, CORPUS)),
      });
      assert.doesNotMatch(title, /some email clients/);
    });
});
