/** `link_scheme`: every link starts with a scheme that mail programs open, and web links are encrypted. */

import { type Check, fail, pass, rfc, skipped, unknown, warn } from '../check.ts';
import {
  type LinkProblem,
  linkCount,
  problemEvidence,
  unseenLinks,
  worstOf,
} from './link-evidence.ts';
import { type MessageLink, messageLinks } from './links.ts';

const FINE = new Set(['https', 'mailto', 'tel', 'sms']);
/** They run or show what the address itself holds, or what lies on the reader's disk. */
const DANGEROUS = new Set(['javascript', 'vbscript', 'data', 'file', 'blob']);

export const linkScheme: Check = {
  id: 'link_scheme',
  category: 'content',
  points: 1,
  label: 'Schemes of links',
  reference: rfc(3986, '3.1'),
  run(context) {
    const links = context.fact(messageLinks);
    const problems = links.map(problemOf).filter((problem) => problem !== null);
    if (problems.length > 0) return badSchemes(links, problems);
    const unseen = unseenLinks(context, links);
    if (unseen) return unknown('The schemes of your links could not be checked.', unseen);
    if (links.length === 0)
      return skipped('There is no link to check.', 'The message has no links.');
    return pass('Your links use https.', 'Mail programs open them without a warning.', {
      links: links.length,
    });
  },
};

function badSchemes(links: MessageLink[], problems: LinkProblem[]) {
  const evidence = problemEvidence(links, problems);
  if (worstOf(problems) === 'warn')
    return warn({
      title: `${linkCount(problems.length)} ${problems.length === 1 ? 'is' : 'are'} not encrypted.`,
      detail:
        'An http link can be read and changed on the way, and browsers warn before they open it.',
      fix: 'Write https:// in place of http:// in your links, and see that the site answers there.',
      evidence,
      reference: rfc(9110, '4.2.2'),
    });
  const broken = problems.filter(({ status }) => status === 'fail');
  return fail({
    title: `${linkCount(broken.length)} cannot be opened from a mail program.`,
    detail: `${broken[0]!.problem}. A reader who follows such a link gets nowhere, and filters count those that run code.`,
    fix: 'Write every link as a full address that starts with https:// (or with mailto:, tel: or sms:).',
    evidence,
  });
}

function problemOf(link: MessageLink): LinkProblem | null {
  const { scheme, href, source } = link;
  // A place in the same message; and a bare `www.…` in the text, where the mail program chooses.
  const chosen = source === 'text' && /^www\./i.test(href);
  if (FINE.has(scheme) || href.startsWith('#') || chosen) return null;
  if (scheme === 'http') return { link, status: 'warn', problem: 'A link uses http' };
  const name = scheme.slice(0, 30);
  if (scheme === '')
    return {
      link,
      status: 'fail',
      problem:
        href === ''
          ? 'A link has an empty address'
          : 'The address of a link has no scheme before it',
    };
  if (DANGEROUS.has(scheme))
    return { link, status: 'fail', problem: `A link uses ${name}:, which no mail program allows` };
  return { link, status: 'fail', problem: `A link uses ${name}:, which few mail programs open` };
}
