/** Writes the elements of a message out again as a mail client shows them. */

import { VOID } from '../../analysis/html/elements.ts';
import {
  ANCHOR_MARKER,
  attributeMarker,
  elementMarker,
  imageMarker,
  isAnchorLink,
} from '../../analysis/html/feature-markers.ts';
import { bestCandidate } from '../../analysis/html/image-urls.ts';
import type { PreviewContext, PreviewImage, Tag } from './context.ts';
import { isSelfContained } from './css-safety.ts';
import { type ColorUse, darkenAttribute } from './dark-colors.ts';
import {
  BREAKOUT_ELEMENTS,
  DROPPED_ELEMENTS,
  escapeText,
  isKeptAttribute,
  KEPT_ELEMENTS,
  REPLACED_ELEMENTS,
  SVG_ELEMENTS,
} from './html-vocabulary.ts';
import { badge, MEDIA_LABELS, TRACKING_PIXEL } from './preview-style.ts';
import { RULES } from './removed-features.ts';
import { LINK_CLASS, resolveColorScheme, rewriteCss } from './rewrite-css.ts';

interface ElementWriter {
  /** Writes a start tag; true if the element is dropped with its content. */
  open(tag: Tag): boolean;
  close(name: string): void;
  /** Reports what the client lacks of a tag that is not written. */
  report(tag: Tag): void;
  countForeign(tag: Tag): void;
  leaveForeign(name: string): void;
  /** Whether an SVG image or a formula is open. */
  isForeign(): boolean;
  /** Closes the open elements, so that what follows is below the message. */
  closingTags(): string;
  /** Whether the page is dark unless the message says otherwise, and the color of its links. */
  page(): { isDark: boolean; linkColor: string | null };
}

/** Open elements that are remembered. */
const MAX_OPEN = 500;
const MAX_ATTRIBUTE = 5000;

/** Declarations and classes that come before those of the element. */
interface Extra {
  css?: string;
  classes?: string;
}

