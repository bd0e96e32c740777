/** Writes the CSS of a message out again, without what a mail client lacks, and safe to show. */

import {
  type AddMarker,
  addAtRule,
  addPartMarkers,
  addSelector,
  type CssPart,
  cssParts,
  propertyOf,
} from '../../analysis/html/feature-markers.ts';
import type { DarkMode } from './clients.ts';
import { isSelfContained, splitSelectors, withoutTags, withSafeUrls } from './css-safety.ts';
import { colorUseOf, darkenValue } from './dark-colors.ts';
import type { FeatureInfo } from './removed-features.ts';

export interface CssContext {
  /** The features that the client lacks, by marker. */
  lacked: ReadonlyMap<string, FeatureInfo>;
  theme: 'light' | 'dark';
  /** How colors are inverted; `none` in the light theme. */
  darkMode: DarkMode;
  /** It hides what `mso-hide` hides. */
  isWord: boolean;
  /** Called for each feature that is removed; `position` is that in the CSS. */
  remove(feature: FeatureInfo, position: number, text: string): void;
  /** The data URI of an image that is shown. */
  imageAt(src: string): string | null;
  /** Changes the texts that styles show. */
  publicText(text: string): string;
  /** The message has a design for dark mode: `color-scheme: light dark`. */
  darkScheme(): void;
}

/** The class of links, which have no `href`. */
export const LINK_CLASS = 'preview--link';

/** At-rules whose block is kept; others are dropped by all clients, or load something. */
const KEPT_BLOCKS =
  /^@(?:media|supports|font-face|layer|container|page|(?:-(?:webkit|moz|o)-)?keyframes)\b/i;

interface Open {
  /** Where its output starts, and where its content does. */
  start: number;
  content: number;
  /** An at-rule that contains rules, not declarations. */
  isGroup: boolean;
  /** Nothing of it is written: a font that would load. */
  isDropped: boolean;
}

/**
 * `broken` says whether a brace is unmatched or an at-rule is inside another. `inRule`: the text contains
 * only declarations.
 */
export function rewriteCss(
  css: string,
  inRule: boolean,
  context: CssContext,
): { css: string; broken: boolean } {
  const out: string[] = [];
  const open: Open[] = [];
  // The depth of blocks inside a part that is dropped; 0 if none is.
  let skipped = 0;
  let broken = false;
  const close = () => {
    const block = open.pop();
    if (!block) return;
    if (block.isDropped || out.length === block.content) out.length = block.start;
    else out.push('}');
  };
  for (const part of cssParts(css, inRule)) {
    const { kind } = part;
    if (kind === 'close') {
      if (skipped > 0) skipped -= 1;
      else if (open.length > 0) close();
      else broken = true;
      continue;
    }
    const isLacked = recordLacked(part, context);
    const isOpening = kind === 'block' || kind === 'rule';
    if (skipped > 0) {
      if (isOpening) skipped += 1;
      continue;
    }
    if (kind === 'block' && open.length > 0) broken = true;
    const top = open.at(-1);
    const isPlaced = kind !== 'declaration' || (top ? !top.isGroup : inRule && open.length === 0);
    const text = isPlaced && !isLacked.all ? rewritePart(part, isLacked.selectors, context) : null;
    if (text === null) {
      if (isOpening) skipped = 1;
      else if (top && kind === 'declaration' && /^@font-face/.test(out[top.start] ?? ''))
        top.isDropped = true;
      continue;
    }
    const start = out.length;
    out.push(isOpening ? `${text}{` : `${text};`);
    if (isOpening)
      open.push({
        start,
        content: out.length,
        isGroup: kind === 'block' && !/^@(?:font-face|page)/.test(text),
        isDropped: false,
      });
  }
  if (open.length > 0 || skipped > 0) broken = true;
  while (open.length > 0) close();
  return { css: withoutTags(out.join('')), broken };
}

/** Reports the features of a part that the client lacks, and says whether all of it is removed. */
function recordLacked(
  part: CssPart,
  context: CssContext,
): { all: boolean; selectors: string[] | null } {
  const { lacked } = context;
  if (lacked.size === 0) return { all: false, selectors: null };
  const found = lackedOf(lacked, (add) => addPartMarkers(part, add));
  if (found.size === 0) return { all: false, selectors: null };
  for (const feature of found) context.remove(feature, part.start, part.text);
  if (part.kind !== 'rule' || (part.isNested && lacked.has('selector nested')))
    return { all: true, selectors: null };
  // A client drops only the selectors of a list that it does not know.
  const selectors = splitSelectors(part.text).filter((text) => !hasLacked(text, lacked));
  const isReduced = selectors.length > 0 && !hasLacked(selectors.join(','), lacked);
  return { all: !isReduced, selectors: isReduced ? selectors : null };
}

