/** The check `attachments`: file names, contents and archives. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { attachments } from '../../../src/analysis/checks/attachments.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { compoundFile, rar4, rar5, sevenZip, windowsProgram, zip } from '../../helpers/archives.ts';
import { goodMessage } from '../../helpers/good-message.ts';

interface File {
  name?: string;
  type?: string;
  disposition?: string;
  content?: string | Buffer;
}

/** A message with a text and these files. */
function withFiles(...files: File[]): string {
  const parts = files.map(
    ({ name, type = 'application/octet-stream', disposition, content = '' }) => {
      const place = disposition ?? (name === undefined ? 'inline' : 'attachment');
      const parameter = name === undefined ? '' : `; filename*=utf-8''${encodeURIComponent(name)}`;
      const body = Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\n');
      return `--x\nContent-Type: ${type}\nContent-Disposition: ${place}${parameter}\nContent-Transfer-Encoding: base64\n\n${body}\n`;
    },
  );
  return goodMessage(
    { 'Content-Type': 'multipart/mixed; boundary=x' },
    `--x\nContent-Type: text/plain\n\nHello\n${parts.join('')}--x--\n`,
  );
}

const named = (name: string, content: string | Buffer = 'x') => withFiles({ name, content });

const cases: [string, string, CheckStatus, RegExp?][] = [
  ['no attachment', goodMessage(), 'pass', /no attachments/],
  [
    'a PDF, a picture and a calendar',
    withFiles({ name: 'a.pdf' }, { name: 'b.png', type: 'image/png' }, { type: 'text/calendar' }),
    'pass',
  ],
  ['a text whose name has several dots', named('minutes.v1.2.txt'), 'pass'],
  ['a signature', withFiles({ name: 'smime.p7s', type: 'application/pkcs7-signature' }), 'pass'],
  ['a compressed Unix archive', named('source.tar.gz'), 'pass'],
  ['an attached message', withFiles({ name: 'example.com', type: 'message/rfc822' }), 'pass'],

  [
    'winmail.dat',
    withFiles({ name: 'winmail.dat', type: 'application/ms-tnef' }),
    'warn',
    /only Outlook can open/,
  ],
  [
    'an unnamed TNEF part',
    withFiles({ type: 'application/vnd.ms-tnef' }, { name: 'Rechnung.pdf' }),
    'warn',
    /winmail\.dat/,
  ],
  ['winmail.dat of an unknown type', named('WINMAIL.DAT'), 'warn', /winmail\.dat/],
  ['a program', named('setup.exe'), 'fail', /setup\.exe is of type \.exe, which Gmail blocks/],
  ['a program in capitals', named('SETUP.EXE'), 'fail'],
  ['a script', named('run.js'), 'fail', /Gmail blocks/],
  ['a script that some providers reject', named('run.py'), 'fail', /which Outlook blocks/],
  ['a name that ends in dots and spaces', named('setup.exe. .'), 'fail'],
  ['a packed program', named('setup.exe.gz'), 'fail'],
  ['a disk image', named('disk.iso'), 'fail'],
  ['a shortcut', named('open.lnk'), 'fail'],
  ['a double extension', named('invoice.pdf.exe'), 'fail', /two file extensions, of which \.exe/],
  [
    'a double extension with spaces',
    named(`invoice.pdf${' '.repeat(60)}.scr`),
    'fail',
    /two file extensions/,
  ],
  ['a web page with a double extension', named('invoice.pdf.html'), 'fail', /two file extensions/],
  [
    'a name with a bidi override',
    named('invoice\u202efdp.exe'),
    'fail',
    /disguise its file extension/,
  ],
  [
    'a program by its media type',
    withFiles({ name: 'a', type: 'application/x-msdownload' }),
    'fail',
    /declared as/,
  ],
  [
    'a script by its media type, without a name',
    withFiles({ type: 'text/javascript', content: 'x()' }),
    'fail',
  ],

  [
    'a Windows program under another name',
    named('photo.jpg', windowsProgram()),
    'fail',
    /is a Windows program/,
  ],
  ['a Linux program', named('data', Buffer.from('7f454c460201', 'hex')), 'fail', /a Linux program/],
  ['a macOS program', named('data', Buffer.from('cffaedfe07000001', 'hex')), 'fail', /a macOS/],
  ['a shell script', named('readme.txt', '#!/bin/sh\necho\n'), 'fail', /is a script/],
  ['a text that begins with MZ', named('mz.txt', `MZ ${'is a text. '.repeat(30)}`), 'pass'],
  ['a text that begins with #!', named('a.txt', '#! no path\n'), 'pass'],

  ['macros by the extension', named('sheet.xlsm'), 'fail', /contains macros/],
  [
    'macros inside',
    named('sheet.xlsx', zip({ name: 'xl/vbaProject.bin' })),
    'fail',
    /contains macros/,
  ],
  ['OpenDocument macros', named('text.odt', zip({ name: 'Basic/Standard/Module1.xml' })), 'fail'],
  ['macros in an old document', named('old.doc', compoundFile('_VBA_PROJECT')), 'fail', /macros/],
  ['an old document without macros', named('old.doc', compoundFile('WordDocument')), 'pass'],
  [
    'a regular Office document',
    named('a.xlsx', zip({ name: '[Content_Types].xml' }, { name: 'xl/printerSettings1.bin' })),
    'pass',
  ],

  ['an archive with texts', named('a.zip', zip({ name: 'a.txt' }, { name: 'b/c.pdf' })), 'pass'],
  [
    'an archive with a program',
    named('a.zip', zip({ name: 'a.txt' }, { name: 'b/run.vbs' })),
    'fail',
    /a\.zip contains b\/run\.vbs, which is of type \.vbs/,
  ],
  [
    'an archive with a double extension',
    named('a.zip', zip({ name: 'a.pdf.exe' })),
    'fail',
    /two file extensions/,
  ],
  ['an archive under another name', named('a.dat', zip({ name: 'run.exe' })), 'fail'],
  [
    'an archive with leading data',
    named(
      'a.zip',
      Buffer.concat([zip({ name: 'a.txt' }).subarray(0, 30), zip({ name: 'run.exe' })]),
    ),
    'fail',
  ],
  [
    'an encrypted archive',
    named('a.zip', zip({ name: 'a.txt', encrypted: true })),
    'warn',
    /encrypted/,
  ],
  [
    'an encrypted archive with a program',
    named('a.zip', zip({ name: 'a.exe', encrypted: true })),
    'fail',
  ],
  ['an encrypted document', named('a.docx', compoundFile('EncryptedPackage')), 'warn', /encrypted/],
  ['a RAR archive', named('a.rar', rar4(0, 0)), 'pass'],
  ['a RAR archive with hidden names', named('a.rar', rar4(0x80, 0)), 'warn', /encrypted/],
  ['a RAR archive with an encrypted file', named('a.rar', rar4(0, 4)), 'warn'],
  ['a RAR 5 archive', named('a.rar', rar5([1, 0, 0], [2, 0, 0])), 'pass'],
  ['a RAR 5 archive with hidden names', named('a.rar', rar5([4, 0, 0])), 'warn', /encrypted/],
  [
    'a RAR 5 archive with an encrypted file',
    named('a.rar', rar5([1, 0, 0], [2, 1, 3, 0, 0, 2, 1, 0])),
    'warn',
  ],
  ['a 7z archive', named('a.7z', sevenZip('170600')), 'pass'],
  ['an encrypted 7z archive', named('a.7z', sevenZip('170606f1070100')), 'warn', /encrypted/],

  ['a web page', withFiles({ name: 'a.html', type: 'text/html' }), 'warn', /opens in a browser/],
  [
    'a web page without a name',
    withFiles({ type: 'text/html', disposition: 'attachment' }),
    'warn',
  ],
  [
    'HTML that is the message body',
    goodMessage({ 'Content-Type': 'text/html; name=a.html' }, '<p>'),
    'pass',
  ],
  ['an SVG picture', withFiles({ name: 'logo.svg', type: 'image/svg+xml' }), 'warn'],
  [
    'a web page and a program: the worse one counts',
    withFiles({ name: 'a.html' }, { name: 'b.exe' }),
    'fail',
    /b\.exe.*1 more/,
  ],

  [
    'a cut archive',
    named('a.zip', zip({ name: 'a.txt', content: 'x'.repeat(99) }).subarray(0, 90)),
    'error',
    /damaged/,
  ],
  [
    'a cut archive that begins with a program',
    named('a.zip', zip({ name: 'a.exe' }).subarray(0, 40)),
    'fail',
  ],
  [
    'an archive with too many files',
    named('a.zip', zip(...Array.from({ length: 5001 }, (_, i) => ({ name: `${i}` })))),
    'error',
  ],
  [
    'more parts than the limit',
    withFiles(...Array.from({ length: 1001 }, () => ({ name: 'a.txt' }))),
    'error',
    /MIME parts/,
  ],
];

