/** `hidden_text`: recipients see the text that filters read. */

import { type Check, type Finding, fail, pass, warn } from '../check.ts';
import { evaluateHtml, type HiddenText, type HtmlFacts } from '../html/facts.ts';
import { stripFiller } from '../text.ts';

/** In characters; a preheader may be longer than other hidden text. */
const MAX_PREHEADER_CHARACTERS = 500;
/** The check warns above the first limit and fails above the second. */
const MAX_HIDDEN_CHARACTERS = 150;
const HIDDEN_CHARACTERS_TO_FAIL = 500;

/**
 * A preheader is fine, however many invisible characters pad it. So is text that a style for small
 * screens shows, and a few words, such as those for screen readers and ticket systems.
 */
export const hiddenText: Check = {
  id: 'hidden_text',
  category: 'content',
  points: 2,
  label: 'Hidden text',
  issueTitle: 'The message contains hidden text',
  reference: {
    name: 'Gmail: Email sender guidelines, message formatting',
    url: 'https://support.google.com/a/answer/81126',
  },
  publicEvidence: {
    characters: 'shown',
    preheader_characters: 'shown',
    hidden: { how: 'shown', text: 'unquoted' },
  },
  run: (context) =>
    evaluateHtml(context, 'Could not check for hidden text.', (facts) => {
      const finding = evaluate(facts);
      // A warning may become a failure with the rest of the HTML.
      return { ...finding, mayChange: finding.status === 'warn' };
    }),
};

function evaluate({ hidden }: HtmlFacts): Finding {
  const preheaders = hidden.filter(({ preheader }) => preheader);
  const others = hidden.filter(({ preheader }) => !preheader);
  const preheaderLength = lengthOf(preheaders);
  // A preheader too long for any preview counts as hidden text.
  const counted = preheaderLength > MAX_PREHEADER_CHARACTERS ? hidden : others;
  const characters = lengthOf(counted);
  const evidence = {
    characters,
    preheader_characters: preheaderLength,
    hidden: counted.slice(0, 5).map(toEvidence),
  };
  if (characters <= MAX_HIDDEN_CHARACTERS)
    return pass(
      preheaderLength > 0 && characters === 0
        ? 'Your message hides nothing except its preview text.'
        : 'Your message hides no significant text.',
      'Recipients see the same text as spam filters.',
      evidence,
    );
  return (characters > HIDDEN_CHARACTERS_TO_FAIL ? fail : warn)({
    title: `Your message hides ${characters.toLocaleString('en')} characters of text.`,
    detail: `The first is hidden by ${counted[0]!.how}. Gmail asks senders not to hide content with HTML or CSS, and may send such mail to spam. Spammers use hidden text to mislead spam filters.`,
    fix: 'Show this text, or remove it. To show or hide it only on small screens, use a class in a media query.',
    evidence,
  });
}

const lengthOf = (list: HiddenText[]): number =>
  list.reduce((sum, { text }) => sum + stripFiller(text).text.length, 0);

const toEvidence = ({ how, text }: HiddenText) => ({
  how,
  text: stripFiller(text.slice(0, 5000)).text.slice(0, 200),
});
