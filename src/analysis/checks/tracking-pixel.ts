/** `tracking_pixel`: whether the message contains an image that reports opens to the sender. */

import { type Check, info } from '../check.ts';
import { evaluateHtml, type HtmlImage } from '../html/facts.ts';
import { displayUrl } from '../links/links.ts';

/** A remote image of at most two pixels in both dimensions, or in one if it is hidden. */
export const trackingPixel: Check = {
  id: 'tracking_pixel',
  category: 'content',
  points: 0,
  label: 'Tracking pixel',
  reference: {
    name: 'Apple: Mail Privacy Protection',
    url: 'https://www.apple.com/legal/privacy/data/en/mail-privacy-protection/',
  },
  publicEvidence: { found: 'host' },
  run: (context) =>
    evaluateHtml(context, 'Could not check for tracking pixels.', ({ images }) => {
      const pixels = new Set(images.filter(isPixel).map(({ src }) => src));
      const found = [...pixels].slice(0, 10).map(displayUrl);
      if (pixels.size === 0)
        return {
          ...info(
            'Your message has no tracking pixel.',
            'It has no image whose only purpose is to report opens.',
            { found },
          ),
          mayChange: true,
        };
      return info(
        pixels.size === 1
          ? 'Your message has a tracking pixel.'
          : `Your message has ${pixels.size.toLocaleString('en')} images of one or two pixels.`,
        'Such images usually report opens; some are only spacers. Gmail, Yahoo and Apple load images through their own servers. Apple does so even for unopened mail, so open rates are too high.',
        { found },
      );
    }),
};

function isPixel({ src, width, height, hidden }: HtmlImage): boolean {
  const isSmall = (size: number | null) => size !== null && size <= 2;
  const hasPixelSize = hidden
    ? isSmall(width) || isSmall(height)
    : isSmall(width) && isSmall(height);
  return hasPixelSize && /^(?:https?:)?\/\//i.test(src);
}
