/** `html_size`: the HTML is small enough to be shown whole. */

import { type Check, fail, pass, skipped, unknown, warn } from '../check.ts';

/** Octets of HTML at which to warn, and near which Gmail clips. */
const WARN_OCTETS = 80_000;
const CLIP_OCTETS = 102_000;

const kilobytes = (octets: number): string =>
  `${Math.round(octets / 1000).toLocaleString('en')} kB`;

export const htmlSize: Check = {
  id: 'html_size',
  category: 'content',
  points: 2,
  label: 'HTML size',
  issueTitle: 'The HTML is so large that Gmail clips it, or nearly',
  reference: {
    name: 'Spam Resource: what is Gmail clipping and what to do about it',
    url: 'https://www.spamresource.com/2022/01/what-is-gmail-clipping-and-what-to-do.html',
  },
  publicEvidence: { octets: 'shown', warn_at: 'shown', clipped_near: 'shown' },
  run({ message }) {
    // What is beyond a limit of the parser can only add to the size.
    if (message.limits.length > 0 && message.htmlSize <= CLIP_OCTETS)
      return unknown(
        'The size of your HTML could not be found out.',
        `Your message has ${message.limits.join('; ')}; more HTML may lie beyond that.`,
      );
    if (message.html === null)
      return skipped('Your message has no HTML.', 'The message has no HTML part.');
    const size = kilobytes(message.htmlSize);
    const evidence = {
      octets: message.htmlSize,
      warn_at: WARN_OCTETS,
      clipped_near: CLIP_OCTETS,
    };
    const fix =
      'Remove comments, unused styles and white space from the HTML, and link to a page for the rest.';
    if (message.htmlSize > CLIP_OCTETS)
      return fail({
        title: `Gmail clips your message: its HTML is ${size}.`,
        detail: `Beyond about ${kilobytes(CLIP_OCTETS)} Gmail hides the rest, the unsubscribe link and tracking at the end included.`,
        fix,
        evidence,
      });
    if (message.htmlSize > WARN_OCTETS)
      return warn({
        title: `Your HTML is ${size}, close to where Gmail clips.`,
        detail: `Gmail hides what lies beyond about ${kilobytes(CLIP_OCTETS)}, and links that are rewritten on the way make the message longer.`,
        fix,
        evidence,
      });
    return pass(`Your HTML is ${size}.`, 'Gmail shows it without clipping.', evidence);
  },
};
