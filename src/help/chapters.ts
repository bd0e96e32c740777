/** The chapters of the help: the documents, what the search finds in them, and the list of all. */

import { type Block, plainText, readBlocks } from './blocks.ts';
import { documents } from './documents.ts';

export const HELP_PATH = '/help';

export interface Chapter {
  title: string;
  blocks: Block[];
}

const read = new Map<string, Chapter | null>();

/** A document of docs/ by its name; null if there is none. */
export function chapterOf(name: string): Chapter | null {
  const known = read.get(name);
  if (known !== undefined) return known;
  const all = documents();
  if (name === 'README' || !Object.hasOwn(all, name)) return null;
  const [title, ...blocks] = readBlocks(all[name]!);
  const chapter = title?.kind === 'heading' ? { title: plainText(title.text), blocks } : null;
  read.set(name, chapter);
  return chapter;
}

export const chapterNames = (): string[] =>
  Object.keys(documents()).filter((name) => chapterOf(name) !== null);

/**
 * The path of a link in a document of docs/; null for files that only the source has. Other addresses stay as they are.
 */
export function helpPath(chapter: string, href: string): string | null {
  if (/^[a-z]+:/.test(href)) return href;
  const [, name, hash = ''] = /^(?:([\w-]+)\.md)?(#.*)?$/.exec(href) ?? [];
  if (name === undefined && hash === '') return null;
  return `${HELP_PATH}/${name ?? chapter}${hash}`;
}

interface Entry {
  title: string;
  detail: string | null;
  path: string;
  text: string;
}

/** For people who change the program; what they say would hide what members look for. */
const NOT_FOUND = ['architecture', 'development'];
let entries: Entry[] | undefined;

/** Chapters and their sections that contain all words: first those with all in the title, then those with the most. */
export function searchHelp(q: string): Omit<Entry, 'text'>[] {
  entries ??= chapterNames()
    .filter((name) => !NOT_FOUND.includes(name))
    .flatMap(entriesOf);
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const count = (text: string, word: string) => text.split(word).length - 1;
  return entries
    .map(({ text, ...entry }) => {
      const title = entry.title.toLowerCase();
      const isNamed = words.every((word) => title.includes(word));
      const fewest = Math.min(...words.map((word) => count(text, word)));
      return { entry, rank: fewest === 0 ? 0 : fewest + (isNamed ? 1e6 / title.length : 0) };
    })
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ entry }) => entry);
}

function entriesOf(name: string): Entry[] {
  const { title, blocks } = chapterOf(name)!;
  const path = `${HELP_PATH}/${name}`;
  const start: Entry = { title, detail: null, path, text: textOf(title, blocks) };
  const sections = blocks.flatMap((block, i): Entry[] => {
    if (block.kind !== 'heading') return [];
    const end = blocks.findIndex(({ kind }, j) => j > i && kind === 'heading');
    const own = textOf(title, blocks.slice(i, end < 0 ? undefined : end));
    return [
      { title: plainText(block.text), detail: title, path: `${path}#${block.id}`, text: own },
    ];
  });
  return [start, ...sections];
}

function textOf(title: string, blocks: Block[]): string {
  const textsOf = (some: Block[]): string[] =>
    some.flatMap((block) => {
      if (block.kind === 'list') return textsOf(block.items.flat());
      return block.kind === 'table' ? block.rows.flat() : [block.text];
    });
  return [title, ...textsOf(blocks)].join('\n').toLowerCase();
}

/** The list of chapters by question, which README.md has as a table. */
export function contents(): Block[] {
  const table = /^## Documents\n[^|]*([\s\S]*?)\n## /m.exec(documents().README ?? '')?.[1] ?? '';
  const list = table
    .replaceAll('](docs/', '](')
    .replace(/^\|(?: question |-+)\|.*$/gm, '')
    .replace(/^\| \*\*(.*)\*\* \| \|$/gm, '\n## $1\n')
    .replace(/^\| (.*) \| (.*) \|$/gm, '- $2: $1');
  return readBlocks(list);
}