export function elementWriter(context: PreviewContext): ElementWriter {
  const { client, theme, darkMode, lacked, write } = context;
  const attributes = attributeWriter(context, () => foreign > 0);
  const open: string[] = [];
  let foreign = 0;
  let linkColor: string | null = null;

  const push = (name: string) => {
    if (!VOID.has(name) && open.length < MAX_OPEN) open.push(name);
  };
  const writeTag = (name: string, tag: Tag, extra: Extra = {}) => {
    write(`<${name}${attributes(tag, extra)}>`);
    push(name);
    return false;
  };
  const openBody = (tag: Tag) => {
    const background = readColorAttribute(context, tag.attributes.get('bgcolor'), 'background');
    const text = readColorAttribute(context, tag.attributes.get('text'), 'text');
    linkColor ??= readColorAttribute(context, tag.attributes.get('link'), 'text');
    // Attributes would be weaker than the base style.
    const css = [
      background ? `background-color:${background};` : '',
      text ? `color:${text};` : '',
      backgroundImage(context, tag),
    ].join('');
    if (!client.isGmail) return writeTag('body', tag, { css });
    // Gmail replaces the element by a `div` after a `u`, which messages use to address Gmail alone.
    write('<body style="margin:0"><u></u>');
    return writeTag('div', tag, { css });
  };
  const openSvg = (tag: Tag, isLacked: boolean) => {
    if (isLacked) {
      attributes(tag);
      return !tag.selfClosing;
    }
    const written = attributes(tag);
    if (!SVG_ELEMENTS.has(tag.name)) return tag.name === 'title';
    write(`<${tag.name}${written}${tag.selfClosing ? '/>' : '>'}`);
    if (!tag.selfClosing) push(tag.name);
    return false;
  };
  const openSource = (tag: Tag) => {
    const url = bestCandidate(tag.attributes.get('srcset') ?? '') ?? '';
    const media = tag.attributes.get('media') ?? '';
    attributes(tag);
    if (open.at(-1) !== 'picture' || url === '' || !isSelfContained(media)) return;
    const image = context.dataUriFor(url);
    if (image !== null)
      write(`<source srcset="${image}" media="${escapeText(resolveColorScheme(media, theme))}">`);
  };
  const openMedia = (tag: Tag) => {
    const poster = context.dataUriFor(tag.attributes.get('poster') ?? '');
    const rest = attributes(tag);
    write(poster === null ? badge(MEDIA_LABELS[tag.name]!) : `<img src="${poster}"${rest}>`);
    return true;
  };
  /** Draws the rectangles that stand for buttons and backgrounds, without their images. */
  const openVml = (tag: Tag) => {
    context.remove(RULES.vml, tag.start, context.html.slice(tag.start, tag.end));
    if (!VML_BOXES.has(tag.name) || tag.selfClosing) return;
    write(`<div style="${escapeText(vmlBoxStyle(context, tag))}">`);
    push('div');
  };
  const openOther = (tag: Tag): boolean => {
    const { name } = tag;
    const replacement = Object.hasOwn(REPLACED_ELEMENTS, name)
      ? REPLACED_ELEMENTS[name]
      : undefined;
    if (replacement)
      return writeTag(replacement, tag, { classes: replacement === 'span' ? CONTROL_CLASS : '' });
    if (!KEPT_ELEMENTS.has(name)) {
      attributes(tag);
      if (client.isWord && name.startsWith('v:')) openVml(tag);
      return false;
    }
    const isLink = name === 'a' && tag.attributes.has('href');
    const css = backgroundImage(context, tag);
    return writeTag(name, tag, isLink ? { css, classes: LINK_CLASS } : { css });
  };
  const openSpecial: Record<string, ((tag: Tag) => unknown) | undefined> = {
    body: openBody,
    html: (tag) => {
      write(`<html${attributes(tag)}>`);
      return false;
    },
    head: (tag) => void attributes(tag),
    img: (tag) => writeImage(context, tag, attributes),
    source: openSource,
    video: openMedia,
    audio: openMedia,
    input: (tag) => writeInput(context, tag, attributes),
    select: (tag) => {
      write(`<span${attributes(tag, { classes: CONTROL_CLASS })}>▾</span>`);
      return true;
    },
    meta: (tag) => {
      attributes(tag);
      if (isDarkSchemeMeta(tag)) context.setDarkScheme();
    },
  };
  const report = (tag: Tag) => {
    context.reportMarker(elementMarker(tag.name), tag);
    attributes(tag);
  };
  return {
    open(tag) {
      const { name } = tag;
      const isLacked = context.reportMarker(elementMarker(name), tag);
      if (isAnchorLink(tag.attributes.get('href') ?? '')) context.reportMarker(ANCHOR_MARKER, tag);
      if (foreign > 0 || name === 'svg') return openSvg(tag, isLacked);
      if (DROPPED_ELEMENTS.has(name)) {
        attributes(tag);
        return true;
      }
      if (isLacked) {
        attributes(tag);
        // The choices of a list are no text.
        return name === 'select';
      }
      return (Object.hasOwn(openSpecial, name) ? openSpecial[name]! : openOther)(tag) === true;
    },
    close(name) {
      if (lacked.has(elementMarker(name)) || /^(?:html|head|body)$/.test(name)) return;
      const replaced = Object.hasOwn(REPLACED_ELEMENTS, name) ? REPLACED_ELEMENTS[name]! : name;
      const written = client.isWord && VML_BOXES.has(name) ? 'div' : replaced;
      if (VOID.has(written)) return;
      if (!KEPT_ELEMENTS.has(written) && !SVG_ELEMENTS.has(written)) return;
      const position = open.lastIndexOf(written);
      if (position >= 0) open.length = position;
      write(`</${written}>`);
    },
    report,
    countForeign({ name, selfClosing }) {
      if (foreign > 0 && BREAKOUT_ELEMENTS.has(name)) foreign = 0;
      if ((name === 'svg' || name === 'math') && !selfClosing) foreign += 1;
    },
    leaveForeign(name) {
      if (name === 'svg' || name === 'math') foreign = Math.max(0, foreign - 1);
    },
    isForeign: () => foreign > 0,
    closingTags: () =>
      open
        .toReversed()
        .map((name) => `</${name}>`)
        .join(''),
    page: () => ({
      isDark:
        darkMode !== 'none' ||
        (theme === 'dark' && context.hasDarkScheme() && !lacked.has('color-scheme')),
      linkColor,
    }),
  };
}

const CONTROL_CLASS = 'preview--control';

const VML_BOXES = new Set(['v:rect', 'v:roundrect']);

/** The size, color and corners of a rectangle. */
function vmlBoxStyle(context: PreviewContext, { name, attributes }: Tag): string {
  const style = (attributes.get('style') ?? '').slice(0, MAX_ATTRIBUTE);
  const sizeOf = (side: string) =>
    Number(
      new RegExp(`(?:^|[;\\s])${side}\\s{0,9}:\\s{0,9}(\\d{1,4})px`, 'i').exec(style)?.[1] ?? 0,
    );
  const width = sizeOf('width');
  const height = sizeOf('height');
  const color = readColorAttribute(context, attributes.get('fillcolor'), 'background');
  const arc = Number.parseFloat(attributes.get('arcsize') ?? '0') / 100 || 0;
  const isButton = name === 'v:roundrect' && height > 0;
  return [
    isButton ? 'display:inline-flex;align-items:center;justify-content:center' : 'display:block',
    ...(width > 0 ? [`width:${width}px;max-width:100%`] : []),
    ...(height > 0 ? [`min-height:${height}px`] : []),
    ...(color ? [`background-color:${color}`] : []),
    ...(isButton ? [`border-radius:${Math.round(Math.min(arc, 0.5) * height)}px`] : []),
  ].join(';');
}

// Attributes.

type AttributeWriter = (tag: Tag, extra?: Extra) => string;

const COLOR_ATTRIBUTES: Record<string, ColorUse | undefined> = {
  bgcolor: 'background',
  bordercolor: 'background',
  color: 'text',
  text: 'text',
};

