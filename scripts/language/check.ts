/** Finds words and names that the language of the project avoids, and sentences that are too long. */

import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { proseOf, sentencesOf } from './sentences.ts';
import { codeOf, type Found, readSource } from './source.ts';
import { NAMES, PHRASES, type Replacement } from './words.ts';

/** Maximum words of a sentence by kind of text. */
const MAX_WORDS = { text: 25, comment: 30, document: 25 };

export interface Complaint {
  path: string;
  line: number;
  message: string;
}

/** Their texts are data: words that messages use, in many languages, and labels of other programs. */
const DATA =
  /^src\/analysis\/(?:links\/(?:caution-words|unsubscribe-phrases)|kind\/phrases|sender-setup\/programs)\.json$/;

/** SQL that has shipped is never changed. */
const SHIPPED = /^src\/store\/migrations\//;

/**
 * Checks the words of one source file. Of tests it reads only titles and comments, because other texts
 * are often messages. It limits sentences in texts of `src` and in comments. `codeNames` are the names
 * that comments and titles may mention; without it they are not checked.
 */
export function checkSource(path: string, source: string, codeNames?: Set<string>): Complaint[] {
  const { texts, titles, comments, names } = readSource(path, source);
  const isData = DATA.test(path) || SHIPPED.test(path);
  const read = path.startsWith('test/') ? titles : isData ? [] : texts;
  return [
    ...namesIn(path, [{ line: 1, text: basename(path).replace(/\..*$/, '') }, ...names]),
    ...phrasesIn(path, [...read, ...comments]),
    ...(path.startsWith('src/') ? longIn(path, read, MAX_WORDS.text) : []),
    ...longIn(path, comments, MAX_WORDS.comment),
    ...(codeNames ? staleIn(path, comments, titles, codeNames) : []),
  ];
}

/** Checks the words of a Markdown document. */
export function checkDocument(path: string, markdown: string): Complaint[] {
  const prose = proseOf(markdown);
  return [...phrasesIn(path, prose), ...longIn(path, prose, MAX_WORDS.document)];
}

/** A name in camel case: in a comment between backticks, in a title anywhere. */
const QUOTED_NAME = /`([a-z]+[A-Z]\w*)(?:\(\))?`/g;
const TITLE_NAME = /(?<![\w./{-])([a-z]{2,}[A-Z]\w*)(?![\w.-])/g;

/** Names that stay behind in comments and titles when the code is renamed. */
function staleIn(
  path: string,
  comments: Found[],
  titles: Found[],
  codeNames: Set<string>,
): Complaint[] {
  const stale = (pattern: RegExp) => (found: Found) =>
    [...found.text.matchAll(pattern)]
      .filter(([, name]) => !codeNames.has(name!))
      .map(([, name]) => ({ path, line: found.line, message: `${name} is not in the code` }));
  return [...comments.flatMap(stale(QUOTED_NAME)), ...titles.flatMap(stale(TITLE_NAME))];
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

function longIn(path: string, found: Found[], max: number): Complaint[] {
  return found.flatMap(({ line, text }) =>
    sentencesOf(text)
      .filter(({ words }) => words > max)
      .map(({ text, words }) => ({
        path,
        line,
        message: `${words} words in a sentence, ${max} allowed: ${text.slice(0, 60)}…`,
      })),
  );
}

/** Every word in camel case in the code of these files, without comments and titles. */
function namesInCode(sources: [path: string, source: string][]): Set<string> {
  const names = new Set<string>();
  for (const [path, source] of sources)
    for (const [name] of codeOf(path, source).matchAll(/\b[a-z]+[A-Z]\w*/g)) names.add(name);
  return names;
}

function checkAll(root: string): Complaint[] {
  const files = (pattern: string): [path: string, text: string][] =>
    globSync(pattern, { cwd: root, exclude: ['**/*.generated.ts', 'scripts/language/words.ts'] })
      .sort()
      .map((path) => [path, readFileSync(`${root}${path}`, 'utf8')]);
  const sources = files('{src,scripts,test}/**/*.{ts,tsx}');
  const codeNames = namesInCode(sources);
  return [
    ...sources.flatMap(([path, source]) => checkSource(path, source, codeNames)),
    // In parentheses, JSON is an expression.
    ...files('src/**/*.json').flatMap(([path, json]) => checkSource(path, `(${json})`)),
    ...files('{README.md,docs/**/*.md}').flatMap(([path, text]) => checkDocument(path, text)),
  ];
}

if (import.meta.main) {
  const complaints = checkAll(fileURLToPath(new URL('../../', import.meta.url)));
  for (const { path, line, message } of complaints) console.log(`${path}:${line}: ${message}`);
  process.exitCode = complaints.length > 0 ? 1 : 0;
}
