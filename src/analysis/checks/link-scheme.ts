/** `link_scheme`: every link has a scheme that email clients open, and web links use https. */

import { type Check, type Finding, fail, pass, rfc, skipped, unknown, warn } from '../check.ts';
import {
  describeUnreadLinks,
  type LinkProblem,
  linkCount,
  type MessageLink,
  messageLinks,
  PUBLIC_LINK_PROBLEMS,
  problemEvidence,
} from '../links/links.ts';

const ALLOWED = new Set(['https', 'mailto', 'tel', 'sms']);
/** They run or show content of the URL itself, or files on the recipient's device. */
const DANGEROUS = new Set(['javascript', 'vbscript', 'data', 'file', 'blob']);
/** The kind of app that opens each scheme. Webmail often removes such links. */
const APPS = new Map([
  ...schemesOf('a calendar app', 'webcal webcals'),
  ...schemesOf('a map app', 'geo maps comgooglemaps google.navigation waze'),
  ...schemesOf('a calling app', 'facetime facetime-audio sip sips callto skype'),
  ...schemesOf('a messaging app', 'whatsapp tg signal sgnl viber line xmpp imessage smsto mms'),
  ...schemesOf('a messaging app', 'fb-messenger matrix slack msteams'),
  ...schemesOf('a meeting app', 'zoommtg zoomus'),
  ...schemesOf('an app store', 'market itms itms-apps itms-appss ms-windows-store'),
  ...schemesOf('an app', 'fb instagram twitter spotify intent android-app ms-outlook'),
  ...schemesOf('a file transfer app', 'ftp ftps sftp magnet'),
]);

function schemesOf(app: string, schemes: string): [string, string][] {
  return schemes.split(' ').map((scheme) => [scheme, app]);
}

export const linkScheme: Check = {
  id: 'link_scheme',
  category: 'content',
  points: 1,
  label: 'Link schemes',
  issueTitle: 'Links are not encrypted or do not open everywhere',
  reference: rfc(3986, '3.1'),
  publicEvidence: PUBLIC_LINK_PROBLEMS,
  run(context) {
    const links = context.fact(messageLinks);
    const problems = links.map(problemOf).filter((problem) => problem !== null);
    if (problems.length > 0) return badSchemes(links, problems);
    const unreadReason = describeUnreadLinks(context, links);
    if (unreadReason) return unknown('Could not check the schemes of all links.', unreadReason);
    if (links.length === 0)
      return skipped('Link schemes were not checked.', 'Your message has no links.');
    return pass('Your links use https.', 'Email clients open them without a warning.', {
      links: links.length,
    });
  },
};

function badSchemes(links: MessageLink[], problems: LinkProblem[]): Finding {
  const evidence = problemEvidence(links, problems);
  const broken = problems.filter(({ status }) => status === 'fail');
  if (broken.length > 0)
    return fail({
      title: `${linkCount(broken.length)} cannot be opened from an email client.`,
      detail: `${broken[0]!.problem}. Clicking such a link does nothing, and spam filters penalize links that run code.`,
      fix: 'Start every link with https:// (or with mailto:, tel: or sms:).',
      evidence,
    });
  const insecure = problems.filter(({ link }) => link.scheme === 'http');
  if (insecure.length === 0) return needsApp(problems, evidence);
  return warn({
    title: `${linkCount(insecure.length)} ${insecure.length === 1 ? 'uses' : 'use'} http, which is not encrypted.`,
    detail:
      'Anyone on the network path can read or change an http page, and browsers warn before they open it.',
    fix: 'Change http:// to https:// in your links, and make sure that the site supports it.',
    evidence,
    reference: rfc(9110, '4.2.2'),
  });
}

function needsApp(problems: LinkProblem[], evidence: Finding['evidence']): Finding {
  return warn({
    title: `${linkCount(problems.length)} ${problems.length === 1 ? 'works' : 'work'} only for some recipients.`,
    detail: `${problems[0]!.problem}. Without that app, the link does nothing. Webmail often removes such links.`,
    fix: 'Link to an https:// page that opens the app or explains what to do without it.',
    evidence,
  });
}

function problemOf(link: MessageLink): LinkProblem | null {
  const { scheme, href, source } = link;
  // For a bare `www.…` in the text part, the email client chooses the scheme.
  const isBareHost = source === 'text' && /^www\./i.test(href);
  if (link.isTagged && scheme === '') return null;
  if (ALLOWED.has(scheme) || href.startsWith('#') || isBareHost) return null;
  if (scheme === 'http') return { link, status: 'warn', problem: 'A link uses http' };
  const name = scheme.slice(0, 30);
  if (scheme === '')
    return {
      link,
      status: 'fail',
      problem:
        href === '' ? 'A link has an empty URL' : 'The URL of a link has no scheme, such as https:',
    };
  if (DANGEROUS.has(scheme))
    return { link, status: 'fail', problem: `A link uses ${name}:, which email clients block` };
  const app = APPS.get(scheme) ?? 'an app that supports it';
  return { link, status: 'warn', problem: `A link uses ${name}:, which needs ${app}` };
}
