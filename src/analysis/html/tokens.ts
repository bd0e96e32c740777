/** Splits HTML into tags and text, and finds markup lost to an unclosed tag, quote or comment. */

import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

export type Attributes = ReadonlyMap<string, string>;

export interface TokenHandler {
  /** `start` and `end` are the positions of the tag in the HTML. */
  open(
    name: string,
    attributes: Attributes,
    selfClosing: boolean,
    start: number,
    end: number,
  ): void;
  close(name: string, start: number): void;
  /**
   * Text in pieces, with entities decoded. Includes the contents of `style`, `script` and similar.
   * `start` is the position of its first character; after an entity, of the character that follows.
   */
  text(piece: string, start: number): void;
  /** The content of a comment, or of a declaration such as `<![if mso]>`, and where it starts. */
  comment?(content: string, start: number): void;
  /** A problem in the markup itself, as a sentence. */
  broken(sentence: string): void;
  /** Whether an SVG or MathML element is open, in which `title` and `style` are ordinary elements. */
  isForeign(): boolean;
  /** Whether to stop. */
  isDone?(): boolean;
}

/** Attributes per tag that are read. */
const MAX_ATTRIBUTES = 1000;
/** Tags and attributes that are read, far more than ordinary mail has. */
const MAX_TAGS = 60_000;
const MAX_ALL_ATTRIBUTES = 240_000;
/** Characters of a tag or attribute name. */
const MAX_NAME_LENGTH = 100;
/** The approximate length of a piece of text without tags. */
const MAX_PIECE_LENGTH = 10_000;

