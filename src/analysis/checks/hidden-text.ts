/** `hidden_text`: what filters read is what readers see. */

import { type Check, type Finding, fail, pass, warn } from '../check.ts';
import { type HiddenText, type HtmlFacts, judgeHtml } from '../html/facts.ts';
import { withoutFiller } from '../text.ts';

/** A preheader may have more than other hidden text before that counts. */
const MAX_PREHEADER_CHARACTERS = 500;
/** More hidden text than this warns, and than this fails. */
const MAX_HIDDEN_CHARACTERS = 150;
const HIDDEN_CHARACTERS_TO_FAIL = 500;

/**
 * A preheader is fine, whatever invisible characters fill it up; so is what a style for small screens
 * shows, and a few words, as there are for screen readers and for the replies to tickets.
 */
export const hiddenText: Check = {
  id: 'hidden_text',
  category: 'content',
  points: 2,
  label: 'Hidden text',
  issueTitle: 'The message hides text',
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
    judgeHtml(context, 'Hidden text could not be looked for.', (facts) => {
      const finding = judge(facts);
      // What is a little so far may be much with the rest.
      return { ...finding, open: finding.status === 'warn' };
    }),
};

function judge({ hidden }: HtmlFacts): Finding {
  const preheaders = hidden.filter(({ preheader }) => preheader);
  const others = hidden.filter(({ preheader }) => !preheader);
  const preview = lengthOf(preheaders);
  // A preheader that is too long for any preview is hidden text as any other.
  const told = preview > MAX_PREHEADER_CHARACTERS ? hidden : others;
  const characters = lengthOf(told);
  const evidence = {
    characters,
    preheader_characters: preview,
    hidden: told.slice(0, 5).map(shown),
  };
  if (characters <= MAX_HIDDEN_CHARACTERS)
    return pass(
      preview > 0 && characters === 0
        ? 'Your message hides nothing but its preview text.'
        : 'Your message hides no text that matters.',
      'Readers see what filters read.',
      evidence,
    );
  return (characters > HIDDEN_CHARACTERS_TO_FAIL ? fail : warn)({
    title: `Your message hides ${characters.toLocaleString('en')} characters of text.`,
    detail: `The first is hidden by ${told[0]!.how}. Gmail asks senders not to hide content by HTML or CSS; filters know it from spam that shows them one text and readers another one.`,
    fix: 'Show this text, or remove it. For readers with a small screen, hide and show it by a class in a media query.',
    evidence,
  });
}

const lengthOf = (list: HiddenText[]): number =>
  list.reduce((sum, { text }) => sum + withoutFiller(text).text.length, 0);

const shown = ({ how, text }: HiddenText) => ({
  how,
  text: withoutFiller(text.slice(0, 5000)).text.slice(0, 200),
});
