/** Collects the links of HTML while it is read. */

import type { HtmlLink } from './html-facts.ts';
import type { StructureWatch } from './html-structure-watch.ts';
import { type TextSink, textSink } from './html-text.ts';
import type { Attributes } from './html-tokens.ts';
import { MAX_LINKS } from './link-limits.ts';
import { noteSurroundings } from './link-surroundings.ts';

interface LinkCollector {
  /** A link begins; `scope` is the place of the cell that it is in. */
  open(tag: 'a' | 'area', attributes: Attributes, scope: number): void;
  /** `</a>`. */
  close(): void;
  /** The element at that place ended, and a link that began in it with it. */
  leave(place: number): void;
  text(piece: string): void;
  /** The border of a block. */
  space(): void;
  /** An image in the link, by its alt text. */
  image(alt: string | null): void;
  /** The link that is open; its text is there once it has ended. */
  current(): HtmlLink | null;
  /** To be read when all HTML was. */
  links: HtmlLink[];
}

const MAX_TEXT = 2000;
const MAX_LABEL = 300;

interface OpenLink {
  /** null for an anchor without address, and for links beyond the limit. */
  link: HtmlLink | null;
  scope: number;
  text: TextSink;
  alt: TextSink | null;
}

export function collectLinks(structure: StructureWatch): LinkCollector {
  const links: HtmlLink[] = [];
  const around = noteSurroundings();
  let current: OpenLink | null = null;
  const end = () => {
    const link = current?.link;
    if (link) {
      const alt = current!.alt?.value() ?? '';
      link.text = current!.text.value() || alt;
      link.label = `${link.label} ${alt.slice(0, MAX_LABEL)}`.trim();
      around.follow(link);
    }
    current = null;
    return link;
  };
  const keep = (found: Pick<HtmlLink, 'href' | 'text' | 'tag'>, attributes: Attributes) => {
    if (links.length >= MAX_LINKS) return null;
    const link = { ...found, label: labelOf(attributes), before: around.before(), after: '' };
    links.push(link);
    return link;
  };
  return {
    open(tag, attributes, scope) {
      const address = attributes.get('href');
      const href = address === undefined ? null : address.trim();
      if (tag === 'area') {
        if (href === null) return;
        const link = keep({ href, text: attributes.get('alt')?.trim() ?? '', tag }, attributes);
        if (link) around.follow(link);
        return;
      }
      const open = end();
      if (open && href !== null) structure.linkInLink(named(open));
      const link = href === null ? null : keep({ href, text: '', tag }, attributes);
      current = { link, scope, text: textSink(MAX_TEXT), alt: null };
    },
    close: end,
    leave(place) {
      if (!current || place > current.scope) return;
      const open = end();
      if (open) structure.linkUnclosed(named(open));
    },
    text(piece) {
      around.add(piece);
      current?.text.add(piece);
    },
    space() {
      around.add(' ');
      current?.text.space();
    },
    image(alt) {
      if (alt) around.add(` ${alt} `);
      if (!alt || !current) return;
      current.alt ??= textSink(MAX_TEXT);
      current.alt.space();
      current.alt.add(alt);
    },
    current: () => current?.link ?? null,
    get links() {
      around.end();
      return links;
    },
  };
}

function labelOf(attributes: Attributes): string {
  const names = ['title', 'aria-label'].map((name) => attributes.get(name)?.slice(0, MAX_LABEL));
  return names.filter((name) => name !== undefined).join(' ');
}

function named({ text, href }: HtmlLink): string {
  const words = text || href;
  return `“${words.slice(0, 60)}${words.length > 60 ? '…' : ''}”`;
}
