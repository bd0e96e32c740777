/** HTML cut into tags and text, and what of it is swallowed by a tag, quote or comment left open. */

import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

export type Attributes = ReadonlyMap<string, string>;

export interface TokenHandler {
  open(name: string, attributes: Attributes, selfClosing: boolean): void;
  close(name: string): void;
  /** Entities decoded; in pieces. The contents of `style`, `script` and their like come here too. */
  text(piece: string): void;
  /** What is wrong with the markup itself, as a sentence. */
  broken(sentence: string): void;
  /** Whether an SVG or MathML element is open, where `title` and `style` have no rules of their own. */
  isForeign(): boolean;
  /** Whether it wants no more. */
  isDone?(): boolean;
}

/** More attributes than these on one tag are not looked at. */
const MAX_ATTRIBUTES = 1000;
/** Start and end tags, and attributes, after which the rest is not looked at: far beyond honest mail. */
const MAX_TAGS = 60_000;
const MAX_ALL_ATTRIBUTES = 240_000;
/** Of the names of tags and attributes. */
const MAX_NAME = 100;
/** Text without a tag in it comes in pieces of about this length. */
const MAX_PIECE = 10_000;

/** Elements whose content has no tags (WHATWG HTML §13.1.2). */
const RAW = new Set([
  'iframe',
  'noembed',
  'noframes',
  'plaintext',
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
]);

const TAG = /<[/!]?[a-z]/i;

interface Reading {
  /** Of the tag that is being read; its start is -1 between tags. */
  tag: { start: number; name: string; attributes: Map<string, string> };
  attribute: { name: string; value: string };
  /** The open element of those above, and where its content starts. */
  raw: { name: string; start: number };
  /** Where an unclosed comment starts, else -1. */
  comment: number;
  /** Text that has not been handed on: what is decoded, then what is from `start` to `end` as it is. */
  text: { decoded: string; start: number; end: number };
  /** How many tags and attributes there may still be; negative ends it. */
  left: { tags: number; attributes: number };
}

/**
 * Cuts `html` into tokens, in linear time; false where it stopped before the end. `whole` is false
 * where more follows that is not looked at: then nothing is said about what is open at the end.
 */
