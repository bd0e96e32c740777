/** Whole mails, as real senders write them, each with the verdict that a deliverability consultant gives. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import {
  differencesOf,
  isMalformed,
  loadMail,
  mailNames,
  mistakesIn,
} from '../helpers/mail-corpus.ts';

/**
 * The expectations that results do not meet yet, by message. A message that starts to meet one
 * fails its test, so this list can only shrink.
 */
const KNOWN_WRONG: Record<string, string[]> = {};

const MAILS = mailNames('json').map((name) => loadMail(name));

/** Judged before the program was asked: files and templates too. */
const JUDGED_FIRST = ['unseen', 'unseen2']
  .map((name) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)))
  .flatMap((folder) => mailNames('json', folder).map((name) => loadMail(name, folder)));

describe('Corpus of whole mails', () => {
  it('has at least 70 mails and at least 3 in each group', () => {
    assert.ok(MAILS.length >= 70, `${MAILS.length} mails`);
    const groups = Object.entries(Object.groupBy(MAILS, ({ group }) => group));
    assert.deepEqual(
      groups.filter(([, mails]) => mails!.length < 3).map(([group]) => group),
      [],
    );
  });

  it('has an expectation for each message, and the reverse', () => {
    assert.deepEqual(mailNames('eml'), mailNames('json'));
  });

  it('describes each mail differently', () => {
    const notes = MAILS.map(({ note }) => note.trim());
    assert.deepEqual(
      notes.filter((note, index) => note === '' || notes.indexOf(note) !== index),
      [],
    );
  });

  it('has no misspelled keys, checks or verdicts', () => {
    const ids = new Set(CHECKS.map(({ id }) => id));
    const mistakes = MAILS.map((mail) => [mail.name, mistakesIn(mail, ids)] as const);
    assert.deepEqual(
      mistakes.filter(([, found]) => found.length > 0),
      [],
    );
  });

  it('knows each mail that is listed as wrong', () => {
    const names = new Set(MAILS.map(({ name }) => name));
    assert.deepEqual(
      Object.keys(KNOWN_WRONG).filter((name) => !names.has(name)),
      [],
    );
  });
});

/** Records that a fix could propose, and whether a mailbox provider can read them. */
const RECORDS: [name: string, value: string, isReadable: boolean][] = [
  ['_dmarc.example.com', 'v=DMARC1; p=none; rua=mailto:d@example.com', true],
  ['_dmarc.example.com', 'v=DMARC1 p=none', false],
  ['_dmarc.example.com', 'v=DMARC1\\; p=none', false],
  ['_dmarc.example.com', 'v=DMARC1; p=none; p=reject', false],
  ['_dmarc.example.com', 'v=DMARC1; rua=mailto:d@example.com', false],
  [
    'example.com',
    'v=spf1 a mx/24 ip4:192.0.2.0/24 ip6:2001:db8::1 include:spf.example.net ~all',
    true,
  ],
  ['example.com', 'v=spf1 redirect=_spf.example.net', true],
  ['example.com', 'v=spf1 ip4:192.0.2.1, include:spf.example.net -all', false],
  ['example.com', 'v=spf1 include: -all', false],
  ['example.com', 'v=spf1 ip4:mail.example.com -all', false],
];

describe('A proposed record', () => {
  for (const [name, value, isReadable] of RECORDS)
    it(`is ${isReadable ? 'readable' : 'malformed'}: ${value}`, () => {
      assert.equal(isMalformed({ type: 'TXT', name, value }), !isReadable);
    });
});

describe('Verdict on a whole mail', () => {
  for (const mail of [...MAILS, ...JUDGED_FIRST])
    it(`${mail.name}: ${mail.note}`, async () => {
      const differences = await differencesOf(mail);
      assert.deepEqual(
        differences.map(({ key }) => key),
        KNOWN_WRONG[mail.name] ?? [],
        JSON.stringify(differences, null, 2),
      );
    });
});
