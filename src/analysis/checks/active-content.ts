/** `active_content`: nothing in the HTML runs code, loads a page or takes input. */

import { type Check, type Finding, fail, pass, warn } from '../check.ts';
import { type HtmlFacts, judgeHtml } from '../html/facts.ts';

/** What runs nothing and loads nothing by itself: mail programs ignore it, some filters count it. */
const MILD = new Set(['form', 'base', 'meta refresh', 'bgsound']);

/**
 * What runs code or loads another page fails: scripts and their handlers and addresses, frames,
 * plug-ins. A form, `base` and a refresh warn: they do nothing in most mail programs. JSON-LD, which
 * Gmail reads, is data and fine.
 */
export const activeContent: Check = {
  id: 'active_content',
  category: 'content',
  points: 3,
  label: 'Active content',
  issueTitle: 'The HTML has scripts, forms or the like',
  reference: {
    name: 'Can I email: the form element',
    url: 'https://www.caniemail.com/features/html-form/',
  },
  publicEvidence: { found: { '*': 'shown' } },
  run: (context) =>
    judgeHtml(context, 'It could not be found out whether your HTML has active content.', judge),
};

function judge({ active }: HtmlFacts): Finding {
  const names = Object.keys(active);
  if (names.length === 0)
    return pass(
      'Your HTML has no active content.',
      'It runs no script, loads no other page and takes no input.',
    );
  const grave = names.filter((name) => !MILD.has(name));
  const evidence = { found: Object.fromEntries(Object.entries(active).slice(0, 20)) };
  if (grave.length === 0)
    return warn({
      title: `Your HTML uses ${list(names)}.`,
      detail: `Mail programs remove or ignore ${names.length === 1 ? 'it' : 'them'}, so readers find something that does not work, and filters know it from phishing.`,
      fix: `Remove ${list(names)}, and link to a page of yours for what readers are to fill in or open.`,
      evidence,
    });
  return fail({
    title: `Your HTML has active content: ${list(grave)}.`,
    detail:
      'No large mail program runs or loads it: it is removed at best, and many filters and mail programs refuse or warn of such mail.',
    fix: `Remove ${list(grave)}, and link to a page of yours that does what ${grave.length === 1 ? 'it was' : 'they were'} meant for.`,
    evidence,
  });
}

const WRITTEN: Record<string, string> = {
  'meta refresh': '<meta http-equiv="refresh">',
  base: '<base href>',
};

/** The first five, as they are written. */
function list(names: string[]): string {
  const shown = names.slice(0, 5).map(written);
  if (names.length > shown.length) shown.push(`${names.length - shown.length} more`);
  return shown.length === 1 ? shown[0]! : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

function written(name: string): string {
  if (Object.hasOwn(WRITTEN, name)) return WRITTEN[name]!;
  if (name.endsWith(':') || name.includes('/')) return `${name.replace(/:$/, '')}: addresses`;
  return name.startsWith('on') ? `the attribute ${name}` : `<${name}>`;
}
