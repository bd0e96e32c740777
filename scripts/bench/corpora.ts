/**
 * `tsx scripts/bench/corpora.ts FILE [FOLDER…]`: analyzes the messages of the tests, generated senders, mutated
 * messages, and the `.eml` files below the folders. Each result becomes a line of the file, so that `cmp` shows whether
 * a change of the program changed a result.
 */

import { closeSync, globSync, openSync, readFileSync, writeSync } from 'node:fs';
import { analyze } from '../../src/analysis/analyze.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { analyzeWorld, makeWorld } from '../../test/analysis/generated-worlds.ts';
import { LANGUAGE_MAILS, messageOf } from '../../test/analysis/kind/language-mails.ts';
import { KIND_MAILS } from '../../test/analysis/kind/mails.ts';
import { ENVELOPE, RECEIVED_AT } from '../../test/helpers/analysis.ts';
import { analyzeMail, loadMail, mailNames } from '../../test/helpers/mail-corpus.ts';
import { ZONES } from '../../test/helpers/mail-zones.ts';
import { mutate } from '../../test/helpers/mutate.ts';
import { seededRandom } from '../../test/helpers/random.ts';

const WORLDS = 300;
const MUTATIONS = 2_000;
const MAX_BYTES = 100_000;
/** Each run has other keys. */
const KEY = /[A-Za-z0-9+/]{43,}={0,2}/g;
const TOKENS = [
  '=?utf-8?B?',
  '\r\n--',
  '<style>*{',
  '<!--',
  '<a href="http://xn--',
  '&#xD800;',
  '\0',
];

const [output, ...folders] = process.argv.slice(2);
if (!output) throw new Error('Name the file to write.');
const file = openSync(output, 'w');
let lines = 0;

function write(name: string, result: unknown): void {
  writeSync(file, `${name}\t${JSON.stringify(result).replace(KEY, '<key>')}\n`);
  lines += 1;
}

const zone = Object.assign({}, ...Object.values(ZONES));
const crlf = (text: string): string => text.replace(/\r?\n/g, '\r\n');
const analyzeRaw = (raw: Uint8Array) =>
  analyze(
    { raw, envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind: 'auto' },
    { resolver: zoneResolver(zone) },
  );

for (const name of mailNames('json')) write(name, await analyzeMail(loadMail(name)));
const kinds = [
  ...KIND_MAILS.map(({ message }) => message),
  ...Object.values(LANGUAGE_MAILS).flatMap(({ marketing, transactional }) =>
    [...marketing, ...transactional].map(messageOf),
  ),
];
for (const [index, text] of kinds.entries())
  write(`kind ${index}`, await analyzeRaw(Buffer.from(crlf(text))));
for (let seed = 0; seed < WORLDS; seed++)
  write(`world ${seed}`, await analyzeWorld(makeWorld(seed)));
const paths = folders.flatMap((folder) => globSync(`${folder}/**/*.eml`)).sort();
for (const path of paths) write(path, await analyzeRaw(readFileSync(path)));
const own = globSync('test/fixtures/mails/**/*.eml').sort();
const texts = [...own, ...paths].map((path) =>
  Buffer.from(crlf(readFileSync(path, 'latin1')), 'latin1'),
);
const small = texts.filter(({ length }) => length < MAX_BYTES);
for (let seed = 0; seed < MUTATIONS; seed++)
  write(`mutation ${seed}`, await analyzeRaw(mutate(small, TOKENS, MAX_BYTES, seededRandom(seed))));
closeSync(file);
console.log(`${lines} results`);