export function tokenizeHtml(html: string, handler: TokenHandler, whole = true): boolean {
  // Why not the Parser of the same library: it keeps its open elements in an array that it shifts,
  // which takes minutes for a megabyte of nested elements.
  const reading: Reading = {
    tag: { start: -1, name: '', attributes: new Map() },
    attribute: { name: '', value: '' },
    raw: { name: '', start: 0 },
    comment: -1,
    text: { decoded: '', start: 0, end: 0 },
    left: { tags: MAX_TAGS, attributes: MAX_ALL_ATTRIBUTES },
  };
  let stopped = false;
  const watch = () => {
    const { tags, attributes } = reading.left;
    if (tags >= 0 && attributes >= 0 && !handler.isDone?.()) return;
    stopped = true;
    tokenizer.pause();
  };
  const flush = () => {
    const { decoded, start, end } = reading.text;
    reading.text = { decoded: '', start: 0, end: 0 };
    if (decoded !== '' || end > start) handler.text(decoded + html.slice(start, end));
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ...tagCallbacks(html, handler, reading, watch, flush),
      ...attributeCallbacks(html, handler, reading, watch),
      ...contentCallbacks(html, handler, reading, flush),
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  flush();
  if (stopped) return false;
  const lost = whole ? swallowed(html, reading) : null;
  if (lost) handler.broken(`${lost}: everything after it is lost.`);
  return true;
}

type TagCallbacks = 'onopentagname' | 'onopentagend' | 'onselfclosingtag' | 'onclosetag';

function tagCallbacks(
  html: string,
  handler: TokenHandler,
  reading: Reading,
  watch: () => void,
  flush: () => void,
): Pick<TokenizerCallbacks, TagCallbacks> {
  const finish = (end: number, selfClosing: boolean) => {
    flush();
    const { name, attributes } = reading.tag;
    reading.tag.start = -1;
    if (RAW.has(name) && !handler.isForeign()) reading.raw = { name, start: end + 1 };
    handler.open(name, attributes, selfClosing);
    reading.left.tags -= 1;
    watch();
  };
  const nameAt = (start: number, end: number) =>
    html.slice(start, Math.min(end, start + MAX_NAME)).toLowerCase();
  return {
    onopentagname(start, end) {
      const name = nameAt(start, end);
      reading.tag = { start, name: name === 'image' ? 'img' : name, attributes: new Map() };
    },
    onopentagend: (end) => finish(end, false),
    onselfclosingtag: (end) => finish(end, true),
    onclosetag(start, end) {
      flush();
      reading.raw.name = '';
      const name = nameAt(start, end);
      const tagEnd = html.indexOf('>', end);
      if (tagEnd > end && html.slice(end, tagEnd).includes('<'))
        handler.broken(`The tag ${shown(`/${name}`)} has no “>” at its end: the next tag is lost.`);
      handler.close(name);
      reading.left.tags -= 1;
      watch();
    },
  };
}

type AttributeCallbacks = 'onattribname' | 'onattribdata' | 'onattribentity' | 'onattribend';

function attributeCallbacks(
  html: string,
  handler: TokenHandler,
  reading: Reading,
  watch: () => void,
): Pick<TokenizerCallbacks, AttributeCallbacks> {
  return {
    onattribname(start, end) {
      const name = html.slice(start, end);
      if (name.includes('<'))
        handler.broken(
          `The tag ${shown(reading.tag.name)} has no “>” at its end: the next tag is lost.`,
        );
      reading.attribute = { name: name.slice(0, MAX_NAME).toLowerCase(), value: '' };
      reading.left.attributes -= 1;
      watch();
    },
    onattribdata(start, end) {
      reading.attribute.value += html.slice(start, end);
    },
    onattribentity(codePoint) {
      reading.attribute.value += String.fromCodePoint(codePoint);
    },
    onattribend(quote, end) {
      const { tag } = reading;
      const { name, value } = reading.attribute;
      const quoted = quote === QuoteType.Single || quote === QuoteType.Double;
      if (quoted && TAG.test(value) && /[^\s/>]/.test(html.charAt(end)))
        handler.broken(
          `A quotation mark is missing in the tag ${shown(tag.name)}: text and tags are taken for the value of “${name.slice(0, 40)}”.`,
        );
      if (tag.attributes.size < MAX_ATTRIBUTES && !tag.attributes.has(name))
        tag.attributes.set(name, value);
    },
  };
}

function contentCallbacks(
  html: string,
  handler: TokenHandler,
  reading: Reading,
  flush: () => void,
): Omit<TokenizerCallbacks, TagCallbacks | AttributeCallbacks> {
  // A megabyte of entities, or of signs that begin no tag, is one text and not a million of them.
  const addText = (start: number, end: number) => {
    const { text } = reading;
    if (text.end !== start) {
      text.decoded += html.slice(text.start, text.end);
      text.start = start;
    }
    text.end = end;
    if (text.decoded.length + end - text.start > MAX_PIECE) flush();
  };
  return {
    ontext: addText,
    ontextentity(codePoint, end) {
      addText(end, end);
      reading.text.decoded += String.fromCodePoint(codePoint);
    },
    oncdata(start, end, offset) {
      // Outside of SVG and MathML it is a comment.
      if (handler.isForeign()) addText(start, end - offset);
    },
    oncomment(start, end) {
      if (end === html.length) reading.comment = start;
    },
    ondeclaration() {},
    onprocessinginstruction() {},
    onend() {},
    isInForeignContext: () => handler.isForeign(),
  };
}

/** What is open at the end and has swallowed at least one tag. */
function swallowed(html: string, { tag, raw, comment }: Reading): string | null {
  if (comment >= 0) return TAG.test(html.slice(comment)) ? 'A comment is never closed' : null;
  if (raw.name !== '')
    return TAG.test(html.slice(raw.start)) ? `${shown(raw.name)} is never closed` : null;
  return tag.start >= 0 && TAG.test(html.slice(tag.start))
    ? `The tag ${shown(tag.name)} is never finished, a quotation mark or “>” is missing`
    : null;
}

const shown = (name: string): string => `<${name.slice(0, 40)}>`;
