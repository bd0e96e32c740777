/** What a report shows of a message as its readers see it: in the list, in email clients, as text, and read aloud. */

import { type WantedImage, wantedImages } from '../../analysis/html/image-urls.ts';
import type { Message, Part } from '../../analysis/mime/message.ts';
import { type AccessibilityView, accessibilityView } from './accessibility.ts';
import { PREVIEW_CLIENTS, type PreviewClient, type PreviewClientId } from './clients.ts';
import { type ImageSource, imageSource, type LoadedImage } from './images.ts';
import { type InboxLines, inboxLines } from './inbox-line.ts';
import {
  MAX_TEXT,
  type ShownText,
  type TextFormat,
  textAsShown,
  textFormatOf,
} from './plain-text.ts';
import { type RemovedFeature, RULES } from './removed-features.ts';
import { previewFor } from './rewrite.ts';

export const PREVIEW_THEMES = ['light', 'dark'] as const;
export type PreviewTheme = (typeof PREVIEW_THEMES)[number];
export const IMAGE_STATES = ['off', 'on'] as const;
export type ImageState = (typeof IMAGE_STATES)[number];

/** One way to look at the message. */
export interface PreviewChoice {
  client: PreviewClientId;
  theme: PreviewTheme;
  images: ImageState;
}

export interface ShownFrame extends PreviewChoice {
  /** Where the document is served, or its HTML; null if the report has no space for it. */
  source: { url: string } | { html: string } | null;
}

export interface ClientPreview {
  client: PreviewClient;
  removed: RemovedFeature[];
  /** The VML shapes that the client draws and this preview does not, or only as boxes; null without any. */
  undrawn: RemovedFeature | null;
  /** Of the HTML part; null if the client shows all of it. */
  clippedAtLine: number | null;
  truncated: boolean;
  frames: ShownFrame[];
}

/** The remote images of the message. */
export interface RemoteImages {
  /** Without tracking pixels. */
  count: number;
  trackingPixels: number;
  /** null if nobody has asked for the images. */
  loaded: { count: number; failed: { url: string; reason: string }[] } | null;
}

export interface MessagePreview {
  inbox: InboxLines;
  /** The BIMI logo as a data URI; null if it is not loaded. */
  logo: string | null;
  /** Empty without HTML. */
  clients: ClientPreview[];
  images: RemoteImages;
  /** null without a text part. */
  text: ShownText | null;
  /** null without HTML. */
  accessibility: AccessibilityView | null;
}

export interface MessagePreviewOptions {
  /** null if nobody has asked for the images. */
  images: readonly LoadedImage[] | null;
  /** Where the frames are served, or the length of all frames that the preview contains; null for no clients. */
  frames: { url(choice: PreviewChoice): string } | { maxCharacters: number } | null;
  /** For people outside the team: shortens addresses and removes secrets. */
  publicText?: (text: string) => string;
}

/** Never throws. Takes linear time. `embedded`: the parts of the message that its HTML shows. */
export function messagePreview(
  message: Message,
  options: MessagePreviewOptions,
): { preview: MessagePreview; embedded: ReadonlySet<Part> } {
  const { html, text, parts, from, subject } = message;
  const { images, frames } = options;
  const publicWords = options.publicText && memoized(options.publicText);
  const publicText = publicWords ?? ((words: string) => words);
  const wanted = html === null ? [] : wantedImages(html);
  const source = imageSource(parts, wanted, images);
  const shown = { source, hasImages: images !== null, publicText: publicWords };
  const clients = html === null || frames === null ? [] : clientPreviews(html, frames, shown);
  const publicOrNull = (words: string | null | undefined) => (words ? publicText(words) : null);
  const preview: MessagePreview = {
    inbox: inboxLines({
      fromName: publicOrNull(from[0]?.name),
      // The From address is public.
      fromAddress: from[0]?.address ?? null,
      subject: publicOrNull(subject),
      html,
      text,
      publicText,
    }),
    logo: source.logo(),
    clients,
    images: remoteImages(wanted, images, publicText),
    text: text === null ? null : shownText(text, textFormatOf(parts), publicWords),
    accessibility: html === null ? null : withPublicText(accessibilityView(html), publicText),
  };
  return { preview, embedded: source.embedded };
}

/** All frames have the same texts. */
function memoized(publicText: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const existing = known.get(text);
    if (existing !== undefined) return existing;
    const changed = publicText(text);
    if (known.size < MAX_KNOWN_TEXTS) known.set(text, changed);
    return changed;
  };
}

const MAX_KNOWN_TEXTS = 100_000;

function shownText(
  text: string,
  format: TextFormat,
  publicText: MessagePreviewOptions['publicText'],
): ShownText {
  if (!publicText) return textAsShown(text, format);
  const shown = textAsShown(publicText(text.slice(0, MAX_TEXT)), format);
  return {
    ...shown,
    // An address can be on two lines that clients join (RFC 3676).
    paragraphs: shown.paragraphs.map((paragraph) => ({
      ...paragraph,
      spans: paragraph.spans.map((span) => ({ ...span, text: publicText(span.text) })),
    })),
    truncated: shown.truncated || text.length > MAX_TEXT,
  };
}

