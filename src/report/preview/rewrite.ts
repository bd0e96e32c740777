/** Shows the HTML of a message as a mail client does: without what the client lacks, and in its theme. */

import { CLIP_OCTETS } from '../../analysis/checks/html-size.ts';
import { mediaOf } from '../../analysis/html/style-sheet.ts';
import { type TokenHandler, tokenizeHtml } from '../../analysis/html/tokens.ts';
import type { PreviewClient } from './clients.ts';
import { holdsInOutlook, readConditionalComment } from './conditional-comments.ts';
import { createContext, type PreviewContext, type PreviewOptions, type Tag } from './context.ts';
import { BREAKOUT_ELEMENTS, INLINE_ELEMENTS } from './html-vocabulary.ts';
import { baseStyle, CLIP_LINE } from './preview-style.ts';
import type { RemovedFeature } from './removed-features.ts';
import { elementWriter } from './write-element.ts';
import { styleWriter } from './write-style.ts';

export type { PreviewImage, PreviewOptions } from './context.ts';

export interface Preview {
  /** It loads nothing and runs nothing; for the frame that `messageDocument` makes. */
  html: string;
  removed: RemovedFeature[];
  /** The line at which Gmail clips the message; null if it shows all. */
  clippedAtLine: number | null;
  /** The HTML exceeds a limit: the rest is neither shown nor searched. */
  truncated: boolean;
}

/** Characters of HTML that are read, and of output. */
const MAX_HTML = 5_000_000;
const MAX_OUTPUT = 10_000_000;
/** Characters of text that are written at once. */
const TEXT_STEP = 50_000;
/** Tags and comments. */
const MAX_TAGS = 60_000;

/** Rewrites the decoded HTML part of a message. Takes linear time and never throws. */
export function previewFor(html: string, client: PreviewClient, options: PreviewOptions): Preview {
  const isCut = html.length > MAX_HTML;
  const source = isCut ? html.slice(0, MAX_HTML) : html;
  const writer = createWriter(createContext(source, client, options));
  const isRead = tokenizeHtml(source, writer.handlerAt(0), !isCut);
  return writer.finish(isCut || !isRead);
}

function createWriter(context: PreviewContext) {
  const { html, client } = context;
  const clipAt = client.isGmail ? clipPosition(html) : null;
  const styles = styleWriter(context);
  const elements = elementWriter(context);
  let tags = 0;
  let isClipped = false;
  // Conditional comments that are open around content that Outlook does not show.
  let hiddenConditions = 0;
  // The element that is dropped with its content, and how many of its name are open.
  const dropped = { name: '', depth: 0 };

  /** Content that the client does not show: after the clip, or for other clients. */
  const isHidden = (start: number): boolean => {
    if (hiddenConditions > 0) return true;
    if (clipAt === null || start < clipAt) return false;
    isClipped = true;
    return true;
  };
  /** Whether a dropped element is open, of which the tag is a part. */
  const isDropping = (name: string, isOpening: boolean): boolean => {
    if (dropped.depth === 0) return false;
    if (/^(?:svg|math)$/.test(dropped.name) && isOpening && BREAKOUT_ELEMENTS.has(name))
      dropped.depth = 0;
    else if (name === dropped.name) dropped.depth += isOpening ? 1 : -1;
    else return true;
    return dropped.depth > 0 || !isOpening;
  };
  /** Handles the tokens of a part of the HTML that starts at `base`. */
  const handlerAt = (base: number): TokenHandler => ({
    open(name, attributes, selfClosing, partStart, partEnd) {
      tags += 1;
      const tag = { name, attributes, selfClosing, start: base + partStart, end: base + partEnd };
      elements.countForeign(tag);
      if (isHidden(tag.start)) return;
      if (!INLINE_ELEMENTS.has(name)) context.endText();
      const isDropped = isDropping(name, true);
      if (name === 'style') {
        elements.report(tag);
        styles.open(tag, mediaOf(attributes), isDropped);
      } else if (isDropped) elements.report(tag);
      else if (elements.open(tag) && !isClosed(tag)) Object.assign(dropped, { name, depth: 1 });
      if (!isDropped) styles.sawElement(name);
    },
    close(name, partStart) {
      tags += 1;
      elements.leaveForeign(name);
      if (isHidden(base + partStart)) return;
      if (!INLINE_ELEMENTS.has(name)) context.endText();
      styles.close(name);
      if (!isDropping(name, false)) elements.close(name);
    },
    text(piece, partStart) {
      const start = base + partStart;
      if (isHidden(start) || styles.text(piece) || dropped.depth > 0) return;
      const shown = clipAt === null ? piece : piece.slice(0, clipAt - start);
      if (shown.trim() !== '') styles.sawElement('text');
      // Between tags, nothing else ends the output, and escaping makes text up to six times as long.
      for (let at = 0; at < shown.length; ) {
        if (context.outputLength() > MAX_OUTPUT) return context.setTruncated();
        const space = shown.lastIndexOf(' ', at + TEXT_STEP);
        const end = at + TEXT_STEP < shown.length && space > at ? space + 1 : at + TEXT_STEP;
        context.writeText(shown.slice(at, end));
        at = end;
      }
    },
    comment(content, partStart) {
      tags += 1;
      const comment = client.isWord ? readConditionalComment(content) : null;
      if (comment === null || dropped.depth > 0) return;
      const isTrue = comment.kind !== 'end' && holdsInOutlook(comment.condition);
      if (comment.kind === 'end') hiddenConditions = Math.max(0, hiddenConditions - 1);
      else if (comment.kind === 'hidden') {
        const start = base + partStart + comment.start;
        // Comments do not nest: inside another, it is broken.
        if (isTrue && hiddenConditions === 0 && base === 0)
          tokenizeHtml(comment.content, handlerAt(start), false);
      } else if (hiddenConditions > 0 || !isTrue) hiddenConditions += 1;
    },
    broken() {},
    isForeign: elements.isForeign,
    isDone() {
      const isOver = tags > MAX_TAGS || context.outputLength() > MAX_OUTPUT;
      if (isOver) context.setTruncated();
      return isOver;
    },
  });
  return {
    handlerAt,
    finish(isCut: boolean): Preview {
      if (isClipped) context.write(`${elements.closingTags()}${CLIP_LINE}`);
      const { isDark, linkColor } = elements.page();
      const sheets = [baseStyle(client.font, isDark, linkColor), ...styles.sheets];
      const head = sheets.map((css) => `<style>${css}</style>`).join('');
      return {
        html: `<head>${head}</head>${context.output()}`,
        removed: context.removed(),
        clippedAtLine: isClipped && clipAt !== null ? context.lineAt(clipAt) : null,
        truncated: isCut || context.isTruncated(),
      };
    },
  };
}

/** Only formulas and SVG images can close themselves. */
const isClosed = ({ name, selfClosing }: Tag): boolean =>
  selfClosing && (name === 'svg' || name === 'math');

/** Where the first 102 KB of the HTML end; null if it is shorter. */
function clipPosition(html: string): number | null {
  if (html.length * 3 <= CLIP_OCTETS) return null;
  let octets = 0;
  for (let i = 0; i < html.length; i += 1) {
    const code = html.charCodeAt(i);
    // Each half of a surrogate pair is two of its four octets.
    octets += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
    if (octets > CLIP_OCTETS) return i;
  }
  return null;
}
