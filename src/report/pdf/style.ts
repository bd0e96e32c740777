/** The style of the PDF: page, font sizes, colors, and the style of each kind of span. */

import type { State } from '../../ui/components.tsx';
import type { Span, Text } from '../blocks.ts';
import type { TextStyle } from './lines.ts';
import type { StyledSpan } from './pieces.ts';

/** A4 in points with its margins. The footer is in the bottom margin. */
export const PAGE = { width: 595.28, height: 841.89, left: 48, right: 48, top: 44, bottom: 58 };
export const CONTENT_WIDTH = PAGE.width - PAGE.left - PAGE.right;

/** Text and background have a contrast of at least 4.5:1 in every combination. */
export const COLOR = {
  ink: '#1f2430',
  muted: '#5a6270',
  line: '#d8dce3',
  uncapped: '#b4bac6',
  tint: '#f4f5f8',
  failTint: '#fdf1f1',
  accent: '#4338ca',
} as const;

/** States differ by icon and color. The document adds the word. */
export const MARKS: Record<State, { icon: string; color: string }> = {
  pass: { icon: '✓', color: '#15803d' },
  warn: { icon: '!', color: '#a84a05' },
  fail: { icon: '✗', color: '#b91c1c' },
  info: { icon: 'i', color: '#1d4ed8' },
  unknown: { icon: '?', color: COLOR.muted },
};

/** Font sizes and line heights in points. */
export const BODY: TextStyle = { size: 8.5, leading: 11.5, face: 'sans', color: COLOR.ink };
export const SMALL: TextStyle = { size: 7, leading: 9.5, face: 'sans', color: COLOR.muted };
export const CODE: TextStyle = { size: 7.5, leading: 10.5, face: 'mono', color: COLOR.ink };
export const SMALL_CODE: TextStyle = { ...CODE, size: 7, leading: 9.5 };
/** Above a title: the kind of document. */
export const ABOVE: TextStyle = { ...SMALL, face: 'bold', color: COLOR.accent };
/** Above a group that is too small for a heading. */
export const LABEL: TextStyle = { ...SMALL, face: 'bold' };
/** By rank: title, section, subsections. */
export const HEADINGS: Record<1 | 2 | 3 | 4, TextStyle> = {
  1: { size: 14, leading: 18, face: 'bold', color: COLOR.ink },
  2: { size: 11.5, leading: 15, face: 'bold', color: COLOR.ink },
  3: { size: 9, leading: 12, face: 'bold', color: COLOR.ink },
  4: { size: 8.5, leading: 11.5, face: 'bold', color: COLOR.ink },
};

/** Internal links to names in `destinations` work; others become plain text. */
export const styled = (
  text: Text,
  destinations: ReadonlySet<string>,
  accent: string = COLOR.accent,
): StyledSpan[] =>
  text.flatMap((span) =>
    typeof span === 'string' ? [{ text: span }] : styledSpan(span, destinations, accent),
  );

function styledSpan(span: Span, destinations: ReadonlySet<string>, accent: string): StyledSpan[] {
  switch (span.kind) {
    case 'state': {
      const { icon, color } = MARKS[span.state];
      return [{ text: `${icon} ${span.word}`, face: 'bold', color }];
    }
    case 'link':
      return linkWithUrl(span, accent);
    case 'jump':
      if (!destinations.has(span.to)) return [{ text: span.text }];
      return [{ text: span.text, face: 'bold', color: accent, link: `#${span.to}` }];
    case 'text':
      if (span.style === 'strong') return [{ text: span.text, face: 'bold' }];
      return [span.style === 'muted' ? { text: span.text, color: COLOR.muted } : span];
    case 'code':
      return [{ text: span.text, face: 'mono' }];
    default:
      return [{ text: span.text }];
  }
}

/** The link text with its URL written out, for readers on paper. The URL is clickable. */
function linkWithUrl({ text, url }: { text: string; url: string }, accent: string): StyledSpan[] {
  const isClickable = /^https?:\/\/[\x21-\x7e]+$/.test(url);
  const address = { text: url, color: accent, ...(isClickable ? { link: url } : {}) };
  return text === url ? [address] : [{ text: `${text}  ` }, address];
}
