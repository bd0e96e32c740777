/** `link_host`: links lead to plain domain names that readers can trust. */

import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { deceptiveScripts } from '../../lib/readable-domain.ts';
import { type Check, fail, pass, type Reference, rfc, skipped, unknown, warn } from '../check.ts';
import { fullHostName } from '../dns/names.ts';
import { MAX_URL_LENGTH } from '../html/links.ts';
import {
  describeUnreadLinks,
  type LinkProblem,
  linkCount,
  type MessageLink,
  messageLinks,
  PUBLIC_LINK_PROBLEMS,
  problemEvidence,
  worstStatus,
} from '../links/links.ts';

/** UTS 39: Unicode Security Mechanisms. */
const SCRIPTS: Reference = {
  name: 'UTS 39 §5.1, mixed-script detection',
  url: 'https://www.unicode.org/reports/tr39/#Mixed_Script_Detection',
};

interface HostProblem extends LinkProblem {
  /** Why it matters, as a full sentence. */
  why: string;
  fix: string;
  reference?: Reference;
}

export const linkHost: Check = {
  id: 'link_host',
  category: 'content',
  points: 2,
  label: 'Link hosts',
  issueTitle: 'Links to hosts that spam filters distrust',
  reference: rfc(3986, '7.6'),
  publicEvidence: PUBLIC_LINK_PROBLEMS,
  run(context) {
    const all = context.fact(messageLinks);
    const links = all.filter(({ scheme }) => scheme === 'http' || scheme === 'https');
    const hosts = new Set(links.map(({ host }) => host ?? ''));
    const localHosts = new Set([...hosts].filter(isLocalHost));
    const problems = links
      .map((link) => problemOf(link, localHosts))
      .filter((problem) => problem !== null);
    const status = worstStatus(problems);
    const first = problems.find((problem) => problem.status === status);
    if (first)
      return {
        ...(status === 'fail' ? fail : warn)({
          title: `${linkCount(problems.length)} ${problems.length === 1 ? 'has' : 'have'} a host that spam filters distrust.`,
          detail: `${first.problem}. ${first.why}`,
          fix: first.fix,
          evidence: problemEvidence(links, problems),
        }),
        ...(first.reference ? { reference: first.reference } : {}),
      };
    const unreadReason = describeUnreadLinks(context, all);
    if (unreadReason) return unknown('Could not check the hosts of all links.', unreadReason);
    if (links.length === 0)
      return skipped('Link hosts were not checked.', 'Your message has no web links.');
    return pass(
      'Your links lead to plain domain names.',
      'None leads to an IP address or a disguised name.',
      { links: links.length },
    );
  },
};

const USE_NAME = 'Link to the domain name of your website, such as https://www.example.com/.';

function problemOf(link: MessageLink, localHosts: Set<string>): HostProblem | null {
  const { url, host } = link;
  if (link.isTagged && host === null) return null;
  const problem = (details: Omit<HostProblem, 'link' | 'status'>): HostProblem => ({
    link,
    status: 'fail',
    ...details,
  });
  if (link.href.length > MAX_URL_LENGTH)
    return problem({
      problem: `The URL of a link is longer than ${MAX_URL_LENGTH.toLocaleString('en')} characters`,
      why: 'Servers and email clients reject or truncate such URLs.',
      fix: 'Store the data of the URL on your server, and link to it with a short key.',
    });
  // The URL parser accepts characters that no host name has, such as the braces of a placeholder.
  if (url === null || !host || !/^[\w.:-]+$/.test(host))
    return problem({
      problem: 'A link has an invalid URL',
      why: 'No email client can open it.',
      fix: 'Write the URL as https://, the host and the path. Percent-encode spaces and other special characters. Check for placeholders that were not filled in.',
    });
  if (url.username !== '' || url.password !== '')
    return problem({
      problem: `A link to ${host} has a user name before its host`,
      why: 'Phishing links use this form because recipients may mistake the part before the @ for the website. Browsers warn about such links or block them.',
      fix: `Remove everything between https:// and ${host}.`,
    });
  if (isIP(host) !== 0)
    return problem({
      problem: `A link leads to the IP address ${host}`,
      why: 'Spam filters penalize this because legitimate sites have names.',
      fix: USE_NAME,
    });
  const deceptive = scriptProblem(link, host);
  if (deceptive || !localHosts.has(host)) return deceptive;
  return problem({
    problem: `A link leads to ${host.slice(0, 100)}, which is not a full domain name`,
    why: 'Only your own computer or network can resolve it, so recipients cannot open it.',
    fix: USE_NAME,
  });
}

const isLocalHost = (host: string): boolean => fullHostName(host) === null && !host.includes('_');

function scriptProblem(link: MessageLink, host: string): HostProblem | null {
  const deceptive = deceptiveLabel(host);
  if (!deceptive) return null;
  const mixed = deceptive.scripts.length > 1;
  return {
    link,
    status: mixed ? 'fail' : 'warn',
    problem: mixed
      ? `The name ${deceptive.label} (${host}) mixes ${deceptive.scripts.join(' and ')} letters`
      : `The name ${deceptive.label} (${host}) is Cyrillic and looks like a Latin one`,
    why: 'Browsers show such names in their encoded form, and spam filters treat them as attempts to imitate another name.',
    fix: 'Use a name in which each label is written in one script, or the plain ASCII name of your site.',
    reference: SCRIPTS,
  };
}

// Labels that mix scripts with similar letters.

interface LabelScripts {
  /** The label in Unicode. */
  label: string;
  /** The mixed scripts; a single script if the label only looks like a Latin word. */
  scripts: string[];
}

/** The first label of the host (in A-labels) that readers may mistake for another, or null. */
function deceptiveLabel(host: string): LabelScripts | null {
  if (!host.includes('xn--')) return null;
  const labels = domainToUnicode(host).split('.');
  for (const label of labels) {
    const scripts = deceptiveScripts(label, labels.at(-1)!);
    if (scripts) return { label, scripts };
  }
  return null;
}
