/** Finds the `style` elements of HTML before all else is read: they may come after what they style. */

import type { StyleElement } from './html-style-sheet.ts';
import { tokenizeHtml } from './html-tokens.ts';

const MAX_ELEMENTS = 1000;

/** In their order; those in conditional comments are for Outlook alone and not among them. */
export function styleElements(html: string): StyleElement[] {
  const found: StyleElement[] = [];
  if (!/<style/i.test(html)) return found;
  let pieces: string[] | null = null;
  let foreign = 0;
  tokenizeHtml(html, {
    open(name, attributes, selfClosing) {
      if ((name === 'svg' || name === 'math') && !selfClosing) foreign += 1;
      if (name !== 'style' || found.length >= MAX_ELEMENTS) return;
      pieces = [];
      const media = attributes.get('media') ?? '';
      found.push({ css: '', conditional: !/^\s*(?:all|screen)?\s*$/i.test(media) });
    },
    close(name) {
      if (name === 'svg' || name === 'math') foreign = Math.max(0, foreign - 1);
      if (pieces && name === 'style') found.at(-1)!.css = pieces.join('');
      pieces = null;
    },
    text: (piece) => pieces?.push(piece),
    broken() {},
    isForeign: () => foreign > 0,
  });
  return found;
}