const withPublicText = (
  view: AccessibilityView,
  publicText: (text: string) => string,
): AccessibilityView => ({
  ...view,
  language: view.language && publicText(view.language),
  title: view.title && publicText(view.title),
  items: view.items.map((item) => ({
    ...item,
    // The name of a file can say who the message was for.
    text: item.kind === 'file_name' ? '…' : publicText(item.text),
    link: item.link && publicText(item.link),
  })),
  problems: view.problems.map((problem) => ({
    ...problem,
    text: problem.kind === 'alt' ? '…' : publicText(problem.text),
    detail: publicText(problem.detail),
  })),
});

/** The HTML of one frame; null without HTML. */
export function previewFrame(
  { html, parts }: Message,
  choice: PreviewChoice,
  images: readonly LoadedImage[] | null,
): string | null {
  if (html === null) return null;
  const client = PREVIEW_CLIENTS.find(({ id }) => id === choice.client)!;
  const source = imageSource(parts, wantedImages(html), images);
  return frameOf(html, client, choice, { source }).html;
}

interface Shown {
  source: ImageSource;
  hasImages: boolean;
  publicText?: MessagePreviewOptions['publicText'];
}

const frameOf = (
  html: string,
  client: PreviewClient,
  { theme, images }: Pick<PreviewChoice, 'theme' | 'images'>,
  { source, publicText }: Pick<Shown, 'source' | 'publicText'>,
) =>
  previewFor(html, client, {
    theme,
    imageAt: (src) => source.imageAt(src, images === 'on'),
    publicText,
  });

function clientPreviews(
  html: string,
  frames: NonNullable<MessagePreviewOptions['frames']>,
  shown: Shown,
): ClientPreview[] {
  const isServed = 'url' in frames;
  // What a client removes depends neither on the theme nor on the images.
  const previews = PREVIEW_CLIENTS.map((client) => {
    const images = shown.hasImages ? 'on' : 'off';
    const first = frameOf(html, client, { theme: 'light', images }, shown);
    const found = shown.publicText ? first.removed.map(withoutSource) : first.removed;
    const choices = choicesOf(client.id, shown.hasImages, isServed);
    return {
      client,
      removed: found.filter(({ slug }) => slug !== RULES.vml.slug),
      undrawn: found.find(({ slug }) => slug === RULES.vml.slug) ?? null,
      clippedAtLine: first.clippedAtLine,
      truncated: first.truncated,
      frames: choices.map((choice): ShownFrame => {
        if (isServed) return { ...choice, source: { url: frames.url(choice) } };
        const frame = choice.theme === 'light' ? first : frameOf(html, client, choice, shown);
        return { ...choice, source: { html: frame.html } };
      }),
    };
  });
  if (!isServed) limitFrames(previews, frames.maxCharacters);
  return previews;
}

/** Without the text of the message. */
const withoutSource = (feature: RemovedFeature): RemovedFeature => ({
  ...feature,
  places: feature.places.map(({ line }) => ({ line, text: '' })),
});

/** A report that contains its frames has them with images or without, not both. */
function choicesOf(
  client: PreviewClientId,
  hasImages: boolean,
  isServed: boolean,
): PreviewChoice[] {
  const states: ImageState[] = hasImages ? (isServed ? ['on', 'off'] : ['on']) : ['off'];
  return PREVIEW_THEMES.flatMap((theme) => states.map((images) => ({ client, theme, images })));
}

/** Keeps the frames that fit, light ones first, in the order of the clients. */
function limitFrames(clients: ClientPreview[], max: number): void {
  let remaining = max;
  for (const theme of PREVIEW_THEMES)
    for (const { frames } of clients)
      for (const frame of frames) {
        if (frame.theme !== theme || !frame.source || !('html' in frame.source)) continue;
        remaining -= frame.source.html.length;
        if (remaining < 0) frame.source = null;
      }
}

function remoteImages(
  wanted: readonly WantedImage[],
  loaded: MessagePreviewOptions['images'],
  publicText: (text: string) => string,
): RemoteImages {
  const trackingPixels = wanted.filter(({ isTrackingPixel }) => isTrackingPixel).length;
  const content = loaded?.filter(({ kind }) => kind === 'content');
  return {
    count: wanted.length - trackingPixels,
    trackingPixels,
    loaded: content
      ? {
          count: content.filter(({ status }) => status === 'loaded').length,
          failed: content.flatMap(({ status, url, reason }) =>
            status === 'failed'
              ? [{ url: publicText(url), reason: reason ?? 'it could not be loaded' }]
              : [],
          ),
        }
      : null,
  };
}
