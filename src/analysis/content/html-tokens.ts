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
}

/** More attributes than these on one tag are not looked at. */
const MAX_ATTRIBUTES = 1000;

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
}

/**
 * Cuts `html` into tokens, in linear time. `whole` is false where more follows that is not looked
 * at: then nothing is said about what is open at the end.
 */
export function tokenizeHtml(html: string, handler: TokenHandler, whole = true): void {
  // Why not the Parser of the same library: it keeps its open elements in an array that it shifts,
  // which takes minutes for a megabyte of nested elements.
  const reading: Reading = {
    tag: { start: -1, name: '', attributes: new Map() },
    attribute: { name: '', value: '' },
    raw: { name: '', start: 0 },
    comment: -1,
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ...tagCallbacks(html, handler, reading),
      ...attributeCallbacks(html, handler, reading),
      ...contentCallbacks(html, handler, reading),
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  const lost = whole ? swallowed(html, reading) : null;
  if (lost) handler.broken(`${lost}: everything after it is lost.`);
}

type TagCallbacks = 'onopentagname' | 'onopentagend' | 'onselfclosingtag' | 'onclosetag';

function tagCallbacks(
  html: string,
  handler: TokenHandler,
  reading: Reading,
): Pick<TokenizerCallbacks, TagCallbacks> {
  const finish = (end: number, selfClosing: boolean) => {
    const { name, attributes } = reading.tag;
    reading.tag.start = -1;
    if (RAW.has(name) && !handler.isForeign()) reading.raw = { name, start: end + 1 };
    handler.open(name, attributes, selfClosing);
  };
  return {
    onopentagname(start, end) {
      const name = html.slice(start, end).toLowerCase();
      reading.tag = { start, name: name === 'image' ? 'img' : name, attributes: new Map() };
    },
    onopentagend: (end) => finish(end, false),
    onselfclosingtag: (end) => finish(end, true),
    onclosetag(start, end) {
      reading.raw.name = '';
      const name = html.slice(start, end).toLowerCase();
      const tagEnd = html.indexOf('>', end);
      if (tagEnd > end && html.slice(end, tagEnd).includes('<'))
        handler.broken(`The tag ${shown(`/${name}`)} has no “>” at its end: the next tag is lost.`);
      handler.close(name);
    },
  };
}

type AttributeCallbacks = 'onattribname' | 'onattribdata' | 'onattribentity' | 'onattribend';

function attributeCallbacks(
  html: string,
  handler: TokenHandler,
  reading: Reading,
): Pick<TokenizerCallbacks, AttributeCallbacks> {
  return {
    onattribname(start, end) {
      reading.attribute = { name: html.slice(start, end).toLowerCase(), value: '' };
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
      if (name.includes('<'))
        handler.broken(`The tag ${shown(tag.name)} has no “>” at its end: the next tag is lost.`);
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
): Omit<TokenizerCallbacks, TagCallbacks | AttributeCallbacks> {
  return {
    ontext: (start, end) => handler.text(html.slice(start, end)),
    ontextentity: (codePoint) => handler.text(String.fromCodePoint(codePoint)),
    oncdata(start, end, offset) {
      // Outside of SVG and MathML it is a comment.
      if (handler.isForeign()) handler.text(html.slice(start, end - offset));
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
