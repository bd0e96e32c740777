/** The documents in README.md and docs/. They are beside the program, so help needs no network. */

import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

/** Beside the bundles in the executable: all documents as JSON, compressed with Brotli. */
export const DOCUMENTS_FILE = 'documents.json.br';

/** The text of each document in Markdown, by its file name without `.md`. */
export type Documents = Record<string, string>;

/** In a folder of the source. */
export function collectDocuments(root: string): Documents {
  const files = ['README.md', ...globSync('docs/*.md', { cwd: root }).toSorted()];
  return Object.fromEntries(
    files.map((file) => [basename(file, '.md'), readFileSync(`${root}/${file}`, 'utf8')]),
  );
}

let known: Documents | undefined;

/** Read at the first use, and kept. Empty if the files are missing. */
export function documents(): Documents {
  known ??= import.meta.url.endsWith('.ts')
    ? collectDocuments(fileURLToPath(new URL('../../', import.meta.url)))
    : unpack(fileURLToPath(new URL(DOCUMENTS_FILE, import.meta.url)));
  return known;
}

const unpack = (file: string): Documents =>
  existsSync(file) ? JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) : {};
