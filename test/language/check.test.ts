/** The language check finds avoided words and names, and sentences that are too long, wherever people read them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDocument, checkSource } from '../../scripts/language/check.ts';
import { sentencesOf } from '../../scripts/language/sentences.ts';
import { codeOf, readSource } from '../../scripts/language/source.ts';

const messages = (source: string, path = 'src/lib/sample.tsx') =>
  checkSource(path, source).map(({ line, message }) => `${line} ${message}`);

/** A sentence of so many words. */
const sentence = (words: number) => `Every ${'word '.repeat(words - 2)}counts.`;

test('The language check finds an avoided phrase in every kind of text', () => {
  const cases = [
    "export const a = 'Mend the record.';",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text.
    'export const a = `Mend ${1} record.`;',
    '/** Mends the record. */',
    '// Mends\n// the record.',
    'export const A = () => <p>Please <b>mend</b> it</p>;',
    'export const A = () => <img alt="How to mend a record" />;',
    "test('POST mends a record', () => {});",
  ];
  for (const source of cases)
    assert.match(messages(source).join('\n'), /^1 "(?:mend|mends|Mend|Mends)": write fix$/, source);
});

test('The language check reads only titles and comments of tests', () => {
  const source = "test('A record is mended', () => send('Please mend it'));";
  assert.deepEqual(messages(source, 'test/sample.test.ts'), ['1 "mended": write fix']);
});

test('The language check ignores code, SQL, imports, single words and parts of words', () => {
  const sources = [
    "import { a } from './mend it.ts';",
    'export const a = sql`SELECT mend FROM mending WHERE mend IS NULL`;',
    "export const a = 'SELECT mend FROM mending';",
    "export const a = 'mend';",
    "export const a = 'The recommended amendment is kept.';",
    'export const A = () => <p className="mend it">Fine here</p>;',
  ];
  for (const source of sources) assert.deepEqual(messages(source), [], source);
});

test('The language check finds avoided names of constants, functions, members and files', () => {
  assert.deepEqual(messages('export const MOST_TESTS = 1;'), ['1 "MOST_": write MAX_…']);
  assert.match(messages('function letGo() {}')[0]!, /^1 "letGo"/);
  assert.match(messages('interface A { takeBack(): void }')[0]!, /^1 "takeBack"/);
  assert.match(messages('const f = ({ a: standing }) => standing;')[0]!, /^1 "standing"/);
  assert.match(messages('', 'src/http/openapi-manners.ts')[0]!, /^1 "manners"/);
  assert.deepEqual(messages('export const MAX_TESTS = 1;'), []);
});

test('The language check limits the words of a sentence in texts, comments and documents', () => {
  const text = (words: number) => `export const a = '${sentence(words)}';`;
  assert.deepEqual(messages(text(25)), []);
  assert.match(messages(text(26))[0]!, /^1 26 words in a sentence, 25 allowed/);
  assert.deepEqual(messages(text(26), 'test/sample.ts'), []);
  assert.deepEqual(messages(`// ${sentence(30)}`), []);
  assert.match(messages(`// ${sentence(31)}`)[0]!, /^1 31 words/);
  const document = `# Title\n\n${sentence(25)}\n${sentence(26)}\n\n\`\`\`\n${sentence(40)}\n\`\`\`\n`;
  const found = checkDocument('docs/sample.md', document);
  assert.deepEqual(
    found.map(({ line, message }) => [line, message.slice(0, 8)]),
    [[3, '26 words']],
  );
});

test('The language check finds names in comments and titles that are no longer in the code', () => {
  const code = new Set(['readBody']);
  const stale = (source: string) =>
    checkSource('test/sample.test.ts', source, code).map(({ message }) => message);
  assert.deepEqual(stale('/** `readBody` calls `hearAnswer()`. */'), [
    'hearAnswer is not in the code',
  ]);
  assert.deepEqual(stale("test('takeBody rejects text', () => {});"), [
    'takeBody is not in the code',
  ]);
  assert.deepEqual(stale("test('readBody rejects text and a.someField', () => {});"), []);
});

test('codeOf leaves out comments and titles', () => {
  const source = "/** oldName */\nconst newName = 1; // oldName\ntest('oldName', () => newName);";
  assert.doesNotMatch(codeOf('a.ts', source), /oldName/);
  assert.match(codeOf('a.ts', source), /const newName = 1; \n/);
});

test('sentencesOf counts filled-in values as words and keeps numbers and names whole', () => {
  const text = '{name} lists 192.0.2.1 (v1.2). Remove {count} entries! "Then" send 1.5 MB.';
  assert.deepEqual(
    sentencesOf(text).map(({ words }) => words),
    [4, 3, 4],
  );
});

test('readSource shows the placeholder of each filled-in value', () => {
  const { texts } = readSource(
    'a.tsx',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text.
    'export const a = `${x.name} is ${count(1)} of ${1 + 1} kinds`;',
  );
  assert.deepEqual(texts, [{ line: 1, text: '{name} is {count} of {…} kinds' }]);
});
