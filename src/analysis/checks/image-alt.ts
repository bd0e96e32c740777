/** `image_alt`: images have alt text for readers who do not see them. */

import { type Check, type Finding, pass, skipped, warn } from '../check.ts';
import { evaluateHtml, type HtmlFacts, type HtmlImage, isTiny } from '../html/facts.ts';
import { displayUrl } from '../links/links.ts';

/** In pixels; an image of at least this size is not decoration. */
const LARGE_WIDTH = 200;
const LARGE_HEIGHT = 100;

/**
 * An empty alt text marks decoration. It counts as missing if the image is the only content of a
 * link, or large. An image of unknown height is assumed to be as high as it is wide.
 */
export const imageAlt: Check = {
  id: 'image_alt',
  category: 'content',
  points: 1,
  label: 'Image alt text',
  issueTitle: 'Images without alt text',
  reference: {
    name: 'WCAG 2.2, 1.1.1 Non-text Content',
    url: 'https://www.w3.org/TR/WCAG22/#non-text-content',
  },
  publicEvidence: { images: 'shown', without: 'shown', found: { src: 'host', problem: 'shown' } },
  run: (context) => evaluateHtml(context, 'Could not check the alt text of your images.', evaluate),
};

function evaluate({ images }: HtmlFacts): Finding {
  const shown = images.filter((image) => !image.hidden && !isTiny(image));
  if (shown.length === 0)
    return skipped('Image alt text was not checked.', 'Your HTML shows no images.');
  const missing = shown.flatMap((image) => {
    const problem = altProblem(image);
    return problem ? [{ src: addressOf(image), problem }] : [];
  });
  const evidence = { images: shown.length, without: missing.length, found: missing.slice(0, 10) };
  if (missing.length === 0)
    return pass(
      shown.length === 1 ? 'Your image has alt text.' : 'Your images have alt text.',
      'Recipients who do not see images learn what they show, or that they are decorative.',
      evidence,
    );
  return warn({
    title:
      missing.length === 1
        ? 'One of your images has no alt text.'
        : `${missing.length} of your images have no alt text.`,
    detail:
      'Many email clients block images by default, and screen readers cannot describe them. Recipients see a gap or a file name instead.',
    fix: 'Describe each image in its alt attribute, such as alt="Summer sale: 20% off all shoes". Use alt="" for decorative images.',
    evidence,
  });
}

/** What is wrong with the alt text, as a noun phrase; null if nothing is. */
export function altProblem({ alt, width, height, link }: HtmlImage): string | null {
  if (alt === null) return 'no alt attribute';
  if (alt.trim() !== '') return null;
  if (link && link.text === '') return 'an empty alt on a link that has no other text';
  const large = (width ?? 0) >= LARGE_WIDTH && (height ?? width ?? 0) >= LARGE_HEIGHT;
  return large ? 'an empty alt on a large image' : null;
}

const addressOf = ({ src }: HtmlImage): string =>
  src.startsWith('data:') ? `${src.slice(0, 40)}…` : displayUrl(src);
