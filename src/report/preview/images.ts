/** The images of a message in its preview: parts of the message, images that the service loaded, tracking pixels. */

import { imageUrlOf, type WantedImage } from '../../analysis/html/image-urls.ts';
import type { Part } from '../../analysis/mime/message.ts';
import type { PreviewImage } from './rewrite.ts';

/** A remote image that was loaded, or why it was not. */
export interface LoadedImage {
  kind: 'content' | 'bimi_logo';
  /** As `imageUrlOf` returns it. */
  url: string;
  status: 'loaded' | 'tracking_pixel' | 'failed';
  /** As a clause; null if it was loaded. */
  reason: string | null;
  mediaType: string | null;
  bytes: Uint8Array | null;
}

/** Image types that browsers support. The type becomes part of the HTML, so any other text must not match. */
const IMAGE_TYPES = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/;

export interface ImageSource {
  /** The image at a `cid:` or remote URL. `showsRemote`: whether remote images are shown if they were loaded. */
  imageAt(src: string, showsRemote: boolean): PreviewImage;
  /** The parts of the message that its documents show. */
  embedded: ReadonlySet<Part>;
  /** The BIMI logo of the sender as a data URI; null if it was not loaded. */
  logo(): string | null;
}

/** `wanted`: the remote images of the HTML. `loaded`: null if nobody asked for them. */
export function imageSource(
  parts: readonly Part[],
  wanted: readonly WantedImage[],
  loaded: readonly LoadedImage[] | null,
): ImageSource {
  const inline = new Map(
    parts.flatMap((part) =>
      part.contentId && IMAGE_TYPES.test(part.type) ? [[part.contentId, part] as const] : [],
    ),
  );
  const pixels = new Set(wanted.flatMap((image) => (image.isTrackingPixel ? [image.url] : [])));
  const remote = new Map(loaded?.map((image) => [image.url, image]));
  const embedded = new Set<Part>();
  const uriOf = dataUris();
  const loadedUri = (image: LoadedImage | undefined): string | null =>
    image?.bytes && IMAGE_TYPES.test(image.mediaType ?? '')
      ? uriOf(image, image.mediaType!, image.bytes)
      : null;

  function inlineUri(src: string): string | null {
    const id = src.slice('cid:'.length);
    const part = inline.get(id) ?? inline.get(decodedId(id));
    if (!part) return null;
    embedded.add(part);
    return uriOf(part, part.type, part.content);
  }

  return {
    embedded,
    logo: () => loadedUri(loaded?.find(({ kind }) => kind === 'bimi_logo')),
    imageAt(written, showsRemote) {
      const src = written.trim();
      if (/^cid:/i.test(src)) return shownOrMissing(inlineUri(src));
      const url = imageUrlOf(src);
      if (url === null) return { kind: 'missing' };
      if (pixels.has(url)) return { kind: 'tracking_pixel' };
      return showsRemote && loaded !== null
        ? shownOrMissing(loadedUri(remote.get(url)))
        : { kind: 'blocked' };
    },
  };
}

const shownOrMissing = (dataUri: string | null): PreviewImage =>
  dataUri === null ? { kind: 'missing' } : { kind: 'shown', dataUri };

/** Encodes each image once. */
function dataUris() {
  const uris = new Map<object, string>();
  return (image: object, type: string, bytes: Uint8Array): string => {
    const existing = uris.get(image);
    if (existing !== undefined) return existing;
    const uri = `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
    uris.set(image, uri);
    return uri;
  };
}

/** RFC 2392 §2: `cid:` URLs are percent-encoded. */
function decodedId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