/** Elements whose content has no tags (WHATWG HTML §13.1.2). */
const RAW_TEXT = new Set([
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

/** Shared by all tags without attributes. */
const NO_ATTRIBUTES = new Map<string, string>();

const NO_TEXT = { decoded: '', first: -1, start: 0, end: 0 };

interface TokenizerState {
  /** The current tag; its start is -1 between tags. */
  tag: { start: number; name: string; attributes: Map<string, string> };
  attribute: { name: string; value: string };
  /** The open element of `RAW_TEXT`, and where its content starts. */
  raw: { name: string; start: number };
  /** The start of an unclosed comment, else -1. */
  comment: number;
  /** Text not passed on yet: the decoded part, then the source from `start` to `end`. */
  text: { decoded: string; first: number; start: number; end: number };
  /** Tags and attributes left before the limit; tokenizing stops below 0. */
  remaining: { tags: number; attributes: number };
}

/**
 * Tokenizes `html` in linear time. Returns false if it stopped before the end. `isComplete` is false if
 * `html` is only the first part: then unclosed markup at its end is not reported.
 */
export function tokenizeHtml(html: string, handler: TokenHandler, isComplete = true): boolean {
  // Not the Parser of the same library: it shifts an array of open elements, which takes minutes for a
  // megabyte of nested elements.
  const state: TokenizerState = {
    tag: { start: -1, name: '', attributes: NO_ATTRIBUTES },
    attribute: { name: '', value: '' },
    raw: { name: '', start: 0 },
    comment: -1,
    text: { ...NO_TEXT },
    remaining: { tags: MAX_TAGS, attributes: MAX_ALL_ATTRIBUTES },
  };
  let stopped = false;
  const checkLimits = () => {
    const { tags, attributes } = state.remaining;
    if (tags >= 0 && attributes >= 0 && !handler.isDone?.()) return;
    stopped = true;
    tokenizer.pause();
  };
  const flush = () => {
    const { decoded, first, start, end } = state.text;
    Object.assign(state.text, NO_TEXT);
    if (decoded !== '' || end > start) handler.text(decoded + html.slice(start, end), first);
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ...tagCallbacks(html, handler, state, checkLimits, flush),
      ...attributeCallbacks(html, handler, state, checkLimits),
      ...contentCallbacks(html, handler, state, flush),
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  flush();
  if (stopped) return false;
  const unclosed = isComplete ? unclosedMarkup(html, state) : null;
  if (unclosed) handler.broken(`${unclosed}, so everything after it is lost.`);
  return true;
}

type TagCallbacks = 'onopentagname' | 'onopentagend' | 'onselfclosingtag' | 'onclosetag';

function tagCallbacks(
  html: string,
  handler: TokenHandler,
  state: TokenizerState,
  checkLimits: () => void,
  flush: () => void,
): Pick<TokenizerCallbacks, TagCallbacks> {
  const finish = (end: number, selfClosing: boolean) => {
    flush();
    const { name, attributes, start } = state.tag;
    state.tag.start = -1;
    if (RAW_TEXT.has(name) && !handler.isForeign()) state.raw = { name, start: end + 1 };
    handler.open(name, attributes, selfClosing, start - 1, end + 1);
    state.remaining.tags -= 1;
    checkLimits();
  };
  const nameAt = (start: number, end: number) =>
    html.slice(start, Math.min(end, start + MAX_NAME_LENGTH)).toLowerCase();
  return {
    onopentagname(start, end) {
      const name = nameAt(start, end);
      state.tag = { start, name: name === 'image' ? 'img' : name, attributes: NO_ATTRIBUTES };
    },
    onopentagend: (end) => finish(end, false),
    onselfclosingtag: (end) => finish(end, true),
    onclosetag(start, end) {
      flush();
      state.raw.name = '';
      const name = nameAt(start, end);
      const tagEnd = html.indexOf('>', end);
      if (tagEnd > end && html.slice(end, tagEnd).includes('<'))
        handler.broken(
          `The tag ${displayTag(`/${name}`)} has no closing “>”, so the next tag is lost.`,
        );
      handler.close(name, start - 2);
      state.remaining.tags -= 1;
      checkLimits();
    },
  };
}

type AttributeCallbacks = 'onattribname' | 'onattribdata' | 'onattribentity' | 'onattribend';

function attributeCallbacks(
  html: string,
  handler: TokenHandler,
  state: TokenizerState,
  checkLimits: () => void,
): Pick<TokenizerCallbacks, AttributeCallbacks> {
  return {
    onattribname(start, end) {
      const name = html.slice(start, end);
      if (name.includes('<'))
        handler.broken(
          `The tag ${displayTag(state.tag.name)} has no closing “>”, so the next tag is lost.`,
        );
      state.attribute.name = name.slice(0, MAX_NAME_LENGTH).toLowerCase();
      state.attribute.value = '';
      state.remaining.attributes -= 1;
      checkLimits();
    },
    onattribdata(start, end) {
      state.attribute.value += html.slice(start, end);
    },
    onattribentity(codePoint) {
      state.attribute.value += String.fromCodePoint(codePoint);
    },
    onattribend(quote, end) {
      const { tag } = state;
      const { name, value } = state.attribute;
      const quoted = quote === QuoteType.Single || quote === QuoteType.Double;
      if (quoted && TAG.test(value) && /[^\s/>]/.test(html.charAt(end)))
        handler.broken(
          `The tag ${displayTag(tag.name)} is missing a quotation mark, so text and tags become part of the value of “${name.slice(0, 40)}”.`,
        );
      if (tag.attributes === NO_ATTRIBUTES) tag.attributes = new Map();
      if (tag.attributes.size < MAX_ATTRIBUTES && !tag.attributes.has(name))
        tag.attributes.set(name, value);
    },
  };
}

function contentCallbacks(
  html: string,
  handler: TokenHandler,
  state: TokenizerState,
  flush: () => void,
): Omit<TokenizerCallbacks, TagCallbacks | AttributeCallbacks> {
  // Joins pieces, so that a megabyte of entities or stray `<` does not cause a million calls.
  const addText = (start: number, end: number) => {
    const { text } = state;
    if (text.first < 0) text.first = start;
    if (text.end !== start) {
      text.decoded += html.slice(text.start, text.end);
      text.start = start;
    }
    text.end = end;
    if (text.decoded.length + end - text.start > MAX_PIECE_LENGTH) flush();
  };
  const passComment = (start: number, end: number) => {
    if (!handler.comment) return;
    flush();
    handler.comment(html.slice(start, end), start);
  };
  return {
    ontext: addText,
    ontextentity(codePoint, end) {
      addText(end, end);
      state.text.decoded += String.fromCodePoint(codePoint);
    },
    oncdata(start, end, offset) {
      // Outside SVG and MathML, CDATA is a comment.
      if (handler.isForeign()) addText(start, end - offset);
    },
    oncomment(start, end, offset) {
      if (end === html.length) state.comment = start;
      passComment(start, end - offset);
    },
    ondeclaration: passComment,
    onprocessinginstruction() {},
    onend() {},
    isInForeignContext: () => handler.isForeign(),
  };
}

/** The unclosed markup at the end if it contains at least one tag, as a clause; else null. */
function unclosedMarkup(html: string, { tag, raw, comment }: TokenizerState): string | null {
  if (comment >= 0) return TAG.test(html.slice(comment)) ? 'A comment is never closed' : null;
  if (raw.name !== '')
    return TAG.test(html.slice(raw.start)) ? `${displayTag(raw.name)} is never closed` : null;
  return tag.start >= 0 && TAG.test(html.slice(tag.start))
    ? `The tag ${displayTag(tag.name)} is missing a quotation mark or “>”`
    : null;
}

const displayTag = (name: string): string => `<${name.slice(0, 40)}>`;