/** Writes the attributes that the client keeps and that load nothing, and reports the others it lacks. */
function attributeWriter(context: PreviewContext, isSvg: () => boolean): AttributeWriter {
  const { html, darkMode } = context;
  const inlineStyle = (css: string, tag: Tag): string => {
    // Searched once for each attribute: a style can have as many removed declarations as its tag has characters.
    let found: number | null = null;
    const start = () => {
      found ??= Math.max(0, html.slice(tag.start, tag.end).indexOf(css.slice(0, 200)));
      return tag.start + found;
    };
    return rewriteCss(context.withinLimit(css), true, context.cssContext(start)).css;
  };
  const publicNames = (value: string): string =>
    value
      .split(/\s+/)
      .filter((name) => context.publicText(name) === name)
      .join(' ');
  const shownValue = (name: string, value: string): string | null => {
    const use = Object.hasOwn(COLOR_ATTRIBUTES, name) ? COLOR_ATTRIBUTES[name] : undefined;
    if (use) return darkenAttribute(value, use, darkMode);
    return /url\s*\(/i.test(value) && !/^url\(#[\w-]{1,100}\)$/.test(value) ? null : value;
  };
  return (tag, { css = '', classes = '' } = {}) => {
    let text = '';
    let style = css;
    let names = classes;
    for (const [name, value] of tag.attributes) {
      const isLacked = context.reportMarker(attributeMarker(name), tag);
      if (name === 'style') style += inlineStyle(value, tag);
      else if (isLacked || !isKeptAttribute(name, tag.name, isSvg())) continue;
      else if (name === 'class')
        names = `${names} ${publicNames(value.slice(0, MAX_ATTRIBUTE))}`.trim();
      else {
        const kept = shownValue(name, value.slice(0, MAX_ATTRIBUTE));
        if (kept !== null) text += ` ${name}="${escapeText(context.publicText(kept))}"`;
      }
    }
    if (names !== '') text += ` class="${escapeText(names)}"`;
    return style === '' ? text : `${text} style="${escapeText(style)}"`;
  };
}

/** A color as a CSS value; null if there is none. */
function readColorAttribute(
  { darkMode }: PreviewContext,
  text: string | undefined,
  use: ColorUse,
): string | null {
  const value = text?.slice(0, 50).trim() ?? '';
  if (!/^(?:#?[\da-z]{3,20}|(?:rgb|hsl)a?\([\d.,%\s]{1,40}\))$/i.test(value)) return null;
  const color = darkenAttribute(value, use, darkMode);
  return /^[\da-f]{6}$/i.test(color) ? `#${color}` : color;
}

/** The attribute `background`, if its image is shown. */
function backgroundImage({ lacked, dataUriFor }: PreviewContext, { attributes }: Tag): string {
  const url = attributes.get('background')?.trim() ?? '';
  const image = url === '' || lacked.has('background-image') ? null : dataUriFor(url);
  return image === null ? '' : `background-image:url("${image}");`;
}

function isDarkSchemeMeta({ attributes }: Tag): boolean {
  const name = (attributes.get('name') ?? '').trim().toLowerCase();
  const content = (attributes.get('content') ?? '').slice(0, 200);
  return /^(?:supported-)?color-schemes?$/.test(name) && /\bdark\b/i.test(content);
}

// Images and form controls.

function writeImage(context: PreviewContext, tag: Tag, attributes: AttributeWriter): void {
  // Without `src`, the image of `srcset` that is loaded for the preview.
  const { src: only, srcset } = Object.fromEntries(tag.attributes);
  const src = only?.trim() || bestCandidate(srcset ?? '') || '';
  const isLacked = src !== '' && context.reportMarker(imageMarker(src, context.typeOfPart), tag);
  const image: PreviewImage = src === '' ? { kind: 'missing' } : context.imageFor(src);
  if (image.kind === 'tracking_pixel') {
    attributes(tag);
    context.write(TRACKING_PIXEL);
  } else if (image.kind === 'shown' && !isLacked)
    context.write(`<img src="${image.dataUri}"${attributes(tag)}>`);
  else context.write(`<img${attributes(tag, { classes: 'preview--blocked' })}>`);
}

const TOGGLES: Record<string, string | undefined> = { checkbox: '☐', radio: '○' };

/** Writes an input as text in a frame. */
function writeInput(context: PreviewContext, tag: Tag, attributes: AttributeWriter): void {
  const type = (tag.attributes.get('type') ?? 'text').trim().toLowerCase();
  const rest = attributes(tag, { classes: CONTROL_CLASS });
  if (type === 'hidden') return;
  const { value = '', placeholder = '' } = Object.fromEntries(tag.attributes);
  const text = (Object.hasOwn(TOGGLES, type) && TOGGLES[type]) || value || placeholder;
  context.write(
    `<span${rest}>${escapeText(context.publicText(text.slice(0, 500))) || '&nbsp;'}</span>`,
  );
}
