/** The documents as pages: all of their Markdown is understood, their links lead somewhere, and the search finds them. */

// @one-database: about documents.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { anchorOf, type Block, readBlocks, readSpans, type Span } from '../../src/help/blocks.ts';
import {
  chapterNames,
  chapterOf,
  contents,
  helpPath,
  searchHelp,
} from '../../src/help/chapters.ts';
import { collectDocuments } from '../../src/help/documents.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** All texts of blocks, except code. */
const textsOf = (blocks: Block[]): string[] =>
  blocks.flatMap((block) => {
    if (block.kind === 'code') return [];
    if (block.kind === 'list') return textsOf(block.items.flat());
    return block.kind === 'table' ? block.rows.flat() : [block.text];
  });

const plainParts = (spans: Span[]): string[] =>
  spans.flatMap((span) => {
    if (span.kind === 'code') return [];
    return 'text' in span ? [span.text] : plainParts(span.children);
  });

const linksOf = (spans: Span[]): string[] =>
  spans.flatMap((span) =>
    'text' in span ? [] : [...(span.kind === 'link' ? [span.href] : []), ...linksOf(span.children)],
  );

const anchorsOf = (name: string): Set<string> =>
  new Set(chapterOf(name)!.blocks.flatMap((block) => (block.kind === 'heading' ? block.id : [])));

