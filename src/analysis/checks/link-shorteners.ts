/** `link_shorteners`: no link hides its destination behind a public URL shortener. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { type Check, fail, pass, skipped, unknown } from '../check.ts';
import { fromDomain } from '../dns/names.ts';
import {
  describeUnreadLinks,
  type LinkProblem,
  linkCount,
  messageLinks,
  PUBLIC_LINK_PROBLEMS,
  problemEvidence,
} from '../links/links.ts';

/** Mail from the shortener's own domain is exempt: its links lead to its own site. */
export const linkShorteners: Check = {
  id: 'link_shorteners',
  category: 'content',
  points: 2,
  label: 'URL shorteners',
  issueTitle: 'Links use a public URL shortener',
  reference: {
    name: 'SpamAssassin: DecodeShortURLs',
    url: 'https://spamassassin.apache.org/full/4.0.x/doc/Mail_SpamAssassin_Plugin_DecodeShortURLs.html',
  },
  publicEvidence: PUBLIC_LINK_PROBLEMS,
  run(context) {
    const all = context.fact(messageLinks);
    const links = all.filter(({ host }) => host !== null);
    const sender = organizationalDomain(fromDomain(context) ?? '');
    const problems = links.flatMap((link): LinkProblem[] => {
      const host = link.host!.replace(/^www\./, '');
      if (!SHORTENER_HOSTS.has(host) || link.domain === sender) return [];
      return [{ link, status: 'fail', problem: host }];
    });
    if (problems.length > 0) {
      const hosts = [...new Set(problems.map(({ problem }) => problem))];
      return fail({
        title: `${linkCount(problems.length)} ${problems.length === 1 ? 'uses' : 'use'} a public URL shortener.`,
        detail: `Found: ${hosts.slice(0, 3).join(', ')}. Spammers hide their sites behind these services, so spam filters penalize such links, and blocklists list many of them.`,
        fix: 'Link to the full URL. If you need short or tracked links, use your own domain for them.',
        evidence: problemEvidence(links, problems),
      });
    }
    const unreadReason = describeUnreadLinks(context, all);
    if (unreadReason) return unknown('Could not check all links for URL shorteners.', unreadReason);
    if (links.length === 0)
      return skipped('URL shorteners were not checked.', 'Your message has no web links.');
    return pass(
      'Your links use no URL shortener.',
      'Recipients and spam filters see where they lead.',
      {
        links: links.length,
      },
    );
  },
};

/**
 * Public services where anyone can create a short URL to any site. Not listed: short domains that
 * lead to one site only (youtu.be, amzn.to, forms.gle), and those of a single company.
 */
const SHORTENER_HOSTS: ReadonlySet<string> = new Set([
  '2no.co',
  'adf.ly',
  'bit.do',
  'bit.ly',
  'bitly.ws',
  'buff.ly',
  'clck.ru',
  'cli.re',
  'clk.sh',
  'cutt.ly',
  'cutt.us',
  'dlvr.it',
  'dub.sh',
  'gg.gg',
  'goo.gl',
  'goo.su',
  'ift.tt',
  'is.gd',
  'j.mp',
  'kutt.it',
  'lnkd.in',
  'n9.cl',
  'ow.ly',
  'ouo.io',
  'qrco.de',
  'rb.gy',
  'rebrand.ly',
  'reurl.cc',
  's.id',
  'short.cm',
  'short.gy',
  'shorte.st',
  'shorturl.at',
  'shrtco.de',
  'snip.ly',
  'soo.gd',
  'surl.li',
  't.co',
  't.ly',
  't2m.io',
  'tiny.cc',
  'tiny.one',
  'tiny.pl',
  'tinyurl.com',
  'u.to',
  'urlz.fr',
  'urly.it',
  'v.gd',
  'vk.cc',
  'x.gd',
]);
