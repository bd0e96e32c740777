/** The certificate authority of `listen`: created once, replaced before it expires, and never overwrites other files. */

// @one-database: about files of certificates.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { UsageError } from '../../../src/commands/command.ts';
import { openAuthority } from '../../../src/commands/listen/authority.ts';
import { makeAuthority } from '../../../src/lib/certificates.ts';
import { temporaryFolder } from '../../helpers/app.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 0, 0);
const YEAR = 365.25 * 86_400_000;

test('openAuthority creates the CA once with private file modes and issues valid certificates', async (t) => {
  const folder = join(temporaryFolder(t), 'new', 'listen');
  const first = await openAuthority(folder, NOW);
  assert.equal(first.isNew, true);
  assert.deepEqual(readdirSync(folder).sort(), ['ca.key', 'ca.pem']);
  assert.equal(statSync(join(folder, 'ca.key')).mode & 0o777, 0o600);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  const text = readFileSync(first.file, 'utf8');
  const second = await openAuthority(folder, NOW + YEAR);
  assert.equal(second.isNew, false);
  assert.equal(readFileSync(second.file, 'utf8'), text);
  const root = new X509Certificate(text);
  const issued = new X509Certificate((await second.issue(['localhost', '127.0.0.1'])).cert);
  assert.ok(issued.checkIssued(root) && issued.verify(root.publicKey));
  assert.equal(issued.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(issued.validFromDate.getTime(), NOW + YEAR - 86_400_000);
});

test('openAuthority replaces the CA shortly before it expires', async (t) => {
  const folder = temporaryFolder(t);
  const { file } = await openAuthority(folder, NOW);
  const text = readFileSync(file, 'utf8');
  assert.equal((await openAuthority(folder, NOW + 9.9 * YEAR)).isNew, false);
  assert.equal((await openAuthority(folder, NOW + 9.95 * YEAR)).isNew, true);
  assert.notEqual(readFileSync(file, 'utf8'), text);
});

test('openAuthority refuses to overwrite CA files it did not create', async (t) => {
  const other = await makeAuthority('Somebody else', NOW);
  const folder = temporaryFolder(t);
  await openAuthority(folder, NOW);
  const own = readFileSync(join(folder, 'ca.pem'), 'utf8');
  const cases: [cert: string, key: string | null][] = [
    [other.cert, other.key],
    [own, other.key],
    ['nothing', other.key],
    [own, null],
  ];
  for (const [cert, key] of cases) {
    const place = temporaryFolder(t);
    writeFileSync(join(place, 'ca.pem'), cert);
    if (key !== null) writeFileSync(join(place, 'ca.key'), key);
    await assert.rejects(openAuthority(place, NOW), UsageError);
    assert.equal(readFileSync(join(place, 'ca.pem'), 'utf8'), cert);
    assert.equal(readdirSync(place).length, key === null ? 1 : 2);
  }
});

test('openAuthority explains why a directory cannot be used', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'file');
  writeFileSync(file, 'text');
  const link = join(folder, 'link');
  symlinkSync(join(folder, 'nowhere'), link);
  const cases: [place: string, words: RegExp][] = [
    [file, /part of the path is not a folder/],
    [join(file, 'below', 'it'), /part of the path is not a folder/],
    [link, /part of the path is a broken link/],
    [join(link, 'below'), /part of the path is a broken link/],
    [join(folder, 'x'.repeat(300)), /the name is too long/],
  ];
  if (existsSync('/proc/self')) cases.push(['/proc/nope', /the folder cannot be created/]);
  for (const [place, words] of cases)
    await assert.rejects(openAuthority(place, NOW), (error: Error) => {
      assert.ok(error instanceof UsageError, String(error));
      assert.match(error.message, words);
      assert.ok(error.message.includes(place) && /--dir$/.test(error.message), error.message);
      return true;
    });
  assert.deepEqual(readdirSync(folder).sort(), ['file', 'link']);
});
