/** `image_ratio`: the message has enough text for its images. */

import { type Check, type Finding, pass, skipped, warn } from '../check.ts';
import { evaluateHtml, type HtmlFacts, isTiny, MAX_BACKGROUND_LENGTH } from '../html/facts.ts';
import { countWords } from '../text.ts';

/** Visible words required for each image. */
const WORDS_PER_IMAGE = 20;

/** An image that appears several times, such as a star or a bullet, counts once. */
export const imageRatio: Check = {
  id: 'image_ratio',
  category: 'content',
  points: 2,
  label: 'Text-to-image ratio',
  issueTitle: 'Too little text for the number of images',
  reference: {
    name: 'SpamAssassin: HTML_IMAGE_ONLY and HTML_IMAGE_RATIO',
    url: 'https://spamassassin.apache.org/old/tests_3_3_x.html',
  },
  publicEvidence: { words: 'shown', images: 'shown', words_wanted: 'shown' },
  run: (context) =>
    evaluateHtml(context, 'Could not determine the ratio of text to images.', (facts) => ({
      ...(context.template && context.template.tags.length > 0
        ? withUnknownText(evaluate(facts))
        : evaluate(facts)),
      // There may be more text in the rest of the HTML.
      mayChange: true,
    })),
};

/** Merge tags of a template stand for any number of words. */
const withUnknownText = (finding: Finding): Finding =>
  finding.status === 'pass'
    ? finding
    : skipped(
        'The text-to-image ratio was not checked.',
        'Not checked: how much text the merge tags add is unknown.',
      );

function evaluate({ text, images, backgrounds }: HtmlFacts): Finding {
  const shown = images.filter((image) => !image.hidden && !isTiny(image));
  const sources = shown.map(({ src }) => src);
  // An image that is also a background (a fallback for some email clients) counts once.
  const inContent = new Set(
    sources.map((src) => src.slice(0, MAX_BACKGROUND_LENGTH).toLowerCase()),
  );
  const others = backgrounds.filter((address) => !inContent.has(address));
  const count = new Set(sources).size + others.length;
  const words = countWords(text);
  const evidence = { words, images: count, words_wanted: count * WORDS_PER_IMAGE };
  if (count === 0) return pass('Your message shows no images.', 'It contains only text.', evidence);
  if (words >= evidence.words_wanted)
    return pass(
      'Your message has enough text for its images.',
      'Spam filters can evaluate the text, and recipients without images can read it.',
      evidence,
    );
  const imageCount = count === 1 ? 'one image' : `${count.toLocaleString('en')} images`;
  return warn({
    title:
      words === 0
        ? `Your message has ${imageCount} and no text.`
        : `Your message has only ${words === 1 ? 'one word' : `${words} words`} of text for ${imageCount}.`,
    detail:
      'Spam filters cannot read images. They penalize mail with little text because spam hides its words in images. Many recipients see no images until they allow them.',
    fix: `Write the content of the images as text in the HTML: at least ${WORDS_PER_IMAGE} words for each image.`,
    evidence,
  });
}
