/** README.md and docs/: links lead somewhere, and each document is found from the README. */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const DOCUMENTS = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })].map((path) =>
  path.replaceAll(sep, '/'),
);
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Without code, which can look like links and headings. */
const proseOf = (path: string): string =>
  textOf(path)
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ''));

/** As GitHub does. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

const anchorsIn = (path: string): Set<string> =>
  new Set([...proseOf(path).matchAll(/^#+ (.*)$/gm)].map(([, text]) => anchorOf(text!)));

/** The relative links of a document: the path from the project folder, and the anchor. */
function linksOf(path: string): { target: string; anchor: string | undefined }[] {
  const found = [...proseOf(path).matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)];
  return found
    .map(([, markdown, html]) => (markdown ?? html)!)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [file, anchor] = link.split('#') as [string, string?];
      return { target: file === '' ? path : normalize(join(dirname(path), file)), anchor };
    });
}

test('Every link of README.md and docs leads to a file and a heading that exist', () => {
  const broken = DOCUMENTS.flatMap((path) =>
    linksOf(path)
      .filter(({ target, anchor }) => {
        if (!existsSync(join(ROOT, target))) return true;
        return anchor !== undefined && !anchorsIn(target).has(anchor);
      })
      .map(({ target, anchor }) => `${path}: ${target}${anchor ? `#${anchor}` : ''}`),
  );
  assert.deepEqual(broken, []);
});

test('README.md is short and links to every document', () => {
  const text = textOf('README.md');
  assert.ok(text.split('\n').length <= 250);
  const linked = new Set(linksOf('README.md').map(({ target }) => target.replaceAll(sep, '/')));
  assert.deepEqual(
    DOCUMENTS.filter((path) => path !== 'README.md' && !linked.has(path)),
    [],
  );
});
