/** Checks that say what other hosts would have answered: blocklists, spam filters, the servers of links. */

import {
  type Check,
  type Finding,
  fail,
  info,
  pass,
  type Reference,
  rfc,
  unknown,
  warn,
} from '../../src/analysis/check.ts';

const check = (
  id: string,
  category: Check['category'],
  points: number,
  label: string,
  finding: Finding,
  reference: Reference = rfc(5782),
): Check => ({ id, category, points, label, reference, run: () => finding });

const list = (name: string, zone: string, tier: number, status: string, meaning = '') => ({
  zone,
  name,
  tier,
  status,
  codes: status === 'listed' ? ['127.0.0.2'] : [],
  meaning: meaning || null,
  delisting: `https://${zone}/lookup`,
});

const IP_LISTS = [
  list('Spamhaus ZEN', 'zen.spamhaus.example', 1, 'not_listed'),
  list('SpamCop', 'bl.spamcop.example', 2, 'not_listed'),
  list('Mailspike BL', 'bl.mailspike.example', 2, 'not_listed'),
  list('PSBL', 'psbl.surriel.example', 2, 'not_listed'),
];

const ipClean = (ip: string): Check =>
  check(
    'ip_blocklists',
    'reputation',
    14,
    'Address blocklists',
    pass(
      `${ip} is on no blocklist.`,
      'Nothing that receivers look up there speaks against the mail.',
      { client_ip: ip, lists: IP_LISTS },
    ),
  );

const ipListed = (ip: string): Check =>
  check(
    'ip_blocklists',
    'reputation',
    14,
    'Address blocklists',
    warn({
      title: `${ip} is listed by SpamCop.`,
      detail: 'SpamCop: a source of reported spam. Spam filters count such a listing.',
      fix: 'First find and stop what caused it: a hijacked account or web form, an infected machine, or mail to people who did not ask for it. Look it up and ask for removal at https://bl.spamcop.example/lookup (SpamCop).',
      evidence: {
        client_ip: ip,
        lists: [
          IP_LISTS[0]!,
          list('SpamCop', 'bl.spamcop.example', 2, 'listed', 'a source of reported spam'),
          ...IP_LISTS.slice(2),
        ],
      },
    }),
  );

const domainsClean = check(
  'domain_blocklists',
  'reputation',
  10,
  'Domain blocklists',
  pass(
    'None of your domains is on a blocklist.',
    'Nothing that receivers look up there speaks against the mail.',
    { lists: [list('Spamhaus DBL', 'dbl.spamhaus.example', 1, 'not_listed')] },
  ),
);

const domainsUnknown = check(
  'domain_blocklists',
  'reputation',
  10,
  'Domain blocklists',
  unknown(
    'It could not be found out whether your domains are on a blocklist.',
    'No list that counts has answered. Not known from Spamhaus DBL, which is not counted against you.',
    { lists: [list('Spamhaus DBL', 'dbl.spamhaus.example', 1, 'error')] },
  ),
);

const linksClean = check(
  'link_blocklists',
  'reputation',
  6,
  'Link blocklists',
  pass(
    'No domain that you link to is on a blocklist.',
    'Filters look the domains of links up there.',
  ),
);

const spamassassinPasses = check(
  'spamassassin',
  'spam_filters',
  10,
  'SpamAssassin',
  pass(
    'SpamAssassin does not take your message for spam.',
    'It gives 0.4 of the 5 points at which a message is spam.',
    {
      score: 0.4,
      threshold: 5,
      rules: [
        { rule: 'HTML_MESSAGE', score: 0.4, description: 'HTML included in message' },
        { rule: 'MIME_GOOD', score: 0, description: 'Message type in MIME' },
      ],
    },
  ),
  { name: 'SpamAssassin tests', url: 'https://spamassassin.apache.org/tests.html' },
);

const spamassassinFails = check(
  'spamassassin',
  'spam_filters',
  10,
  'SpamAssassin',
  fail({
    title: 'SpamAssassin takes your message for spam.',
    detail:
      'It gives 5.8 of the 5 points at which a message is spam. Receivers that use it file such mail as spam or refuse it.',
    fix: 'Change what these rules found, beginning with the heaviest: URG_BIZ (2.4: Contains urgent matter); MIME_HTML_ONLY (1.9: Message only has text/html MIME parts).',
    evidence: {
      score: 5.8,
      threshold: 5,
      engine_score: 9.1,
      rules: [
        { rule: 'URG_BIZ', score: 2.4, description: 'Contains urgent matter' },
        {
          rule: 'MIME_HTML_ONLY',
          score: 1.9,
          description: 'Message only has text/html MIME parts',
        },
        { rule: 'SUBJ_ALL_CAPS', score: 1.5, description: 'Subject is all capitals' },
      ],
      checked_elsewhere: [
        { rule: 'RDNS_NONE', score: 1.3, description: 'Delivered by a host with no rDNS' },
        { rule: 'SPF_FAIL', score: 2, description: 'SPF: sender does not match SPF record (fail)' },
      ],
    },
  }),
  { name: 'SpamAssassin tests', url: 'https://spamassassin.apache.org/tests.html' },
);

/** Every address asked by HEAD; the dead one is a finding. */
function linkStatus(links: { href: string; status: string; reason: string }[]): Check {
  const dead = links.filter(({ status }) => status === 'dead');
  const evidence = { links };
  const reference = rfc(9110, '15.5.5');
  const finding =
    dead.length > 0
      ? warn({
          title: 'A link in your message is dead.',
          detail: 'Readers who follow it find nothing, and filters count dead links.',
          fix: `Correct or remove ${dead[0]!.href}.`,
          evidence,
        })
      : pass('Your links work.', 'Each was asked by HEAD.', evidence);
  return check('link_status', 'content', 2, 'Link status', finding, reference);
}

const allowlists = check(
  'allowlists',
  'reputation',
  0,
  'Allowlists',
  info('Your address is on no allowlist.', 'That is usual, and costs nothing.'),
);

export const goodReputation = (ip: string): Check[] => [
  ipClean(ip),
  domainsClean,
  linksClean,
  allowlists,
  spamassassinPasses,
];

export const badReputation = (ip: string): Check[] => [
  ipListed(ip),
  domainsUnknown,
  linksClean,
  spamassassinFails,
];

export { linkStatus };
