/** `html_structure`: no missing or misplaced tag changes what readers see. */

import { type Check, pass, warn } from '../check.ts';
import { evaluateHtml, wholeHtmlFacts } from '../html/facts.ts';

/** End tags that HTML makes optional, and end tags without a start tag, change nothing and pass. */
export const htmlStructure: Check = {
  id: 'html_structure',
  category: 'content',
  points: 1,
  label: 'HTML structure',
  issueTitle: 'The HTML has errors',
  reference: {
    name: 'Gmail: Email sender guidelines, message formatting',
    url: 'https://support.google.com/a/answer/81126',
  },
  publicEvidence: { problems: 'shown', count: 'shown' },
  run: (context) =>
    evaluateHtml(context, 'Could not check the structure of your HTML.', (facts) => {
      // Without its quotes, the HTML may end inside a table or link, although the whole message does not.
      const whole = new Set(context.fact(wholeHtmlFacts)?.structure);
      const structure = facts.structure.filter((problem) => whole.has(problem));
      const [first, ...others] = structure;
      if (first === undefined)
        return pass(
          'The tags in your HTML are closed correctly.',
          'Every email client parses it in the same way.',
        );
      return warn({
        title:
          others.length === 0
            ? 'Your HTML has an error that changes what recipients see.'
            : `Your HTML has ${structure.length} errors that change what recipients see.`,
        detail: `${first} Each email client repairs this differently, and spam filters penalize it.`,
        fix: 'Close every tag in the right order; links and tables matter most. Then check the HTML with a validator.',
        evidence: { problems: structure.slice(0, 10), count: structure.length },
      });
    }),
};
