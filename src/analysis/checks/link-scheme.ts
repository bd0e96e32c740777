/** `link_scheme`: every link starts with a scheme that mail programs open, and web links are encrypted. */

import { type Check, type Finding, fail, pass, rfc, skipped, unknown, warn } from '../check.ts';
import {
  type LinkProblem,
  linkCount,
  type MessageLink,
  messageLinks,
  PUBLIC_LINK_PROBLEMS,
  problemEvidence,
  unseenLinks,
} from '../links/links.ts';

const FINE = new Set(['https', 'mailto', 'tel', 'sms']);
/** They run or show what the address itself holds, or what lies on the reader's disk. */
const DANGEROUS = new Set(['javascript', 'vbscript', 'data', 'file', 'blob']);
/** What opens them; web mail often takes such links out. */
const APPS = new Map([
  ...each('a calendar program', 'webcal webcals'),
  ...each('a map program', 'geo maps comgooglemaps google.navigation waze'),
  ...each('a program for calls', 'facetime facetime-audio sip sips callto skype'),
  ...each('a program for messages', 'whatsapp tg signal sgnl viber line xmpp imessage smsto mms'),
  ...each('a program for messages', 'fb-messenger matrix slack msteams'),
  ...each('a program for meetings', 'zoommtg zoomus'),
  ...each('an app store', 'market itms itms-apps itms-appss ms-windows-store'),
  ...each('an app', 'fb instagram twitter spotify intent android-app ms-outlook'),
  ...each('a program for files', 'ftp ftps sftp magnet'),
]);

function each(app: string, schemes: string): [string, string][] {
  return schemes.split(' ').map((scheme) => [scheme, app]);
}

export const linkScheme: Check = {
  id: 'link_scheme',
  category: 'content',
  points: 1,
  label: 'Schemes of links',
  issueTitle: 'Links are not encrypted or do not open everywhere',
  reference: rfc(3986, '3.1'),
  publicEvidence: PUBLIC_LINK_PROBLEMS,
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

function badSchemes(links: MessageLink[], problems: LinkProblem[]): Finding {
  const evidence = problemEvidence(links, problems);
  const broken = problems.filter(({ status }) => status === 'fail');
  if (broken.length > 0)
    return fail({
      title: `${linkCount(broken.length)} cannot be opened from a mail program.`,
      detail: `${broken[0]!.problem}. A reader who follows such a link gets nowhere, and filters count those that run code.`,
      fix: 'Write every link as a full address that starts with https:// (or with mailto:, tel: or sms:).',
      evidence,
    });
  const open = problems.filter(({ link }) => link.scheme === 'http');
  if (open.length === 0) return needsApp(problems, evidence);
  return warn({
    title: `${linkCount(open.length)} ${open.length === 1 ? 'is' : 'are'} not encrypted.`,
    detail:
      'An http link can be read and changed on the way, and browsers warn before they open it.',
    fix: 'Write https:// in place of http:// in your links, and see that the site answers there.',
    evidence,
    reference: rfc(9110, '4.2.2'),
  });
}

function needsApp(problems: LinkProblem[], evidence: Finding['evidence']): Finding {
  return warn({
    title: `${linkCount(problems.length)} ${problems.length === 1 ? 'opens' : 'open'} only for some of your readers.`,
    detail: `${problems[0]!.problem}. Where there is none the link does nothing, and web mail often takes such links out.`,
    fix: 'Link to a web page with https:// that opens the program or says what to do without it.',
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
  const app = APPS.get(scheme) ?? 'a program that knows it';
  return { link, status: 'warn', problem: `A link uses ${name}:, which needs ${app}` };
}
