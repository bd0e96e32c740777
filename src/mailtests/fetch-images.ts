/** Fetches the images of a message through the guarded HTTP client, within limits on number, time and size. */

import { unpackSvg } from '../analysis/bimi/svg.ts';
import { startDeadline } from '../lib/concurrency.ts';
import { formatSize } from '../lib/durations.ts';
import type { WebClient, WebResult } from '../net/http/web.ts';
import type { ListedImage } from '../report/image-list.ts';
import { type ImageFile, readImageFile } from './image-file.ts';

export interface FetchedImage extends Pick<ListedImage, 'kind' | 'url'> {
  status: 'loaded' | 'tracking_pixel' | 'failed';
  /** A code, and a clause for people; null if the image was loaded. */
  reason: ImageFailure | null;
  detail: string | null;
  /** Null unless the image was loaded. */
  file: (ImageFile & { bytes: Uint8Array }) | null;
}

export const IMAGE_FAILURES = [
  'tracking_pixel',
  'limit',
  'timeout',
  'no_such_name',
  'dns',
  'forbidden_address',
  'connection',
  'tls',
  'protocol',
  'too_large',
  'bad_url',
  'http_status',
  'redirects',
  'not_an_image',
] as const;
export type ImageFailure = (typeof IMAGE_FAILURES)[number];

export const IMAGE_LIMITS = {
  /** Images to request. */
  requested: 60,
  /** Of one image, and of all together. */
  bytes: 2_000_000,
  totalBytes: 10_000_000,
  /** For one image with its redirects, and for all together. */
  timeoutMs: 8000,
  totalTimeoutMs: 25_000,
};

const MAX_CONCURRENT = 6;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** No cookies, no referrer, nothing about the person who looks at the message. */
const HEADERS = {
  'User-Agent': 'deliverability/1 (+image preview)',
  Accept: 'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8',
};

/** Never rejects. The images are in the order of the list; tracking pixels are never requested. */
export async function fetchImages(
  images: ListedImage[],
  web: WebClient,
  limits = IMAGE_LIMITS,
): Promise<FetchedImage[]> {
  const results: FetchedImage[] = images.map(unrequested(limits));
  const requested = results.flatMap(({ reason }, i) => (reason === null ? [i] : []));
  const deadline = startDeadline(limits.totalTimeoutMs);
  let remainingBytes = limits.totalBytes;
  let next = 0;
  const fetchNext = async () => {
    while (next < requested.length) {
      const index = requested[next++]!;
      const image = images[index]!;
      const result = await fetchImage(image, {
        web,
        signal: deadline.signal,
        limits,
        maxBytes: Math.min(limits.bytes, remainingBytes),
      });
      const size = result.file?.bytes.byteLength ?? 0;
      // Several requests begin with the same remaining space.
      const fits = size <= remainingBytes;
      if (fits) remainingBytes -= size;
      results[index] = fits ? result : failed(image, 'limit', noSpace(limits.totalBytes));
    }
  };
  try {
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, fetchNext));
  } finally {
    deadline.stop();
  }
  return results;
}

/** Images that are not requested, with the reason; the others without one. */
const unrequested = ({ requested }: typeof IMAGE_LIMITS) => {
  let count = 0;
  return ({ kind, url, isTrackingPixel }: ListedImage): FetchedImage => {
    if (isTrackingPixel) {
      const detail = 'it is a tracking pixel, which is never loaded';
      return { kind, url, status: 'tracking_pixel', reason: 'tracking_pixel', detail, file: null };
    }
    count += 1;
    if (count > requested)
      return failed({ kind, url }, 'limit', `only ${requested} images of a message are loaded`);
    return { kind, url, status: 'failed', reason: null, detail: null, file: null };
  };
};

const failed = (
  { kind, url }: Pick<ListedImage, 'kind' | 'url'>,
  reason: ImageFailure,
  detail: string,
): FetchedImage => ({ kind, url, status: 'failed', reason, detail, file: null });

const noSpace = (bytes: number): string =>
  `the images of a message may have ${formatSize(bytes)} together`;

interface FetchOptions {
  web: WebClient;
  signal: AbortSignal;
  limits: typeof IMAGE_LIMITS;
  /** What remains of the limit for all images, if it is less than that for one. */
  maxBytes: number;
}

async function fetchImage(image: ListedImage, options: FetchOptions): Promise<FetchedImage> {
  const { maxBytes, limits } = options;
  if (maxBytes <= 0) return failed(image, 'limit', noSpace(limits.totalBytes));
  if (options.signal.aborted)
    return failed(image, 'timeout', 'the time limit for all images was reached');
  const deadline = startDeadline(limits.timeoutMs, options.signal);
  try {
    const result = await followRedirects(image.url, { ...options, signal: deadline.signal });
    if ('problem' in result) return failed(image, ...result.problem);
    if (result.status === 'failed') {
      if (result.reason !== 'too_large') return failed(image, result.reason, result.detail);
      return maxBytes < limits.bytes
        ? failed(image, 'limit', noSpace(limits.totalBytes))
        : failed(image, 'too_large', `the image has more than ${formatSize(maxBytes)}`);
    }
    return readResponse(image, result);
  } finally {
    deadline.stop();
  }
}

/** Each request goes through the guard again. */
async function followRedirects(
  start: string,
  { web, signal, limits: { timeoutMs }, maxBytes }: FetchOptions,
): Promise<WebResult | { problem: [ImageFailure, string] }> {
  let url = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const result = await web({ method: 'GET', url, headers: HEADERS, timeoutMs, maxBytes, signal });
    if (result.status === 'failed') {
      const detail = redirects > 0 ? `redirect target: ${result.detail}` : result.detail;
      return { ...result, detail };
    }
    if (!REDIRECTS.has(result.code)) return result;
    const target = URL.parse(result.headers.location ?? '', url);
    if (!target) return { problem: ['redirects', 'the server redirects without a valid address'] };
    url = target.href;
  }
  return { problem: ['redirects', `the server redirects more than ${MAX_REDIRECTS} times`] };
}

function readResponse(
  image: ListedImage,
  { code, body }: WebResult & { status: 'answered' },
): FetchedImage {
  if (code !== 200) return failed(image, 'http_status', `the server responded with ${code}`);
  if (body.byteLength === 0) return failed(image, 'not_an_image', 'the response is empty');
  const bytes = image.kind === 'bimi_logo' ? unpackSvg(body) : body;
  const file = bytes ? readImageFile(bytes) : 'the logo cannot be decompressed';
  if (typeof file === 'string' || !bytes) return failed(image, 'not_an_image', String(file));
  const { kind, url } = image;
  return { kind, url, status: 'loaded', reason: null, detail: null, file: { ...file, bytes } };
}