test('No Markdown or HTML of any document is left as text', () => {
  assert.ok(chapterNames().length > 30);
  for (const name of [...chapterNames(), 'contents']) {
    const blocks = name === 'contents' ? contents() : chapterOf(name)!.blocks;
    const left = textsOf(blocks)
      .flatMap((text) => plainParts(readSpans(text)))
      .filter((text) => /`|\*|\]\(|!\[|<\/?[a-z!]|\||&[#a-z]|^#|^>|^\s*[-+] |\\/i.test(text));
    assert.deepEqual(left, [], name);
  }
});

test('No word and no line of code of a document is lost', () => {
  const wordsOf = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const [name, text] of Object.entries(collectDocuments(ROOT))) {
    if (name === 'README') continue;
    const { title, blocks } = chapterOf(name)!;
    const codeOf = (some: Block[]): string[] =>
      some.flatMap((block) =>
        block.kind === 'code'
          ? [block.text]
          : block.kind === 'list'
            ? codeOf(block.items.flat())
            : [],
      );
    // Link targets, pictures, languages of code and marker comments are not text.
    const source = text
      .replace(/^ *```\w*$/gm, '')
      .replace(/<!--.*?-->/g, '')
      .replace(/^<p>\n[\s\S]*?<\/p>$|^!\[.*$/gm, '')
      .replace(/<\/?(details|summary|code)[^>]*>/g, '')
      .replace(/&#124;/g, '|');
    const shown = `${title}\n${textsOf(blocks).join('\n')}\n${codeOf(blocks).join('\n')}`;
    const counts = (words: string[]) => {
      const known = new Map<string, number>();
      for (const word of words) known.set(word, (known.get(word) ?? 0) + 1);
      return known;
    };
    const expected = counts(wordsOf(source.replace(/^\d+\. /gm, '')));
    const found = counts(wordsOf(shown));
    const lost = [...expected].filter(([word, count]) => (found.get(word) ?? 0) < count);
    assert.deepEqual(lost, [], name);
  }
});

test('Code keeps its indentation, also in a list', () => {
  const [list] = readBlocks(
    '1. Run:\n\n   ```sh\n   if true; then\n     echo a | b\n   fi\n   ```\n2. Done',
  );
  assert.deepEqual(list, {
    kind: 'list',
    isOrdered: true,
    items: [
      [
        { kind: 'paragraph', text: 'Run:' },
        { kind: 'code', text: 'if true; then\n  echo a | b\nfi' },
      ],
      [{ kind: 'paragraph', text: 'Done' }],
    ],
  });
});

test('Marks inside of code are code, and repeated headings get anchors of their own', () => {
  assert.deepEqual(readSpans('Set `a*b*` and ``c`d`` in **the `*` file**, see [`x`](y.md#z).'), [
    { kind: 'text', text: 'Set ' },
    { kind: 'code', text: 'a*b*' },
    { kind: 'text', text: ' and ' },
    { kind: 'code', text: 'c`d' },
    { kind: 'text', text: ' in ' },
    {
      kind: 'strong',
      children: [
        { kind: 'text', text: 'the ' },
        { kind: 'code', text: '*' },
        { kind: 'text', text: ' file' },
      ],
    },
    { kind: 'text', text: ', see ' },
    { kind: 'link', href: 'y.md#z', children: [{ kind: 'code', text: 'x' }] },
    { kind: 'text', text: '.' },
  ]);
  const ids = readBlocks('# T\n## A b\n## A b').map((block) => 'id' in block && block.id);
  assert.deepEqual(ids, ['t', 'a-b', 'a-b-1']);
  assert.equal(anchorOf('When is `p=reject` safe?'), 'when-is-preject-safe');
});

test('Every link between chapters leads to a chapter and a heading', () => {
  const broken: string[] = [];
  for (const name of chapterNames())
    for (const href of textsOf(chapterOf(name)!.blocks).flatMap((text) =>
      linksOf(readSpans(text)),
    )) {
      const path = helpPath(name, href);
      // A file of the source is no page.
      if (path === null || /^https?:/.test(path)) continue;
      const [, chapter = '', anchor] = /^\/help\/([\w-]+)(?:#(.+))?$/.exec(path) ?? [];
      if (chapterOf(chapter) === null || (anchor && !anchorsOf(chapter).has(anchor)))
        broken.push(`${name}: ${href}`);
    }
  assert.deepEqual(broken, []);
  assert.equal(helpPath('api', '../CHANGELOG.md'), null);
  assert.equal(helpPath('api', 'check.svg'), null);
  assert.equal(helpPath('api', '#a'), '/help/api#a');
  assert.equal(helpPath('api', 'https://example.com/x.md'), 'https://example.com/x.md');
});

test('The list of chapters has every document by its question', () => {
  const linked = contents().flatMap((block) =>
    block.kind === 'list'
      ? textsOf(block.items.flat()).flatMap((text) => linksOf(readSpans(text)))
      : [],
  );
  assert.deepEqual(
    chapterNames().filter((name) => !linked.some((href) => href.startsWith(`${name}.md`))),
    [],
  );
  const groups = contents().flatMap((block) => (block.kind === 'heading' ? block.text : []));
  assert.deepEqual(groups, ['Start', 'Results', 'Watch', 'Operate', 'Develop']);
});

test('The search finds titles first, then the chapters with the most matches', () => {
  const paths = (q: string) => searchHelp(q).map(({ path }) => path);
  assert.equal(paths('webhooks')[0], '/help/webhooks');
  assert.equal(paths('Restore')[0], '/help/operations#restore-drill');
  assert.equal(paths('back up')[0], '/help/operations#back-up');
  assert.equal(paths('dmarc')[0], '/help/feedback');
  assert.ok(paths('spam rate postmaster').slice(0, 2).includes('/help/receivers'));
  for (const service of ['mailchimp', 'shopify', 'sendgrid'])
    assert.ok(
      paths(service).slice(0, 3).includes('/help/sending-services#records-of-each-service'),
      service,
    );
  assert.deepEqual(paths('xylophone'), []);
  assert.deepEqual(
    paths('test').filter((path) => /\/(architecture|development)/.test(path)),
    [],
  );
  for (const { title, path } of searchHelp('e')) assert.doesNotMatch(title, /[`*]|\]\(/, path);
});

test('README.md is no chapter, and neither is a name that objects have', () => {
  for (const name of ['README', 'constructor', '__proto__', '..', ''])
    assert.equal(chapterOf(name), null);
});

test('The documents are small in the executable', () => {
  const json = JSON.stringify(collectDocuments(ROOT));
  assert.ok(brotliCompressSync(json).length < 180_000);
  assert.ok(readFileSync(`${ROOT}/README.md`, 'utf8').length < 30_000);
});
