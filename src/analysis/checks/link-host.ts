/** `link_host`: links lead to plain names that a reader can trust. */

import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { type Check, fail, pass, type Reference, rfc, skipped, unknown, warn } from '../check.ts';
import { fullHostName } from '../dns/names.ts';
import { MAX_URL } from '../html/links.ts';
import {
  type LinkProblem,
  linkCount,
  type MessageLink,
  messageLinks,
  PUBLIC_LINK_PROBLEMS,
  problemEvidence,
  unseenLinks,
  worstOf,
} from '../links/links.ts';

/** UTS 39: Unicode Security Mechanisms. */
const SCRIPTS: Reference = {
  name: 'UTS 39 §5.1, mixed-script detection',
  url: 'https://www.unicode.org/reports/tr39/#Mixed_Script_Detection',
};

interface HostProblem extends LinkProblem {
  /** Half a sentence on why it matters. */
  why: string;
  fix: string;
  reference?: Reference;
}

export const linkHost: Check = {
  id: 'link_host',
  category: 'content',
  points: 2,
  label: 'Hosts of links',
  issueTitle: 'Links have hosts that filters distrust',
  reference: rfc(3986, '7.6'),
  publicEvidence: PUBLIC_LINK_PROBLEMS,
  run(context) {
    const all = context.fact(messageLinks);
    const links = all.filter(({ scheme }) => scheme === 'http' || scheme === 'https');
    const problems = links.map(problemOf).filter((problem) => problem !== null);
    const status = worstOf(problems);
    const first = problems.find((problem) => problem.status === status);
    if (first)
      return {
        ...(status === 'fail' ? fail : warn)({
          title: `${linkCount(problems.length)} ${problems.length === 1 ? 'has' : 'have'} a host that filters distrust.`,
          detail: `${first.problem}: ${first.why}.`,
          fix: first.fix,
          evidence: problemEvidence(links, problems),
        }),
        ...(first.reference ? { reference: first.reference } : {}),
      };
    const unseen = unseenLinks(context, all);
    if (unseen) return unknown('The hosts of your links could not be checked.', unseen);
    if (links.length === 0)
      return skipped('There is no link to check.', 'The message has no links to web addresses.');
    return pass('Your links lead to plain names.', 'None has a bare address or a disguised name.', {
      links: links.length,
    });
  },
};

const NAME = 'Let the link lead to the name of your web site, such as https://www.example.com/.';

function problemOf(link: MessageLink): HostProblem | null {
  const { url, host } = link;
  const problem = (rest: Omit<HostProblem, 'link' | 'status'>): HostProblem => ({
    link,
    status: 'fail',
    ...rest,
  });
  if (link.href.length > MAX_URL)
    return problem({
      problem: `The address of a link is longer than ${MAX_URL.toLocaleString('en')} characters`,
      why: 'servers and mail programs refuse such addresses or cut them',
      fix: 'Keep what the address carries on your server, and link to it by a short key.',
    });
  // The URL parser lets signs through that no name has, such as the braces of a placeholder.
  if (url === null || !host || !/^[\w.:-]+$/.test(host))
    return problem({
      problem: 'The address of a link cannot be read',
      why: 'no mail program can open it',
      fix: 'Write the address as https://, the host and the path, with spaces and other special characters percent-encoded, and look for placeholders that were not filled in.',
    });
  if (url.username !== '' || url.password !== '')
    return problem({
      problem: `A link to ${host} has a user name before its host`,
      why: 'readers take what stands before the @ for the site, which is a trick of phishing; browsers warn of it or refuse it',
      fix: `Remove everything between https:// and ${host}.`,
    });
  if (isIP(host) !== 0)
    return problem({
      problem: `A link leads to the bare address ${host}`,
      why: 'filters count that, for honest sites have names',
      fix: NAME,
    });
  return scriptProblem(link, host) ?? localProblem(link, host);
}

function localProblem(link: MessageLink, host: string): HostProblem | null {
  if (fullHostName(host) !== null || host.includes('_')) return null;
  return {
    link,
    status: 'fail',
    problem: `A link leads to ${host.slice(0, 100)}, which is no full name on the Internet`,
    why: 'only your own machine or network can know it, so readers cannot open it',
    fix: NAME,
  };
}

function scriptProblem(link: MessageLink, host: string): HostProblem | null {
  const found = deceptiveLabel(host);
  if (!found) return null;
  const mixed = found.scripts.length > 1;
  return {
    link,
    status: mixed ? 'fail' : 'warn',
    problem: mixed
      ? `The name ${found.label} (${host}) mixes ${found.scripts.join(' and ')} letters`
      : `The name ${found.label} (${host}) is Cyrillic and looks like a Latin one`,
    why: 'browsers show such names in their coded form, and filters take them for imitations',
    fix: 'Use a name whose labels are each written in one script, or the plain ASCII name of your site.',
    reference: SCRIPTS,
  };
}

// Names in several scripts: labels that mix those whose letters look alike (UTS 39 §5.1).

const ALIKE: [name: string, letter: RegExp][] = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
];

/** Cyrillic letters that no reader tells from Latin ones. */
const LOOKALIKE = /^[асԁеһіјӏорԛѕԝху\d-]+$/u;

interface LabelScripts {
  /** The label as it is read. */
  label: string;
  /** More than one: the scripts that are mixed. One: it looks like a Latin word and is none. */
  scripts: string[];
}

/** The first label of the host (in A-labels) that may be taken for another; null where there is none. */
function deceptiveLabel(host: string): LabelScripts | null {
  if (!host.includes('xn--')) return null;
  const labels = domainToUnicode(host).split('.');
  for (const label of labels) {
    const scripts = ALIKE.filter(([, letter]) => letter.test(label)).map(([name]) => name);
    if (scripts.length > 1) return { label, scripts };
    // Below a Cyrillic ending a Cyrillic name is what a reader expects.
    const latinEnding = /^[a-z]+$/.test(labels.at(-1)!);
    if (scripts[0] === 'Cyrillic' && latinEnding && LOOKALIKE.test(label))
      return { label, scripts };
  }
  return null;
}
