/** Finds the merge tags of a template, complete or broken, in the syntaxes of common services and template engines. */

/** `value` prints something, `control` prints nothing, `comment` neither. `literal`: the engine leaves its text as it is. */
export type TagKind = 'value' | 'control' | 'comment' | 'literal';

export interface MergeTag {
  start: number;
  end: number;
  /** As written. */
  text: string;
  kind: TagKind;
  family: Family['name'];
  /** The text between the delimiters, without white space around it. */
  content: string;
}

export interface BrokenTag {
  start: number;
  /** As written, at most 60 characters. */
  text: string;
  /** What is wrong, after the tag: "is not closed with }}". */
  problem: string;
}

interface Family {
  name: 'braces' | 'statement' | 'comment' | 'bars' | 'percent' | 'server' | 'dollar' | 'brackets';
  open: string;
  close: string;
  /** What follows the opening delimiter of a tag that is not closed. Without it, the characters are ordinary text. */
  begins: RegExp | null;
  kind(content: string): TagKind;
}

const value = (): TagKind => 'value';
const FIELD = /^[-~=]?\s{0,5}["'#/^>&@$.!]?\s{0,5}[\p{L}_]/u;

/** The longest opening delimiter first. */
const FAMILIES: Family[] = [
  { name: 'comment', open: '{{!--', close: '--}}', begins: /^/, kind: () => 'comment' },
  { name: 'braces', open: '{{{', close: '}}}', begins: FIELD, kind: bracesKind },
  { name: 'braces', open: '{{', close: '}}', begins: FIELD, kind: bracesKind },
  { name: 'statement', open: '{%', close: '%}', begins: FIELD, kind: statementKind },
  // In minified styles, `{#` starts the selector of an ID.
  { name: 'comment', open: '{#', close: '#}', begins: null, kind: () => 'comment' },
  { name: 'bars', open: '*|', close: '|*', begins: /^[A-Za-z_]/, kind: barsKind },
  { name: 'percent', open: '%%[', close: ']%%', begins: /^/, kind: () => 'control' },
  { name: 'percent', open: '%%=', close: '=%%', begins: /^/, kind: value },
  { name: 'percent', open: '%%', close: '%%', begins: /^[A-Za-z_]\w*%(?!\w)/, kind: value },
  { name: 'server', open: '<%', close: '%>', begins: /^[-=@\s]{0,3}[\p{L}_@$]/u, kind: serverKind },
  { name: 'dollar', open: '${', close: '}', begins: /^\s{0,3}[\p{L}_]/u, kind: value },
  { name: 'brackets', open: '[[', close: ']]', begins: /^\s{0,3}[\p{L}_$]/u, kind: value },
  { name: 'brackets', open: '[%', close: '%]', begins: /^\s{0,3}[\p{L}_]/u, kind: value },
  { name: 'percent', open: '%', close: '%', begins: null, kind: value },
];
const OPENING = /\{\{!--|\{\{\{|\{\{|\{%|\{#|\*\||%%\[|%%=|%%|<%|\$\{|\[\[|\[%|%(?=[A-Za-z])/g;

function bracesKind(content: string): TagKind {
  if (/^[-~]?\s*!(?!!)/.test(content)) return 'comment';
  // `{{else}}`, `{{end}}` and `{{if .Name}}` are of Go; `{{#if name}}` and `{{> header}}` of Handlebars.
  return /^[-~]?\s*(?:[#/^>*]|(?:else|end|if|range|with|define|block|template)\b(?!\s*[|.=]))/.test(
    content,
  )
    ? 'control'
    : 'value';
}

/** These print something, so a link can consist of them: `{% unsubscribe_link %}`. */
const PRINTING_STATEMENT =
  /^-?\s*(?!include|extends|import|render|layout|module|widget|dnd|content)\w*(?:url|link|unsub|view|preferences|trans|cycle|now|year|static|path|firstof)\w*/i;

function statementKind(content: string): TagKind {
  return PRINTING_STATEMENT.test(content) ? 'value' : 'control';
}

function barsKind(content: string): TagKind {
  return /^(?:IF|IFNOT|ELSE|ELSEIF|END|INTERESTED|INTEREST|FEEDBLOCK|FEEDITEMS|RSSITEMS|POLL|SURVEY|RATE)\b(?=:|$)|^(?:IFNOT|IF) /i.test(
    content,
  )
    ? 'control'
    : 'value';
}

function serverKind(content: string): TagKind {
  return /^[=-]\s*(?!-?$)|^asm_|^body$|^subject$/.test(content) ? 'value' : 'control';
}

/** No tag is longer; code blocks of AMPscript can have a page of lines. */
const MAX_TAG = 4000;
const MAX_CODE = 20_000;
/** Of one text. What follows is not read. */
export const MAX_TAGS = 10_000;
/** Of each kind of problem in one text. */
export const MAX_BROKEN = 50;
const MAX_SHOWN = 60;

export interface ScannedText {
  tags: MergeTag[];
  broken: BrokenTag[];
}

/**
 * The tags in order, without overlaps. In the ranges of `quiet` (styles, scripts), only complete tags count, because
 * their own syntax has similar characters.
 */
export function scanTags(text: string, quiet: (position: number) => boolean): ScannedText {
  const tags: MergeTag[] = [];
  const broken: BrokenTag[] = [];
  // Tags and what is left of broken ones.
  const read: { start: number; end: number }[] = [];
  const report = (start: number, end: number, problem: string) => {
    if (broken.length < MAX_BROKEN && !quiet(start))
      broken.push({ start, text: excerpt(text.slice(start, end)), problem });
  };
  const closings = closingPositions(text);
  const endless = new Set<string>();
  OPENING.lastIndex = 0;
  for (let found = OPENING.exec(text); found; found = OPENING.exec(text)) {
    if (tags.length >= MAX_TAGS) break;
    const start = found.index;
    const result = readTag(text, start, found[0], closings);
    if (result === null) {
      OPENING.lastIndex = start + 1;
      continue;
    }
    const { tag, end, problem } = result;
    if (problem !== null) report(start, end, problem);
    if (tag) tags.push(tag);
    read.push({ start, end });
    OPENING.lastIndex = literalEnd(text, tag, endless) ?? end;
  }
  if (tags.length < MAX_TAGS) broken.push(...strayEnds(text, read, quiet));
  return { tags, broken };
}

type Closings = (close: string, from: number) => number;

/** Where a delimiter is next, from positions that mostly grow: each part of the text is searched once for each of them. */
function closingPositions(text: string): Closings {
  const known = new Map<string, { from: number; at: number }>();
  return (close, from) => {
    const last = known.get(close);
    if (last && last.from <= from && (last.at >= from || last.at < 0)) return last.at;
    const at = text.indexOf(close, from);
    known.set(close, { from, at });
    return at;
  };
}

interface ReadTag {
  tag: MergeTag | null;
  end: number;
  problem: string | null;
}

function readTag(
  text: string,
  start: number,
  opening: string,
  closings: Closings,
): ReadTag | null {
  const family = FAMILIES.find(({ open }) => open === opening)!;
  if (opening === '%') return readPercent(text, start, family);
  const { name, open, close, begins, kind } = family;
  // `50%%`: a percent sign after a number starts no tag.
  if (opening === '%%' && /[\p{N}%]/u.test(text[start - 1] ?? '')) return null;
  const bodyStart = start + open.length;
  const isCode = name === 'server' || open === '%%[' || name === 'comment';
  const body = text.slice(bodyStart, bodyStart + (isCode ? MAX_CODE : MAX_TAG));
  const content = contentOf(body, closings(close, bodyStart) - bodyStart, family);
  if (content === null) {
    if (!begins?.test(body)) return null;
    const end = bodyStart + (/^[^<>\n{}[\]"'%|]{0,50}[}\])|%]{0,2}/.exec(body)?.[0].length ?? 0);
    return { tag: null, end: Math.max(end, bodyStart), problem: `is not closed with ${close}` };
  }
  if (!isTagContent(content, family)) return null;
  const end = bodyStart + content.length + close.length;
  const tag = {
    start,
    end,
    text: text.slice(start, end),
    kind: kind(content.trim()),
    family: name,
    content: content.trim(),
  };
  const isTooLong = open === '{{' && text[end] === '}' && !opensBefore(text, start);
  if (isTooLong) return { tag, end: end + 1, problem: 'has one closing brace too many' };
  return { tag, end, problem: isCode ? null : contentProblem(content, family) };
}

/** Whether the closing brace after the tag belongs to one before it, as in `${{{name}}}` or a style. */
const opensBefore = (text: string, start: number): boolean =>
  /\{[^{}<>]{0,200}$/.test(text.slice(Math.max(0, start - 200), start));

/** `%recipient.name%`, `%FIRSTNAME%`: not after a number, and not the octets of a percent-encoded URL. */
function readPercent(text: string, start: number, family: Family): ReadTag | null {
  if (/[\p{L}\p{N}%]/u.test(text[start - 1] ?? '')) return null;
  const rest = text.slice(start, start + 100);
  const found = /^%([A-Za-z][\w.-]{2,60}(?::[\w.-]{1,40})?)%(?![0-9A-Fa-f]{2})/.exec(rest);
  if (found) {
    const end = start + found[0].length;
    const content = found[1]!;
    return {
      tag: { start, end, text: found[0], kind: 'value', family: family.name, content },
      end,
      problem: null,
    };
  }
  const open = /^%(?:recipient|contact|customer|subscriber)\.\w{1,40}(?![\w%.])/.exec(rest);
  return open && { tag: null, end: start + open[0].length, problem: 'is not closed with %' };
}

/** Up to the closing delimiter, which is at `end`; null without one before the next tag of the same kind. */
function contentOf(body: string, first: number, { open, close, name }: Family): string | null {
  let end = first;
  if (end < 0 || end + close.length > body.length) return null;
  // `{{{name}}}` in a `{{`: the last of three braces belongs to a value inside, as in `{{x.${y}}}`.
  const next = body.slice(0, end).indexOf(open);
  if (next < 0 && name === 'braces' && close === '}}' && body[end + 2] === '}') {
    const inner = body.slice(0, end);
    if (inner.split('{').length > inner.split('}').length) end += 1;
  }
  const inside = body.slice(0, end);
  if (next < 0 || name === 'comment' || isQuoted(inside, next)) return inside;
  // A tag in a tag, if another closing delimiter follows before the next opening one.
  const outer = body.indexOf(close, end + close.length);
  const following = body.indexOf(open, end + close.length);
  return outer >= 0 && outer - end < 60 && (following < 0 || following > outer)
    ? body.slice(0, outer)
    : null;
}

/** Whether the position is in quotes, as far as the text before it shows. */
const isQuoted = (text: string, position: number): boolean => {
  const before = text.slice(0, position);
  return before.split('"').length % 2 === 0 || before.split("'").length % 2 === 0;
};

/** Characters between delimiters that occur in ordinary text are no tag. */
function isTagContent(content: string, { open, close }: Family): boolean {
  if (open === '*|') return /^\s?[A-Za-z_][^|*\n]{0,400}$/.test(content);
  if (open === '%%') return /^\s?[\p{L}_@][\p{L}\p{N}_@. -]{0,60}$/u.test(content);
  if (close === ']]' || open === '[%') return /^[^<>\n]{1,200}$/.test(content);
  if (open === '${') return /^[^{}<>;]{1,200}$/.test(content);
  return content.trim() !== '';
}

const WITHOUT_QUOTED = /"[^"\n]{0,500}"|'[^'\n]{0,500}'|&quot;.{0,500}?&quot;/g;

function contentProblem(content: string, { open, close, name }: Family): string | null {
  const code = content.replace(WITHOUT_QUOTED, '""');
  const inner = code.includes(open) ? open : name === 'braces' ? '{%' : '{{';
  const isNested = name !== 'dollar' && name !== 'brackets' && code.includes(inner);
  if (isNested) return `has another merge tag inside: ${inner} before ${close}`;
  if (/<\/?[a-z][^<>]{0,200}>/i.test(code)) return 'has HTML inside';
  if (name !== 'braces' && name !== 'statement') return null;
  // Text editors replace quotes and spaces, and template engines do not understand the result.
  if (/[“”„‘’]/.test(code)) return 'has curly quotes inside';
  return /&nbsp;|\u00a0/.test(code) ? 'has a non-breaking space inside' : null;
}

/** `{% raw %}…{% endraw %}`: where the end tag starts; null if the tag starts no such block. `endless`: without an end. */
function literalEnd(text: string, tag: MergeTag | null, endless: Set<string>): number | null {
  const name = /^-?\s*(raw|verbatim|comment)\b/.exec(tag?.content ?? '')?.[1];
  if (tag?.family !== 'statement' || name === undefined || endless.has(name)) return null;
  const end = text.slice(tag.end).search(new RegExp(`\\{%-?\\s*end${name}\\b`));
  if (end >= 0) return tag.end + end;
  // Nor is there one further on.
  endless.add(name);
  return null;
}

/** A closing delimiter after a word, or one that an opening delimiter with too few characters precedes. */
const STRAY =
  /(?<!\{)\{[ \t]?[\p{L}_][\p{L}\p{N}_. ]{0,60}\}\}(?!\})|[\p{L}\p{N}_][ \t]?(?:\}\}|%\}|\|\*|%>)/gu;

function strayEnds(
  text: string,
  tags: { start: number; end: number }[],
  quiet: (position: number) => boolean,
): BrokenTag[] {
  const found: BrokenTag[] = [];
  let index = 0;
  for (const { 0: match, index: start } of text.matchAll(STRAY)) {
    if (found.length >= MAX_BROKEN) break;
    const end = start + match.length;
    while (index < tags.length && tags[index]!.end < start) index += 1;
    const isInTag = index < tags.length && tags[index]!.start < end && tags[index]!.end >= end;
    if (isInTag || quiet(start)) continue;
    const close = /(?:\}\}|%\}|\|\*|%>)$/.exec(match)![0];
    const open = FAMILIES.find((family) => family.close === close)!.open;
    const before = /[^\s<>"'(){}]{0,30}$/.exec(text.slice(Math.max(0, start - 30), start))![0];
    found.push({
      start,
      text: excerpt(match.startsWith('{') ? match : before + match),
      problem: `does not start with ${open}`,
    });
  }
  return found;
}

export const excerpt = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_SHOWN ? line : `${line.slice(0, MAX_SHOWN)}…`;
};
