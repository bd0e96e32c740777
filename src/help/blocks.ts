/** Reads the Markdown of the documents into blocks: only the part of the language that they use. */

export type Block =
  | { kind: 'heading'; level: number; text: string; id: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'list'; isOrdered: boolean; items: Block[][] }
  | { kind: 'table'; rows: string[][] };

const FENCE = /^( *)```/;
const HEADING = /^(#+) (.*)$/;
const ITEM = /^( *)([-*]|\d+\.) +/;
/** What can follow a paragraph without an empty line. As in CommonMark, a list only if it begins with 1. */
const INTERRUPTS = /^( *```|#+ |\||[-*] |1\. |$)/;
/** Comments that mark examples, and pictures, which are not part of the program. */
const SKIPPED = /^ *(<!--.*-->|!\[[^\]]*\]\([^)]*\))$/;
const PICTURES = /<p>\n( *<img [^>]*>\n)+<\/p>/g;
/** Folded parts, which are shown open. */
const FOLDS = /^(?:<details[^>]*>)?<summary>(.*)<\/summary>$/gm;
const FOLD_ENDS = /^<\/?details[^>]*>$/gm;

/** The blocks of a document. */
export function readBlocks(markdown: string): Block[] {
  const ids = new Map<string, number>();
  const plain = markdown.replace(PICTURES, '').replace(FOLDS, '\n**$1**\n').replace(FOLD_ENDS, '');
  return blocksOf(plain.split('\n'), (text) => {
    const id = anchorOf(text);
    const count = ids.get(id) ?? 0;
    ids.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  });
}

/** As GitHub does, so that links work there too. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

function blocksOf(lines: string[], newId: (heading: string) => string): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  const takeWhile = (isPart: (line: string) => boolean): string[] => {
    const start = at;
    while (at < lines.length && isPart(lines[at]!)) at += 1;
    return lines.slice(start, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const [, marks, heading] = HEADING.exec(line) ?? [];
    const [fence, indent = ''] = FENCE.exec(line) ?? [];
    const [marker] = ITEM.exec(line) ?? [];
    if (line.trim() === '' || SKIPPED.test(line)) at += 1;
    else if (heading !== undefined) {
      blocks.push({ kind: 'heading', level: marks!.length, text: heading, id: newId(heading) });
      at += 1;
    } else if (fence !== undefined) {
      at += 1;
      const code = takeWhile((next) => !FENCE.test(next)).map((next) => next.slice(indent.length));
      blocks.push({ kind: 'code', text: code.join('\n') });
      at += 1;
    } else if (line.startsWith('|')) {
      const [head, , ...rows] = takeWhile((next) => next.startsWith('|')).map(cellsOf);
      blocks.push({ kind: 'table', rows: [head!, ...rows] });
    } else if (marker !== undefined) {
      at += 1;
      const item = [line.slice(marker.length), ...takeWhile((next) => /^( {2}|$)/.test(next))];
      const content = blocksOf(
        item.map((next, i) => (i === 0 ? next : next.replace(/^ {2,3}/, ''))),
        newId,
      );
      const previous = blocks.at(-1);
      const isOrdered = /\d/.test(marker);
      if (previous?.kind === 'list' && previous.isOrdered === isOrdered)
        previous.items.push(content);
      else blocks.push({ kind: 'list', isOrdered, items: [content] });
    } else {
      at += 1;
      const isText = (next: string) => !INTERRUPTS.test(next) && !SKIPPED.test(next);
      const text = [line, ...takeWhile(isText)].map((each) => each.trim()).join(' ');
      blocks.push({ kind: 'paragraph', text });
    }
  }
  return blocks;
}

const cellsOf = (line: string): string[] =>
  line
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());

/** A part of a line. `href` as in the document. */
export type Span =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'strong'; children: Span[] }
  | { kind: 'em'; children: Span[] }
  | { kind: 'link'; href: string; children: Span[] };

const SPAN = [
  /(?<ticks>`+)(?<code>.+?)\k<ticks>(?!`)/,
  /<code>(?<html>.+?)<\/code>/,
  /\[(?<label>(?:`[^`]*`|[^\]])+)\]\((?<href>[^)\s]+)\)/,
  /<(?<url>https?:[^>\s]+)>/,
  /\*\*(?<strong>(?:`[^`]*`|.)+?)\*\*/,
  /(?<!\w)\*(?<em>[^*\s](?:[^*]*[^*\s])?)\*(?!\w)/,
]
  .map(({ source }) => source)
  .join('|');

/** The parts of a paragraph, a heading or a cell. */
export function readSpans(text: string): Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (const { index, 0: whole, groups = {} } of text.matchAll(new RegExp(SPAN, 'g'))) {
    if (index > end) spans.push({ kind: 'text', text: text.slice(end, index) });
    end = index + whole.length;
    const { code, html, label, href, url, strong, em } = groups;
    if (url !== undefined)
      spans.push({ kind: 'link', href: url, children: [{ kind: 'text', text: url }] });
    else if (href !== undefined) spans.push({ kind: 'link', href, children: readSpans(label!) });
    else if (strong !== undefined) spans.push({ kind: 'strong', children: readSpans(strong) });
    else if (em !== undefined) spans.push({ kind: 'em', children: readSpans(em) });
    else spans.push({ kind: 'code', text: code?.trim() ?? html!.replaceAll('&#124;', '|') });
  }
  if (end < text.length) spans.push({ kind: 'text', text: text.slice(end) });
  return spans;
}

/** Without marks, for titles and the search. */
export const plainText = (text: string): string => readSpans(text).map(textOf).join('');
const textOf = (span: Span): string =>
  'text' in span ? span.text : span.children.map(textOf).join('');
