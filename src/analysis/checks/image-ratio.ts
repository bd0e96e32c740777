/** `image_ratio`: there is enough text beside the images. */

import { type Check, type Finding, pass, warn } from '../check.ts';
import { type HtmlFacts, isTiny, judgeHtml, MAX_BACKGROUND } from '../html/facts.ts';
import { countWords } from '../text.ts';

/** Visible words for each image. */
const WORDS_PER_IMAGE = 20;

/** An image that is shown several times, such as a star or a bullet, counts once. */
export const imageRatio: Check = {
  id: 'image_ratio',
  category: 'content',
  points: 2,
  label: 'Text and images',
  issueTitle: 'Too little text beside the images',
  reference: {
    name: 'SpamAssassin: HTML_IMAGE_ONLY and HTML_IMAGE_RATIO',
    url: 'https://spamassassin.apache.org/old/tests_3_3_x.html',
  },
  publicEvidence: { words: 'shown', images: 'shown', words_wanted: 'shown' },
  run: (context) =>
    judgeHtml(context, 'The share of text and images could not be found out.', (facts) => ({
      ...judge(facts),
      // More text may follow.
      open: true,
    })),
};

function judge({ text, images, backgrounds }: HtmlFacts): Finding {
  const shown = images.filter((image) => !image.hidden && !isTiny(image));
  const addresses = shown.map(({ src }) => src);
  // An image that is a background too, for programs that show none of the one or the other, is one.
  const behind = new Set(addresses.map((src) => src.slice(0, MAX_BACKGROUND).toLowerCase()));
  const others = backgrounds.filter((address) => !behind.has(address));
  const count = new Set(addresses).size + others.length;
  const words = countWords(text);
  const evidence = { words, images: count, words_wanted: count * WORDS_PER_IMAGE };
  if (count === 0)
    return pass('Your message shows no images.', 'There is nothing but text to read.', evidence);
  if (words >= evidence.words_wanted)
    return pass(
      'Your message has enough text beside its images.',
      'Filters find something to judge, and readers without images something to read.',
      evidence,
    );
  const images_ = count === 1 ? 'one image' : `${count.toLocaleString('en')} images`;
  return warn({
    title:
      words === 0
        ? `Your message is ${images_} without any text.`
        : `Your message has ${words === 1 ? 'one word' : `${words} words`} of text beside ${images_}.`,
    detail:
      'Filters cannot read images and count mail that has little else, because spam hides its words in them. Many readers see no images before they allow them.',
    fix: `Write what the images say as text in the HTML: at least ${WORDS_PER_IMAGE} words for each image.`,
    evidence,
  });
}
