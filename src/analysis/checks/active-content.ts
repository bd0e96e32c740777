/** `active_content`: the HTML runs no code, loads no other page and takes no input. */

import { type Check, type Finding, fail, pass, warn } from '../check.ts';
import { evaluateHtml, type HtmlFacts, wholeHtmlFacts } from '../html/facts.ts';

/** They neither run nor load anything: email clients ignore them, but some filters penalize them. */
const WARN_ONLY = new Set(['form', 'base', 'meta refresh', 'bgsound']);

/**
 * Anything that runs code or loads another page fails: scripts, event handlers, script URLs, frames
 * and plug-ins. Forms, `base` and refreshes only warn because most email clients ignore them.
 * JSON-LD passes: it is data, and Gmail reads it.
 */
export const activeContent: Check = {
  id: 'active_content',
  category: 'content',
  points: 3,
  label: 'Active content',
  issueTitle: 'The HTML has scripts, forms or other active content',
  reference: {
    name: 'Can I email: the form element',
    url: 'https://www.caniemail.com/features/html-form/',
  },
  publicEvidence: { found: { '*': 'shown' } },
  run: (context) =>
    // Filters reject a message for quoted content, too.
    evaluateHtml(
      context,
      'Could not determine whether your HTML has active content.',
      evaluate,
      wholeHtmlFacts,
    ),
};

function evaluate({ active }: HtmlFacts): Finding {
  const names = Object.keys(active);
  if (names.length === 0)
    return pass(
      'Your HTML has no active content.',
      'It runs no scripts, loads no other pages and has no forms.',
    );
  const failing = names.filter((name) => !WARN_ONLY.has(name));
  const evidence = { found: Object.fromEntries(Object.entries(active).slice(0, 20)) };
  if (failing.length === 0)
    return warn({
      title: `Your HTML uses ${list(names)}.`,
      detail: `Email clients remove or ignore ${names.length === 1 ? 'it' : 'them'}, so part of your message does not work. Spam filters associate such HTML with phishing.`,
      fix: `Remove ${list(names)}. Put interactive content on a web page and link to it.`,
      evidence,
    });
  return fail({
    title: `Your HTML has active content: ${list(failing)}.`,
    detail:
      'No major email client runs or loads it. Some email clients remove it. Many spam filters and email clients reject the message or warn about it.',
    fix: `Remove ${list(failing)}. Put interactive content on a web page and link to it.`,
    evidence,
  });
}

const MARKUP: Record<string, string> = {
  'meta refresh': '<meta http-equiv="refresh">',
  base: '<base href>',
};

/** The first five, as they are written in HTML. */
function list(names: string[]): string {
  const shown = names.slice(0, 5).map(markupOf);
  if (names.length > shown.length) shown.push(`${names.length - shown.length} more`);
  return shown.length === 1 ? shown[0]! : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

function markupOf(name: string): string {
  if (Object.hasOwn(MARKUP, name)) return MARKUP[name]!;
  if (name.endsWith(':') || name.includes('/')) return `${name.replace(/:$/, '')}: URLs`;
  return name.startsWith('on') ? `the attribute ${name}` : `<${name}>`;
}
