/** What all parts of a preview share: its message, its client, its output and what was removed. */

import type { Attributes } from '../../analysis/html/tokens.ts';
import type { DarkMode, PreviewClient } from './clients.ts';
import { escapeText } from './html-vocabulary.ts';
import {
  collectRemoved,
  type FeatureInfo,
  lackedFeatures,
  lineFinder,
  type RemovedFeature,
} from './removed-features.ts';
import type { CssContext } from './rewrite-css.ts';

/** What the caller knows about an image. */
export type PreviewImage =
  | { kind: 'shown'; dataUri: string }
  | { kind: 'blocked' }
  | { kind: 'missing' }
  | { kind: 'tracking_pixel' };

export interface PreviewOptions {
  theme: 'light' | 'dark';
  /** `src` as written: `cid:…` or a remote URL. */
  imageAt(src: string): PreviewImage;
  /** For people outside the team: changes each text of the message. */
  publicText?: (text: string) => string;
}

/** A start tag and its place in the HTML. */
export interface Tag {
  name: string;
  attributes: Attributes;
  selfClosing: boolean;
  start: number;
  end: number;
}

export interface PreviewContext {
  html: string;
  client: PreviewClient;
  theme: 'light' | 'dark';
  /** How colors are inverted; `none` in the light theme. */
  darkMode: DarkMode;
  lacked: ReadonlyMap<string, FeatureInfo>;
  lineAt(position: number): number;
  write(html: string): void;
  /** Writes text of the message in its public form. */
  writeText(text: string): void;
  /** What follows does not continue the text before it. */
  endText(): void;
  output(): string;
  outputLength(): number;
  remove(feature: FeatureInfo, position: number, text: string): void;
  removed(): RemovedFeature[];
  /** Whether the client lacks the feature of a marker; then it is reported with the tag. */
  reportMarker(marker: string, tag: Tag): boolean;
  /** An image that is shown has a data URI without quotes or white space. */
  imageFor(src: string): PreviewImage;
  dataUriFor(src: string): string | null;
  /** The media type of the part that a `cid:` URL names, if it is shown. */
  typeOfPart(contentId: string): string | undefined;
  publicText(text: string): string;
  /** Cuts CSS to what is left of the limit. */
  withinLimit(css: string): string;
  /** For CSS that starts at the position that `start` returns. */
  cssContext(start: () => number): CssContext;
  /** The message has a design for dark mode. */
  hasDarkScheme(): boolean;
  setDarkScheme(): void;
  isTruncated(): boolean;
  setTruncated(): void;
}

/** Characters of image data in the output: one image can occur often. */
const MAX_IMAGE_DATA = 12 * 1024 * 1024;
/** Characters of CSS that are read. */
const MAX_CSS = 1_000_000;

/** Characters of text in which an address is searched across elements. */
const MAX_RUN = 20_000;

const DATA_IMAGE = /^data:image\/[a-z0-9.+-]{1,30};base64,[a-z0-9+/=]*$/i;

export function createContext(
  html: string,
  client: PreviewClient,
  { theme, imageAt, publicText }: PreviewOptions,
): PreviewContext {
  const lineAt = lineFinder(html);
  const lacked = lackedFeatures(client);
  const collector = collectRemoved(lineAt);
  const darkMode = theme === 'dark' ? client.darkMode : 'none';
  const makePublic = publicText ?? ((text: string) => text);
  const out: string[] = [];
  let length = 0;
  let truncated = false;
  let darkScheme = false;
  let imageDataLeft = MAX_IMAGE_DATA;
  let cssLeft = MAX_CSS;

  // The texts since the last `endText`, and where they are in the output.
  let run: { text: string; at: number }[] = [];
  let runLength = 0;

  const write = (text: string) => {
    out.push(text);
    length += text.length;
  };
  // An address can continue in another element: `jane@<wbr>shop.example`. If so, all of it is in the first.
  const endText = () => {
    if (!publicText || run.length === 0) return;
    const texts = run.map(({ text }) => publicText(text));
    const joined = texts.join('');
    const whole = run.length > 1 ? publicText(joined) : joined;
    const isSplit = whole !== joined;
    run.forEach(({ at }, i) => {
      out[at] = escapeText(isSplit ? (i === 0 ? whole : '') : texts[i]!);
      length += out[at].length;
    });
    run = [];
    runLength = 0;
  };
  const writeText = (text: string) => {
    if (!publicText) return write(escapeText(text));
    run.push({ text, at: out.length });
    write('');
    runLength += text.length;
    if (runLength > MAX_RUN) endText();
  };
  const imageFor = (src: string): PreviewImage => {
    const image: PreviewImage = DATA_IMAGE.test(src)
      ? { kind: 'shown', dataUri: src }
      : imageAt(src);
    if (image.kind !== 'shown') return image;
    if (!DATA_IMAGE.test(image.dataUri)) return { kind: 'missing' };
    imageDataLeft -= image.dataUri.length;
    if (imageDataLeft >= 0) return image;
    truncated = true;
    return { kind: 'blocked' };
  };
  const dataUriFor = (src: string): string | null => {
    const image = imageFor(src.trim());
    return image.kind === 'shown' ? image.dataUri : null;
  };
  const setDarkScheme = () => {
    darkScheme = true;
  };
  return {
    html,
    client,
    theme,
    darkMode,
    lacked,
    lineAt,
    write,
    writeText,
    endText,
    output() {
      endText();
      return out.join('');
    },
    outputLength: () => length,
    remove: collector.add,
    removed: collector.list,
    reportMarker(marker, { start, end }) {
      const feature = lacked.get(marker);
      if (feature) collector.add(feature, start, html.slice(start, end));
      return feature !== undefined;
    },
    publicText: makePublic,
    imageFor,
    dataUriFor,
    typeOfPart(contentId) {
      const image = imageAt(`cid:${contentId}`);
      return image.kind === 'shown' ? /^data:([^;,]*)/.exec(image.dataUri)?.[1] : undefined;
    },
    withinLimit(css) {
      const kept = css.slice(0, Math.max(0, cssLeft));
      truncated ||= kept.length < css.length;
      cssLeft -= css.length;
      return kept;
    },
    cssContext: (start) => ({
      lacked,
      theme,
      darkMode,
      isWord: client.isWord,
      publicText: makePublic,
      remove: (feature, position, text) => collector.add(feature, start() + position, text),
      imageAt: dataUriFor,
      darkScheme: setDarkScheme,
    }),
    hasDarkScheme: () => darkScheme,
    setDarkScheme,
    isTruncated: () => truncated,
    setTruncated() {
      truncated = true;
    },
  };
}
