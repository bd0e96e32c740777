/** `preheader`: the preview text that email clients show next to the subject. */

import { type Check, type Finding, info, skipped } from '../check.ts';
import { evaluateHtml, type HtmlFacts, wholeHtmlFacts } from '../html/facts.ts';
import { previewText } from '../html/preview-text.ts';

/** Email clients show at most this many characters. */
const MAX_PREVIEW_CHARACTERS = 140;

export const preheader: Check = {
  id: 'preheader',
  category: 'content',
  points: 0,
  label: 'Preview text',
  reference: {
    name: 'Can I email: the hidden attribute',
    url: 'https://www.caniemail.com/features/html-hidden/',
  },
  publicEvidence: null,
  run: (context) =>
    // A preview shows a forwarded message, too.
    evaluateHtml(
      context,
      'Could not determine the preview text.',
      (facts) => describePreview(facts),
      wholeHtmlFacts,
    ),
};

function describePreview(facts: HtmlFacts): Finding {
  const { text, hasFiller, source, browserLine } = previewText(facts);
  if (source === 'none')
    return skipped(
      'Your message has no preview text.',
      'The HTML has no text that a preview could show.',
    );
  const preview = text.slice(0, MAX_PREVIEW_CHARACTERS);
  const evidence = { preview, from: source };
  const title = `Email clients show “${truncate(preview)}” next to your subject.`;
  if (browserLine === 'start')
    return info(
      title,
      'This is the link to the web version, which says nothing about your message. Put a preview sentence before it, in a hidden element.',
      evidence,
    );
  if (source !== 'preheader') return info(title, START_OF[source], evidence);
  if (browserLine === 'after_preheader')
    return info(
      title,
      'Your hidden preview text is so short that the link to the web version follows it. Write 40 to 100 characters, or add filler after it.',
      evidence,
    );
  return info(
    title,
    hasFiller
      ? 'This is the hidden preview text at the start of your HTML. The filler after it keeps other text out of the preview.'
      : 'It starts with the hidden preview text of your HTML. If there is space left, the text after it follows.',
    evidence,
  );
}

const ADD_PREHEADER =
  'To choose the preview, add a hidden element with 40 to 100 characters at the start of the HTML.';
const START_OF = {
  text: `This is the start of your text. ${ADD_PREHEADER}`,
  alt: `It starts with the alt text of your first image. ${ADD_PREHEADER}`,
};

const truncate = (text: string): string =>
  text.length > 80 ? `${text.slice(0, 80).trimEnd()}…` : text;
