/** The check `message_protection`, and that checks of text skip content that nobody here can read. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { messageProtection } from '../../../src/analysis/checks/message-protection.ts';
import { textPart } from '../../../src/analysis/checks/text-part.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const typed = (type: string, body: string, encoding = '7bit') =>
  goodMessage({ 'Content-Type': type, 'Content-Transfer-Encoding': encoding }, body);
const SIGNED =
  '--x\nContent-Type: text/plain\n\nHello\n--x\nContent-Type: application/a\n\nx\n--x--\n';
const PGP = '-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n-----END PGP MESSAGE-----\n';

const cases: [string, string, RegExp | null, CheckStatus][] = [
  ['an ordinary message', goodMessage(), null, 'pass'],
  [
    'an S/MIME signature',
    typed('multipart/signed; protocol="application/pkcs7-signature"; boundary=x', SIGNED),
    /signed with S\/MIME/,
    'pass',
  ],
  [
    'an OpenPGP signature',
    typed('multipart/signed; protocol="application/pgp-signature"; boundary=x', SIGNED),
    /signed with OpenPGP/,
    'pass',
  ],
  [
    'an S/MIME encryption',
    typed('application/pkcs7-mime; smime-type=enveloped-data', 'MIIB', 'base64'),
    /encrypted with S\/MIME/,
    'skipped',
  ],
  [
    'an S/MIME signature around the content',
    typed('application/x-pkcs7-mime; smime-type=signed-data', 'MIIB', 'base64'),
    /signed with S\/MIME/,
    'skipped',
  ],
  [
    'an OpenPGP encryption',
    typed(
      'multipart/encrypted; protocol="application/pgp-encrypted"; boundary=x',
      `--x\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--x\nContent-Type: application/octet-stream\n\n${PGP}--x--\n`,
    ),
    /encrypted with OpenPGP/,
    'skipped',
  ],
  ['inline PGP', goodMessage({}, PGP), /encrypted with OpenPGP/, 'skipped'],
  [
    'an inline PGP signature',
    goodMessage({}, '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nHello\n'),
    /signed with OpenPGP/,
    'pass',
  ],
];

for (const [name, message, says, status] of cases)
  test(`message_protection check describes ${name}, and text_part reports ${status}`, async () => {
    const finding = await runCheck(messageProtection, { message });
    assert.equal(finding.status, says ? 'info' : 'skipped');
    if (says) assert.match(finding.title, says);
    assert.equal((await runCheck(textPart, { message })).status, status);
  });