for (const [name, message, status, says] of cases)
  test(`attachments check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(attachments, { message });
    assert.equal(finding.status, status, finding.title);
    if (says) assert.match(`${finding.title} ${finding.detail}`, says);
    assert.equal(finding.fix === undefined, status !== 'warn' && status !== 'fail');
  });

test('attachments check handles arbitrary file contents quickly', async () => {
  const starts = [
    '504b0304',
    '504b0506',
    '4d5a',
    'd0cf11e0a1b11ae1',
    '526172211a0700',
    '526172211a0701',
    '377abcaf271c',
    '7f45',
    '2321',
  ];
  for (const start of starts)
    for (const filler of ['00', 'ff', '504b0102', '504b0506', '04', '23'])
      for (const length of [0, 1, 7, 15, 22, 31, 64, 300_000]) {
        const octets = Buffer.alloc(length, filler, 'hex');
        const content = Buffer.concat([Buffer.from(start, 'hex'), octets]);
        const finding = await runCheck(attachments, { message: named('a.bin', content) });
        assert.notEqual(finding.title, '');
      }
});

test('attachments check keeps evidence short for many long file names', async () => {
  const files = Array.from({ length: 900 }, (_, i) => ({ name: `${i}${'x'.repeat(500)}.exe` }));
  const { evidence, title } = await runCheck(attachments, { message: withFiles(...files) });
  assert.ok(JSON.stringify(evidence).length < 10_000);
  assert.ok(title.length < 300);
});

test('attachments check reads field names with a no-break space or a line break without a fault', async () => {
  for (const name of [
    'Content\xa0Type',
    'Content\xa0\xa0Disposition',
    'Content-\nType',
    'Content-\r\n\nName',
  ]) {
    const part = `--x\n${name}: application/octet-stream; name=a.txt\n\nText\n--x--\n`;
    const text = withFiles().replace('--x--\n', part).replace(/\r?\n/g, '\r\n');
    await runCheck(attachments, { message: Buffer.from(text, 'latin1') });
    await runCheck(attachments, { message: Buffer.from(`${name}: a\r\n${text}`, 'latin1') });
  }
});
