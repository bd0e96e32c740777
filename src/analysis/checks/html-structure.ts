/** `html_structure`: no tag is missing or misplaced so that a reader sees something else than was meant. */

import { type Check, pass, warn } from '../check.ts';
import { judgeHtml } from '../html/facts.ts';

/**
 * Only what changes what is shown: end tags that HTML lets one leave out, and end tags without a
 * start, are fine.
 */
export const htmlStructure: Check = {
  id: 'html_structure',
  category: 'content',
  points: 1,
  label: 'HTML structure',
  issueTitle: 'The HTML has mistakes',
  reference: {
    name: 'Gmail: Email sender guidelines, message formatting',
    url: 'https://support.google.com/a/answer/81126',
  },
  publicEvidence: { problems: 'shown', count: 'shown' },
  run: (context) =>
    judgeHtml(context, 'The structure of your HTML could not be checked.', ({ structure }) => {
      const [first, ...others] = structure;
      if (first === undefined)
        return pass(
          'The tags of your HTML are closed where they should be.',
          'Every mail program builds the same message out of it.',
        );
      return warn({
        title:
          others.length === 0
            ? 'Your HTML has a mistake that changes what is shown.'
            : `Your HTML has ${structure.length} mistakes that change what is shown.`,
        detail: `${first} Mail programs repair this each in its own way, and filters count it.`,
        fix: 'Close each tag in the order in which they were opened, every link and table in the first place, and check the HTML with a validator.',
        evidence: { problems: structure.slice(0, 10), count: structure.length },
      });
    }),
};
