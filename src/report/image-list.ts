/** Lists the images of a message that are on web servers. Runs in the render thread, because messages may be hostile. */

import { type WantedImage, wantedImages } from '../analysis/html/image-urls.ts';
import { parseMessage } from '../analysis/mime/parse-message.ts';
import type { CheckResult } from '../analysis/result.ts';
import { evidenceOf, isObject, textIn } from './report.ts';

export interface ListedImage extends WantedImage {
  kind: 'content' | 'bimi_logo';
}

/** The BIMI logo comes first. `checks` is the stored result of the analysis, which says whether the logo is valid. */
export async function listImages(raw: Uint8Array, checks: string): Promise<ListedImage[]> {
  const { html } = await parseMessage(raw);
  const logo = bimiLogo(JSON.parse(checks));
  return [
    ...(logo === null ? [] : [{ kind: 'bimi_logo' as const, url: logo, isTrackingPixel: false }]),
    ...(html === null ? [] : wantedImages(html))
      .filter(({ url }) => url !== logo)
      .map((image) => ({ kind: 'content' as const, ...image })),
  ];
}

/** The logo that the check fetched and found valid; null without one. */
function bimiLogo(checks: CheckResult[]): string | null {
  const evidence = evidenceOf(checks, 'bimi');
  const { problems, logo_file } = evidence;
  const isValid = isObject(logo_file) && Array.isArray(problems) && problems.length === 0;
  const url = isValid ? URL.parse(textIn(evidence, 'logo') ?? '') : null;
  return url?.protocol === 'https:' ? url.href : null;
}
