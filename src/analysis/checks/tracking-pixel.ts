/** `tracking_pixel`: whether the message contains an image that reports opens to the sender. */

import { type Check, info } from '../check.ts';
import { evaluateHtml, isTrackingPixel } from '../html/facts.ts';
import { displayUrl } from '../links/links.ts';

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
      const pixels = new Set(images.filter(isTrackingPixel).map(({ src }) => src));
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
