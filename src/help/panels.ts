/** The help of each page of the web application: docs/pages.md has three sentences and some links for each. */

import type { HelpPanel } from '../ui/help-panel.tsx';
import { plainText } from './blocks.ts';
import { chapterOf, helpPath } from './chapters.ts';

const DOCUMENT = 'pages';
let panels: [page: RegExp, HelpPanel][] | undefined;

/** The panel of a page, by its path; null if docs/pages.md has none. */
export function helpPanelOf(path: string): HelpPanel | null {
  panels ??= readPanels();
  const page = path.split(/[?#]/)[0]!;
  return panels.find(([pattern]) => pattern.test(page))?.[1] ?? null;
}

/** `/tests/…` is the page of a test, and those below it. A longer path is more specific. */
function readPanels(): [RegExp, HelpPanel][] {
  const found: [path: string, HelpPanel][] = [];
  let title = '';
  for (const block of chapterOf(DOCUMENT)?.blocks ?? []) {
    const panel = found.at(-1)?.[1];
    const [, path] = /^`(\/.*)`$/.exec('text' in block ? block.text : '') ?? [];
    if (block.kind === 'heading') title = block.text;
    else if (path !== undefined) found.push([path, { title, text: '', links: [] }]);
    else if (block.kind === 'paragraph' && panel) panel.text = plainText(block.text);
    else if (block.kind === 'list' && panel) panel.links = block.items.flat().flatMap(linkOf);
  }
  return found
    .toSorted(([a], [b]) => b.length - a.length)
    .map(([path, panel]) => [
      new RegExp(path === '/' ? '^/$' : `^${path.replaceAll('…', '[^/]+')}(/|$)`),
      panel,
    ]);
}

function linkOf(block: { kind: string; text?: string }): HelpPanel['links'] {
  const [, text, href] = /^\[(.*)\]\((.*)\)$/.exec(block.text ?? '') ?? [];
  const path = href === undefined ? null : helpPath(DOCUMENT, href);
  return path === null ? [] : [{ text: plainText(text!), href: path }];
}