const hasLacked = (selector: string, lacked: CssContext['lacked']): boolean =>
  lackedOf(lacked, (add) => addSelector(selector, add)).size > 0;

/** The features of a media query, such as that of `<style media>`, that the client lacks. */
export const lackedInMedia = (media: string, { lacked }: CssContext): FeatureInfo[] => [
  ...lackedOf(lacked, (add) => addAtRule(`@media ${media}`, add)),
];

/** The features that the client lacks of those whose markers `addMarkers` adds. */
function lackedOf(
  lacked: CssContext['lacked'],
  addMarkers: (add: AddMarker) => void,
): Set<FeatureInfo> {
  const found = new Set<FeatureInfo>();
  addMarkers((marker) => {
    const feature = lacked.get(marker);
    if (feature) found.add(feature);
  });
  return found;
}

/** null if the part is not written. `selectors` are those of the part that stay, if not all do. */
function rewritePart(
  part: CssPart,
  selectors: string[] | null,
  context: CssContext,
): string | null {
  const { kind, text } = part;
  // `@import`, `@namespace` and `@charset` load something or have no effect here.
  if (kind === 'statement') return null;
  if (kind === 'declaration') return rewriteDeclaration(text, context);
  if (kind === 'block') {
    if (!KEPT_BLOCKS.test(text) || !isSelfContained(text)) return null;
    return resolveColorScheme(text, context.theme);
  }
  if (part.isKeyframe) return /^[\w\s.,%-]{1,200}$/.test(text) ? text : null;
  const kept = (selectors ?? splitSelectors(text))
    .filter(
      (selector) => selector !== '' && isSelfContained(selector) && isPublic(selector, context),
    )
    .map(withoutLinks);
  return kept.length > 0 ? kept.join(',') : null;
}

/** Whether a selector contains no address or secret. */
const isPublic = (selector: string, { publicText }: CssContext): boolean =>
  publicText(selector) === selector;

/** Links have no `href`, so they are neither `:link` nor `:visited`. */
const withoutLinks = (selector: string): string =>
  selector
    .replace(/(?<![\\:]):(?:link|any-link)(?![\w-])|\[\s{0,9}href\s{0,9}\]/gi, `.${LINK_CLASS}`)
    .replace(/(?<![\\:]):visited(?![\w-])/gi, ':not(*)');

function rewriteDeclaration(text: string, context: CssContext): string | null {
  const property = propertyOf(text);
  if (property === null) return null;
  const colon = text.indexOf(':');
  const name = text.slice(0, colon).trim();
  const value = text.slice(colon + 1).trim();
  if (context.isWord && property === 'mso-hide' && /^all\b/i.test(value)) return 'display:none';
  // Word's own properties mean nothing to a browser, nor do the hacks for Internet Explorer.
  if (property.startsWith('mso-') || /^[*_]/.test(name) || value === '') return null;
  // A font would load, and `local()` alone is not worth it.
  if (property === 'src') return null;
  if (property === 'color-scheme') return rewriteColorScheme(value, context);
  const safe = withSafeUrls(withPublicStrings(value, context), context.imageAt);
  if (safe === null) return null;
  const use = colorUseOf(property);
  return `${name}:${use === null ? safe : darkenValue(safe, use, context.darkMode)}`;
}

const withPublicStrings = (value: string, { publicText }: CssContext): string =>
  value.replace(STRING, (text, double?: string, single?: string) => {
    const inner = double ?? single ?? '';
    const shown = publicText(inner);
    return shown === inner ? text : JSON.stringify(shown.replace(/[\\"\n\r\f]/g, ''));
  });

/** Not that of a URL, which is not written. */
const STRING = /(?<!\(\s{0,9})(?:"((?:[^"\\\n]|\\.){0,5000})"|'((?:[^'\\\n]|\\.){0,5000})')/g;

/** The color scheme is that of the theme if the message has it, whatever the browser prefers. */
function rewriteColorScheme(value: string, context: CssContext): string {
  const hasDark = /\bdark\b/i.test(value);
  if (hasDark) context.darkScheme();
  const isDark = hasDark && (context.theme === 'dark' || !/\b(?:light|normal)\b/i.test(value));
  return `color-scheme:${isDark ? 'dark' : 'light'}`;
}

/** Replaces conditions on the color scheme by ones that always or never hold. */
export const resolveColorScheme = (media: string, theme: 'light' | 'dark'): string =>
  media.replace(
    /\(\s{0,9}prefers-color-scheme\s{0,9}(?::\s{0,9}([a-z-]{1,20})\s{0,9})?\)/gi,
    (_, scheme?: string) =>
      scheme === undefined || scheme.toLowerCase() === theme
        ? '(min-width:0)'
        : '(min-width:99999px)',
  );
