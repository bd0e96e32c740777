/** Which folders hold spam. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ImapFolder, junkFolders } from '../../../src/net/imap/junk-folders.ts';

const folder = (path: string, ...flags: string[]): ImapFolder => {
  const parts = path.split('/');
  return { path, name: parts.at(-1)!, parent: parts.slice(0, -1).join('/'), flags };
};

const found = (folders: ImapFolder[], expected: string[] = []): string[] =>
  junkFolders([folder('INBOX'), folder('Sent', '\\Sent'), ...folders], expected).map(
    ({ path }) => path,
  );

test('A flagged folder counts, whatever its name, and names are then not guessed', () => {
  assert.deepEqual(found([folder('Spam'), folder('Ablage 7', '\\Junk')]), ['Ablage 7']);
  assert.deepEqual(found([folder('X', '\\Spam')]), ['X'], 'the flag of XLIST');
});

test('Folders that the provider or the administrator names count in addition', () => {
  const folders = [folder('Spam', '\\Junk'), folder('Unbekannt'), folder('Bulk')];
  assert.deepEqual(found(folders, ['Spam', 'Unbekannt']), ['Spam', 'Unbekannt']);
  assert.deepEqual(found([folder('Filed/Odd')], ['Filed/Odd']), ['Filed/Odd']);
});

test('Names in many languages are known', () => {
  for (const name of [
    'Junk',
    'JUNK E-MAIL',
    'Bulk',
    'Spamverdacht',
    'Courrier indésirable',
    'Correo no deseado',
    'Posta indesiderata',
    'Lixo Eletrônico',
    'Ongewenste e-mail',
    'Skräppost',
    'Roskaposti',
    'Спам',
    'Небажана пошта',
    'Nevyžádaná pošta',
    'Önemsiz',
    '迷惑メール',
    '垃圾邮件',
    '스팸메일함',
    // Decomposed letters, as some servers store them.
    'Courrier inde\u0301sirable',
  ])
    assert.deepEqual(found([folder(name)]), [name]);
  assert.deepEqual(found([folder('INBOX/Junk')]), ['INBOX/Junk']);
  assert.deepEqual(found([folder('[Gmail]/Spam')]), ['[Gmail]/Spam']);
});

test('Other folders do not count', () => {
  for (const other of [
    folder('Archive'),
    folder('Projects/Spam'),
    folder('Spam', '\\Noselect'),
    folder('Spam', '\\Trash'),
    folder('Spam reports'),
    folder('[Gmail]/All Mail', '\\All'),
  ])
    assert.deepEqual(found([other]), [], other.path);
});
