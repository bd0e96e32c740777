/**
 * `npm run texts`: everything that people read, in one file: documents, emails, pages, commands and
 * the API as they show, then every text in the sources. An editor reads the product in it in one
 * sitting, and a later version of it shows what a change did to the words.
 */

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readSource } from '../language/source.ts';
import { apiTexts } from './api.ts';
import { commandTexts } from './commands.ts';
import { documentTexts } from './documents.ts';
import { emailTexts } from './emails.ts';
import { pageTexts } from './pages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FILE = process.argv[2] ?? 'dist/texts.txt';

/** Every text of the sources by file; what is filled in stands in braces. */
function sourceTexts(): [name: string, text: string][] {
  return globSync('src/**/*.{ts,tsx}', { cwd: ROOT, exclude: ['**/*.generated.ts'] })
    .sort()
    .map((path): [string, string] => {
      const { texts } = readSource(path, readFileSync(`${ROOT}${path}`, 'utf8'));
      return [path, texts.map(({ line, text }) => `${line}: ${text}`).join('\n')];
    })
    .filter(([, text]) => text !== '');
}

const PARTS: [title: string, make: () => [string, string][] | Promise<[string, string][]>][] = [
  ['Reports, shared reports and summaries', documentTexts],
  ['Emails and Slack messages', emailTexts],
  ['Pages', pageTexts],
  ['Commands', commandTexts],
  ['API reference', apiTexts],
  ['Texts in the sources', sourceTexts],
];

const parts: string[] = [];
for (const [title, make] of PARTS) {
  parts.push(`${'#'.repeat(80)}\n# ${title}\n`);
  for (const [name, text] of await make()) parts.push(`=== ${name}\n\n${text.trim()}\n`);
}
mkdirSync(`${ROOT}dist`, { recursive: true });
const texts = parts.join('\n');
writeFileSync(`${ROOT}${FILE}`, texts);
console.log(`${FILE}: ${texts.split(/\s+/).length} words`);
