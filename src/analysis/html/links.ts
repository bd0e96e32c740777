/** Collects the links of HTML and the text around them. */

import { collapseSpace, type TextSink, textSink } from '../text.ts';
import type { StructureWatch } from './elements.ts';
import type { Attributes } from './tokens.ts';

export interface HtmlLink {
  /** The URL as written, with entities decoded, trimmed. */
  href: string;
  /** The visible text, else the alt text of its images; white space collapsed. */
  text: string;
  tag: 'a' | 'area';
  /** Other names: `title`, `aria-label`, and the alt text of its images; at most 900 characters. */
  label: string;
  /** The visible text before it, at most 120 characters, and after it, at most 60. */
  before: string;
  after: string;
}

interface LinkCollector {
  /** A link starts; `scope` is the position of its cell. */
  open(tag: 'a' | 'area', attributes: Attributes, scope: number): void;
  /** `</a>`. */
  close(): void;
  /** The element at that position ended, which also ends a link that started in it. */
  leave(position: number): void;
  text(piece: string): void;
  /** The edge of a block element. */
  space(): void;
  /** The alt text of an image in the link. */
  image(alt: string | null): void;
  /** The open link. Its text is only complete once it ends. */
  current(): HtmlLink | null;
  /** Complete once all HTML is read. */
  links: HtmlLink[];
}

const MAX_TEXT = 2000;
const MAX_LABEL = 300;

interface OpenLink {
  /** null for an anchor without `href`, and for links beyond the limit. */
  link: HtmlLink | null;
  scope: number;
  text: TextSink;
  alt: TextSink | null;
}

export function collectLinks(structure: StructureWatch): LinkCollector {
  const links: HtmlLink[] = [];
  const surroundings = collectSurroundings();
  let current: OpenLink | null = null;
  const end = () => {
    const link = current?.link;
    if (link) {
      const alt = current!.alt?.value() ?? '';
      link.text = current!.text.value() || alt;
      link.label = `${link.label} ${alt.slice(0, MAX_LABEL)}`.trim();
      surroundings.collectAfter(link);
    }
    current = null;
    return link;
  };
  const addLink = (base: Pick<HtmlLink, 'href' | 'text' | 'tag'>, attributes: Attributes) => {
    if (links.length >= MAX_LINKS) return null;
    const link = { ...base, label: labelOf(attributes), before: surroundings.before(), after: '' };
    links.push(link);
    return link;
  };
  return {
    open(tag, attributes, scope) {
      const address = attributes.get('href');
      const href = address === undefined ? null : address.trim();
      if (tag === 'area') {
        if (href === null) return;
        const link = addLink({ href, text: attributes.get('alt')?.trim() ?? '', tag }, attributes);
        if (link) surroundings.collectAfter(link);
        return;
      }
      const previous = end();
      if (previous && href !== null) structure.linkInLink(quote(previous));
      const link = href === null ? null : addLink({ href, text: '', tag }, attributes);
      current = { link, scope, text: textSink(MAX_TEXT), alt: null };
    },
    close: end,
    leave(position) {
      if (!current || position > current.scope) return;
      const unclosed = end();
      if (unclosed) structure.linkUnclosed(quote(unclosed));
    },
    text(piece) {
      surroundings.add(piece);
      current?.text.add(piece);
    },
    space() {
      surroundings.add(' ');
      current?.text.space();
    },
    image(alt) {
      if (alt) surroundings.add(` ${alt} `);
      if (!alt || !current) return;
      current.alt ??= textSink(MAX_TEXT);
      current.alt.space();
      current.alt.add(alt);
    },
    current: () => current?.link ?? null,
    get links() {
      surroundings.end();
      return links;
    },
  };
}

function labelOf(attributes: Attributes): string {
  const names = ['title', 'aria-label'].map((name) => attributes.get(name)?.slice(0, MAX_LABEL));
  return names.filter((name) => name !== undefined).join(' ');
}

function quote({ text, href }: HtmlLink): string {
  const words = text || href;
  return `“${words.slice(0, 60)}${words.length > 60 ? '…' : ''}”`;
}

// Collects the text before and after each link.

interface Surrounded {
  before: string;
  after: string;
}

interface Surroundings {
  /** Visible text. */
  add(piece: string): void;
  /** The text so far, its last 120 characters. */
  before(): string;
  /** Collects the text from here on as the text after the link. */
  collectAfter(link: Surrounded): void;
  /** There is no more text. */
  end(): void;
}

const MAX_BEFORE = 120;
const MAX_AFTER = 60;
/** Characters kept at each end of a piece of text: the rest is too far from any link. */
const MAX_KEPT = 400;
/** Each link copies the tail, so it must be short. */
const MAX_TAIL_LENGTH = 1000;

/** The time per piece does not depend on the number of links. */
function collectSurroundings(): Surroundings {
  let tail = '';
  // Characters removed from the start of `tail`. Positions count from the start of all text.
  let removed = 0;
  let endsWithSpace = true;
  // In the order of `from`.
  const pending: { link: Surrounded; from: number }[] = [];
  const setAfter = (until: number) => {
    while (pending.length > 0 && pending[0]!.from <= until) {
      const { link, from } = pending.shift()!;
      link.after = tail.slice(from - removed, from - removed + MAX_AFTER);
    }
  };
  return {
    add(piece) {
      const text = keepEnds(collapseSpace(keepEnds(piece, 4 * MAX_KEPT)), MAX_KEPT);
      const addition = endsWithSpace && text.startsWith(' ') ? text.slice(1) : text;
      if (addition === '') return;
      endsWithSpace = addition.endsWith(' ');
      tail += addition;
      const end = removed + tail.length;
      setAfter(end - MAX_AFTER);
      if (tail.length <= MAX_TAIL_LENGTH) return;
      removed += tail.length - MAX_BEFORE;
      tail = tail.slice(-MAX_BEFORE);
    },
    before: () => tail.slice(-MAX_BEFORE),
    collectAfter(link) {
      pending.push({ link, from: removed + tail.length });
    },
    end: () => setAfter(Number.POSITIVE_INFINITY),
  };
}

function keepEnds(text: string, length: number): string {
  return text.length <= 2 * length ? text : `${text.slice(0, length)} ${text.slice(-length)}`;
}

// Limits on the links of a message.

export const MAX_LINKS = 1000;

/** In characters. Longer URLs are not parsed, and most servers reject them. */
export const MAX_URL_LENGTH = 8192;
