/** Collects the style elements of a message as a mail client keeps them. */

import type { PreviewContext, Tag } from './context.ts';
import { isSelfContained, withoutTags } from './css-safety.ts';
import { RULES } from './removed-features.ts';
import { lackedInMedia, resolveColorScheme, rewriteCss } from './rewrite-css.ts';

interface StyleWriter {
  /** The style sheets that the client keeps. */
  sheets: readonly string[];
  /** A style element starts. `isDropped`: it is inside an element that is not shown. */
  open(tag: Tag, media: string, isDropped: boolean): void;
  /** Returns whether the text belongs to a style element. */
  text(piece: string): boolean;
  close(name: string): void;
  /** An element or text, after which style elements are in the body. */
  sawElement(name: string): void;
}

/** Gmail keeps style elements up to this length, all together. */
const GMAIL_STYLE_LIMIT = 16_384;

/** Elements before the body. */
const HEAD_ELEMENTS = new Set('html head meta title link base script style noscript'.split(' '));

export function styleWriter(context: PreviewContext): StyleWriter {
  const { client, theme } = context;
  const sheets: string[] = [];
  let current: { tag: Tag; media: string; isDropped: boolean; pieces: string[] } | null = null;
  let inBody = false;
  let gmailLength = 0;

  const gmailRule = (length: number, isBroken: boolean) => {
    if (!client.isGmail) return null;
    if (inBody) return RULES.styleInBody;
    gmailLength += length;
    if (gmailLength > GMAIL_STYLE_LIMIT) return RULES.styleLimit;
    return isBroken ? RULES.unreadableStyle : null;
  };
  const finish = ({ tag, media, isDropped, pieces }: NonNullable<typeof current>) => {
    const text = pieces.join('');
    const css = context.withinLimit(text);
    const cssContext = context.cssContext(() => tag.end);
    const lackedMedia = media === '' ? [] : lackedInMedia(media, cssContext);
    for (const feature of lackedMedia)
      context.remove(feature, tag.start, `<style media="${media}">`);
    const { css: rewritten, broken } = rewriteCss(css, false, cssContext);
    const rule = gmailRule(text.length, broken);
    if (rule) context.remove(rule, tag.start, `<style>${text.slice(0, 200)}`);
    if (rule || lackedMedia.length > 0 || isDropped || rewritten === '') return;
    if (media === '') sheets.push(rewritten);
    else if (isSelfContained(media))
      sheets.push(`@media ${withoutTags(resolveColorScheme(media, theme))}{${rewritten}}`);
  };
  return {
    sheets,
    open(tag, media, isDropped) {
      current = { tag, media, isDropped, pieces: [] };
    },
    text(piece) {
      current?.pieces.push(piece);
      return current !== null;
    },
    close(name) {
      if (current && name === 'style') finish(current);
      current = null;
    },
    sawElement(name) {
      inBody ||= !HEAD_ELEMENTS.has(name);
    },
  };
}
