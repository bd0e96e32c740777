/** `image_alt`: readers who see no images can read what they show. */

import { type Check, type Finding, pass, skipped, warn } from '../check.ts';
import { type HtmlFacts, type HtmlImage, isTiny, judgeHtml } from '../html/facts.ts';
import { shownAddress } from '../links/links.ts';

/** From this size on, in pixels, an image is no decoration. */
const LARGE_WIDTH = 200;
const LARGE_HEIGHT = 100;

/**
 * An empty alternative text is how decoration is marked. It is none where the image is all that a
 * link has to offer, or large; of unknown height, it is taken to be as high as wide.
 */
export const imageAlt: Check = {
  id: 'image_alt',
  category: 'content',
  points: 1,
  label: 'Alternative texts',
  issueTitle: 'Images without alternative text',
  reference: {
    name: 'WCAG 2.2, 1.1.1 Non-text Content',
    url: 'https://www.w3.org/TR/WCAG22/#non-text-content',
  },
  publicEvidence: { images: 'shown', without: 'shown', found: { src: 'host', problem: 'shown' } },
  run: (context) =>
    judgeHtml(context, 'The alternative texts of your images could not be checked.', judge),
};

function judge({ images }: HtmlFacts): Finding {
  const shown = images.filter((image) => !image.hidden && !isTiny(image));
  if (shown.length === 0)
    return skipped('There is no image to describe.', 'The HTML shows no images.');
  const found = shown.flatMap((image) => {
    const problem = problemOf(image);
    return problem ? [{ src: addressOf(image), problem }] : [];
  });
  const evidence = { images: shown.length, without: found.length, found: found.slice(0, 10) };
  if (found.length === 0)
    return pass(
      shown.length === 1
        ? 'Your image has an alternative text.'
        : 'Your images have alternative texts.',
      'Readers who do not see them know what they show, or that they are decoration.',
      evidence,
    );
  return warn({
    title:
      found.length === 1
        ? 'One of your images has no alternative text.'
        : `${found.length} of your images have no alternative text.`,
    detail:
      'Many mail programs load no images at first, and screen readers cannot see them: their readers find a gap or a file name in that place.',
    fix: 'Give each image an attribute alt with what it shows, such as alt="Summer sale: 20% off all shoes"; write alt="" where it is decoration only.',
    evidence,
  });
}

function problemOf({ alt, width, height, link }: HtmlImage): string | null {
  if (alt === null) return 'no alt attribute';
  if (alt.trim() !== '') return null;
  if (link && link.text === '') return 'an empty alt on a link that has no other text';
  const large = (width ?? 0) >= LARGE_WIDTH && (height ?? width ?? 0) >= LARGE_HEIGHT;
  return large ? 'an empty alt on a large image' : null;
}

const addressOf = ({ src }: HtmlImage): string =>
  src.startsWith('data:') ? `${src.slice(0, 40)}…` : shownAddress(src);
