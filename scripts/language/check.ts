/** Finds words and names that the language of the project avoids, and sentences that are too long. */

import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { proseOf, sentencesOf } from './sentences.ts';
import { type Found, readSource } from './source.ts';
import { NAMES, PHRASES, type Replacement } from './words.ts';

/** Most words of a sentence, by where it stands. */
const MAX_WORDS = { text: 25, comment: 30, document: 25 };

export interface Complaint {
  path: string;
  line: number;
  message: string;
}

/** Their texts are data: words that messages use, in many languages. */
const DATA = /^src\/analysis\/links\/(?:caution|unsubscribe)\.ts$/;

/**
 * What is wrong with the words of one source file. Of tests only titles and comments are read, because
 * other texts are often messages; sentences are limited in texts of `src` and in comments.
 */
export function checkSource(path: string, source: string): Complaint[] {
  const { texts, titles, comments, names } = readSource(path, source);
  const read = path.startsWith('test/') ? titles : DATA.test(path) ? [] : texts;
  return [
    ...namesIn(path, [{ line: 1, text: basename(path).replace(/\..*$/, '') }, ...names]),
    ...phrasesIn(path, [...read, ...comments]),
    ...(path.startsWith('src/') ? longIn(path, read, MAX_WORDS.text) : []),
    ...longIn(path, comments, MAX_WORDS.comment),
  ];
}

/** What is wrong with the words of a Markdown document. */
export function checkDocument(path: string, markdown: string): Complaint[] {
  const prose = proseOf(markdown);
  return [...phrasesIn(path, prose), ...longIn(path, prose, MAX_WORDS.document)];
}

function phrasesIn(path: string, found: Found[]): Complaint[] {
  return replaced(path, found, PHRASES);
}

function namesIn(path: string, found: Found[]): Complaint[] {
  return replaced(path, found, NAMES);
}

function replaced(path: string, found: Found[], replacements: Replacement[]): Complaint[] {
  return found.flatMap(({ line, text }) =>
    replacements.flatMap(({ wrong, right }) => {
      const match = wrong.exec(text);
      return match ? [{ path, line, message: `"${match[0]}": write ${right}` }] : [];
    }),
  );
}

function longIn(path: string, found: Found[], most: number): Complaint[] {
  return found.flatMap(({ line, text }) =>
    sentencesOf(text)
      .filter(({ words }) => words > most)
      .map(({ text, words }) => ({
        path,
        line,
        message: `${words} words in a sentence, ${most} allowed: ${text.slice(0, 60)}…`,
      })),
  );
}

function checkAll(root: string): Complaint[] {
  const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
  const files = (pattern: string) =>
    globSync(pattern, {
      cwd: root,
      exclude: ['**/*.generated.ts', 'scripts/language/words.ts'],
    }).sort();
  return [
    ...files('{src,scripts,test}/**/*.{ts,tsx}').flatMap((path) => checkSource(path, read(path))),
    ...files('{README.md,docs/**/*.md}').flatMap((path) => checkDocument(path, read(path))),
  ];
}

if (import.meta.main) {
  const complaints = checkAll(fileURLToPath(new URL('../../', import.meta.url)));
  for (const { path, line, message } of complaints) console.log(`${path}:${line}: ${message}`);
  process.exitCode = complaints.length > 0 ? 1 : 0;
}
