/** Collects the links of HTML while it is read. */

import { type TextSink, textSink } from '../text.ts';
import type { StructureWatch } from './elements.ts';
import type { Attributes } from './tokens.ts';

export interface HtmlLink {
  /** The address as written, entities decoded, white space at its ends taken off. */
  href: string;
  /** What a reader sees of it: the text between its tags, or the alt text of an image in it; white space collapsed. */
  text: string;
  tag: 'a' | 'area';
  /** What else names it: its `title` and `aria-label`, and the alt text of its images; at most 900 characters. */
  label: string;
  /** The text that a reader sees before it, at most 120 characters, and after it, at most 60. */
  before: string;
  after: string;
}

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

// Notes the text before and after each link while HTML is read.

interface Surrounded {
  before: string;
  after: string;
}

interface Surroundings {
  /** A piece of text that a reader sees. */
  add(piece: string): void;
  /** What was read last, at most 120 characters. */
  before(): string;
  /** From here on comes what is after the link. */
  follow(link: Surrounded): void;
  /** No more text comes. */
  end(): void;
}

const BEFORE = 120;
const AFTER = 60;
/** What is kept of a piece at its start and its end: more is neither before nor after a link. */
const KEPT = 400;
const MAX_TAIL_LENGTH = 8000;

/** Takes the same time for each piece, however many links there are. */
function noteSurroundings(): Surroundings {
  let tail = '';
  // How much was cut off the tail: places count from the start of all that was kept.
  let cut = 0;
  let spaced = true;
  let waiting: { link: Surrounded; from: number }[] = [];
  const settle = (until: number) => {
    const done = waiting.filter(({ from }) => from <= until);
    for (const { link, from } of done) link.after = tail.slice(from - cut, from - cut + AFTER);
    waiting = waiting.slice(done.length);
  };
  return {
    add(piece) {
      const text = shortened(shortened(piece, 4 * KEPT).replace(/\s+/g, ' '), KEPT);
      const kept = spaced && text.startsWith(' ') ? text.slice(1) : text;
      if (kept === '') return;
      spaced = kept.endsWith(' ');
      tail += kept;
      const end = cut + tail.length;
      if (waiting.length > 0 && waiting[0]!.from <= end - AFTER) settle(end - AFTER);
      if (tail.length <= MAX_TAIL_LENGTH) return;
      cut += tail.length - BEFORE;
      tail = tail.slice(-BEFORE);
    },
    before: () => tail.slice(-BEFORE),
    follow(link) {
      waiting.push({ link, from: cut + tail.length });
    },
    end: () => settle(Number.POSITIVE_INFINITY),
  };
}

function shortened(text: string, kept: number): string {
  return text.length <= 2 * kept ? text : `${text.slice(0, kept)} ${text.slice(-kept)}`;
}

// How many links of a message are looked at, and how long one may be.

export const MAX_LINKS = 1000;

/** In characters; longer ones are not read, and most servers refuse them. */
export const MAX_URL = 8192;
