/** Estimates how wide text is, and cuts it to a width as the lists of email clients do. */

/** A font without serifs, in CSS pixels. */
export interface TextStyle {
  size: number;
  bold: boolean;
}

export interface FittedText {
  /** With an ellipsis if it is cut. */
  shown: string;
  isCut: boolean;
  /** The pixels that its last line takes. */
  lastLineWidth: number;
}

/** Characters of the text that are read, far more than any list shows. */
const MAX_TEXT = 1000;
const ELLIPSIS = '…';

/** The start of the text that fits into lines of this width. Never splits an emoji or a letter with accents. */
export function fitText(
  text: string,
  { width, lines }: { width: number; lines: number },
  style: TextStyle,
): FittedText {
  const clusters = graphemesOf(text.slice(0, MAX_TEXT).toWellFormed());
  const widths = clusters.map((cluster) => clusterWidth(cluster, style));
  let start = 0;
  for (let line = 1; line < lines; line += 1) {
    const { end, breakAt, used } = lineFrom(start, clusters, widths, width);
    if (end === clusters.length)
      return { shown: clusters.join(''), isCut: false, lastLineWidth: used };
    start = breakAt > start ? breakAt : Math.max(end, start + 1);
  }
  let { end, used } = lineFrom(start, clusters, widths, width);
  if (end === clusters.length)
    return { shown: clusters.join(''), isCut: false, lastLineWidth: used };
  const limit = width - textWidth(ELLIPSIS, style);
  while (end > start && (used > limit || clusters[end - 1] === ' ')) {
    end -= 1;
    used -= widths[end]!;
  }
  const shown = end === 0 ? '' : `${clusters.slice(0, end).join('').trimEnd()}${ELLIPSIS}`;
  return { shown, isCut: true, lastLineWidth: width };
}

/** The line that starts at `start`: where its width ends, and the last place at which it can break. */
function lineFrom(start: number, clusters: string[], widths: number[], width: number) {
  let end = start;
  let used = 0;
  let breakAt = -1;
  while (end < clusters.length && used + widths[end]! <= width) {
    used += widths[end]!;
    if (BREAKS_AFTER.test(clusters[end]!)) breakAt = end + 1;
    end += 1;
  }
  // A space at the end of a line takes no width.
  if (clusters[end] === ' ') breakAt = end + 1;
  return { end, used, breakAt };
}

const BREAKS_AFTER = /^(?:[ -]|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}、。])/u;

export const textWidth = (text: string, style: TextStyle): number =>
  graphemesOf(text).reduce((sum, cluster) => sum + clusterWidth(cluster, style), 0);

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** What readers see as one character each. */
export const graphemesOf = (text: string): string[] =>
  Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);

// Widths of characters in thousandths of the font size. Those of ASCII are the metrics of Helvetica, to which
// the fonts of email clients (Arial, Roboto, San Francisco, Segoe UI) are close.

const REGULAR: [width: number, characters: string][] = [
  [191, "'"],
  [222, 'ijl‘’'],
  [260, '|'],
  [278, ' !,./:;I[\\]ft'],
  [333, '()-r`“”'],
  [334, '{}'],
  [355, '"'],
  [350, '•'],
  [389, '*'],
  [469, '^'],
  [500, 'Jcksvxyz'],
  [556, '#$0123456789?L_abdeghnopqu–€'],
  [584, '+<=>~'],
  [611, 'FTZßø'],
  [667, '&ABEKPSVXY'],
  [722, 'CDHNRUw'],
  [778, 'GOQØ'],
  [833, 'Mm'],
  [889, '%æ'],
  [944, 'W'],
  [1000, '—…Æ™'],
  [1015, '@'],
];
const BOLD: [width: number, characters: string][] = [
  [238, "'"],
  [278, ' ,./I\\ijl‘’'],
  [280, '|'],
  [333, '!()-:;[]ft`'],
  [350, '•'],
  [389, '*r{}'],
  [474, '"'],
  [500, 'z“”'],
  [556, '#$0123456789J_aceksvxy–€'],
  [584, '+<=>^~'],
  [611, '?FLTZbdghnopqußø'],
  [667, 'EPSVXY'],
  [722, '&ABCDHKNRU'],
  [778, 'GOQwØ'],
  [833, 'M'],
  [889, '%mæ'],
  [944, 'W'],
  [975, '@'],
  [1000, '—…Æ™'],
];

const byCharacter = (table: [number, string][]): Map<string, number> =>
  new Map(table.flatMap(([width, characters]) => [...characters].map((char) => [char, width])));
const WIDTHS = { regular: byCharacter(REGULAR), bold: byCharacter(BOLD) };

/** Scripts and symbols without a table, the average of each. */
const CLASSES: [pattern: RegExp, width: number][] = [
  [/\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}/u, 1250],
  [/^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]+$/u, 0],
  [/^[\uff61-\uffdc]/, 500],
  [
    /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u,
    1000,
  ],
  [/^\p{Lu}/u, 700],
  [/^[\p{sc=Arabic}\p{sc=Hebrew}]/u, 500],
  [/^\p{M}/u, 0],
];
const OTHER = 560;

function clusterWidth(cluster: string, { size, bold }: TextStyle): number {
  const table = bold ? WIDTHS.bold : WIDTHS.regular;
  const known = table.get(cluster) ?? table.get(cluster.slice(0, 8).normalize('NFD').charAt(0));
  const isPlain = known !== undefined && !/\ufe0f/.test(cluster.slice(0, 8));
  const width = isPlain
    ? known
    : (CLASSES.find(([pattern]) => pattern.test(cluster.slice(0, 50)))?.[1] ?? OTHER);
  return (width / 1000) * size;
}
