/** `html_size`: the HTML is small enough for Gmail to show all of it. */

import { formatSize } from '../../lib/durations.ts';
import { type Check, fail, pass, skipped, unknown, warn } from '../check.ts';
import { styleElements } from '../html/style-sheet.ts';

/** Bytes of HTML above which the check warns, and near which Gmail clips. */
const WARN_OCTETS = 80_000;
export const CLIP_OCTETS = 102_000;
/** Gmail drops `style` elements whose CSS exceeds this in total. */
const MAX_STYLE_CHARACTERS = 16_384;

const STYLES_LIMIT = {
  name: 'Email Bugs: Gmail styles limit',
  url: 'https://github.com/hteumeuleu/email-bugs/issues/90',
};

export const htmlSize: Check = {
  id: 'html_size',
  category: 'content',
  points: 2,
  label: 'HTML size',
  issueTitle: 'The HTML is close to or above the Gmail size limit',
  reference: {
    name: 'Spam Resource: what is Gmail clipping and what to do about it',
    url: 'https://www.spamresource.com/2022/01/what-is-gmail-clipping-and-what-to-do.html',
  },
  publicEvidence: {
    octets: 'shown',
    warn_at: 'shown',
    clipped_near: 'shown',
    style_characters: 'shown',
  },
  run({ message }) {
    // HTML beyond a parser limit can only add to the size.
    if (message.exceededLimits.length > 0 && message.htmlSize <= CLIP_OCTETS)
      return unknown(
        'Could not determine the size of your HTML.',
        `Your message has ${message.exceededLimits.join('; ')}. The rest may contain more HTML.`,
      );
    if (message.html === null)
      return skipped('Your message has no HTML.', 'Not checked: the message has no HTML part.');
    const size = formatSize(message.htmlSize);
    const evidence = {
      octets: message.htmlSize,
      warn_at: WARN_OCTETS,
      clipped_near: CLIP_OCTETS,
    };
    const fix =
      'Remove comments, unused styles and white space from the HTML. Move long content to a web page and link to it.';
    if (message.htmlSize > CLIP_OCTETS)
      return fail({
        title: `Gmail clips your message: its HTML is ${size}.`,
        detail: `Gmail hides everything beyond about ${formatSize(CLIP_OCTETS)}, including an unsubscribe link and tracking at the end.`,
        fix,
        evidence,
      });
    if (message.htmlSize > WARN_OCTETS)
      return warn({
        title: `Your HTML is ${size}, close to the size at which Gmail clips messages.`,
        detail: `Gmail hides everything beyond about ${formatSize(CLIP_OCTETS)}. Links that are rewritten in transit make the message longer.`,
        fix,
        evidence,
      });
    const styles = styleElements(message.html).reduce((sum, { css }) => sum + css.length, 0);
    if (styles > MAX_STYLE_CHARACTERS)
      return warn({
        title: `Gmail ignores some of your styles: the <style> elements contain ${formatSize(styles)} of CSS.`,
        detail: `Gmail reads at most ${formatSize(MAX_STYLE_CHARACTERS)} and drops each <style> element beyond that. Mobile layouts are often lost this way.`,
        fix: `Keep the CSS below ${formatSize(MAX_STYLE_CHARACTERS)}: remove unused rules, and move others into style attributes. Split the rest into several <style> elements, the most important first.`,
        evidence: { ...evidence, style_characters: styles },
        reference: STYLES_LIMIT,
      });
    return pass(`Your HTML is ${size}.`, 'Gmail shows it without clipping.', evidence);
  },
};
