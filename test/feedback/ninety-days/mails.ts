/** What arrives on each day of the story, from a seed: the same messages from the same seed. */

import { type Random, seededRandom } from '../../helpers/random.ts';
import { gzip, record, text, tls, tlsFailure, tlsPolicy } from '../reading/builders.ts';
import {
  DOMAINS,
  EVENTS,
  isSilent,
  type Outcome,
  type Sender,
  type StoryDomain,
  spoofed,
  within,
} from './domains.ts';
import {
  aggregateMail,
  carrier,
  coveredDays,
  GOOGLE,
  MICROSOFT,
  REPORTERS,
  type Reporter,
  STORY_BEGIN_S,
} from './reporters.ts';

const DAY_MS = 86_400_000;

/** The moment of a day of the story, in milliseconds. */
export const momentOf = (day: number, hour = 0): number =>
  STORY_BEGIN_S * 1000 + day * DAY_MS + hour * 3_600_000;

/** Such as `2026-08-24`. */
export const dateOf = (day: number): string => new Date(momentOf(day)).toISOString().slice(0, 10);

export interface StoryMail {
  /** The name of the domain to whose address it goes. */
  to: string;
  /** The domain that signs it; null for a bounce, which nobody signs. */
  signer: string | null;
  client: string;
  raw: Uint8Array;
}

/** The feedback address of a domain. */
export type AddressOf = (domain: string) => string;

/** Random numbers that depend on nothing but the seed and these. */
const randomOf = (seed: number, ...parts: (string | number)[]): Random => {
  let state = seed;
  for (const character of parts.join(' '))
    state = (Math.imul(state, 31) + character.codePointAt(0)!) | 0;
  return seededRandom(state);
};

/** A whole number, above or below by chance, so that the sums are right. */
const rounded = (random: Random, count: number): number =>
  Math.floor(count) + Number(random.chance(count % 1));

const isWeekend = (day: number): boolean => [0, 6].includes(new Date(momentOf(day)).getUTCDay());

// DMARC.

function rowOf(
  { dkim, spf, signatures, mailFrom, reason }: Outcome,
  { name, policy }: StoryDomain,
  { day, source, count }: { day: number; source: string; count: number },
): string {
  const applied = dkim === 'fail' && spf === 'fail' && !reason ? policy(day) : 'none';
  return record({
    source,
    count: String(count),
    dkim,
    spf,
    disposition: applied,
    reasons: reason ? `<reason><type>${reason}</type></reason>` : '',
    identifiers: `<identifiers><envelope_from>${mailFrom[0]}</envelope_from><header_from>${name}</header_from></identifiers>`,
    results: `<auth_results>${signatures
      .map(
        ([domain, selector, result]) =>
          `<dkim><domain>${domain}</domain><selector>${selector}</selector><result>${result}</result></dkim>`,
      )
      .join(
        '',
      )}<spf><domain>${mailFrom[0]}</domain><scope>mfrom</scope><result>${mailFrom[1]}</result></spf></auth_results>`,
  });
}

interface Counting {
  domain: StoryDomain;
  reporter: Reporter;
  day: number;
  random: Random;
}

function rowsOfSender(
  { addresses, perDay, since = 0, outcomes }: Sender,
  { domain, reporter, day, random }: Counting,
): string[] {
  if (day < since) return [];
  const sources = Object.keys(addresses);
  const source = sources[random.below(sources.length)]!;
  const variation = 0.8 + random.below(41) / 100;
  const total = perDay * reporter.share * variation * (isWeekend(day) ? 0.6 : 1);
  return outcomes(day).flatMap(([share, outcome]) => {
    const count = rounded(random, total * share);
    return count === 0 ? [] : [rowOf(outcome, domain, { day, source, count })];
  });
}

/** All reporters see the same networks on a day, and only the largest one sees the small ones. */
function rowsOfSpoofers(seed: number, { domain, reporter, day, random }: Counting): string[] {
  const { name, spoofers, perSpoofer } = domain;
  const ofDay = randomOf(seed, 'spoofers', name, day);
  const { from, to } = perSpoofer;
  return Object.entries(spoofers).flatMap(([network, since]) => {
    const isActive = ofDay.chance(0.6) && day >= since;
    const total = from + ofDay.below(to - from + 1);
    const share = to >= 10 ? reporter.share : Number(reporter === GOOGLE);
    const count = rounded(random, total * share);
    if (!isActive || count === 0) return [];
    const source = `${network}.${10 * (1 + random.below(4))}`;
    return [rowOf(spoofed(name), domain, { day, source, count })];
  });
}

function aggregateReports(seed: number, day: number, addressOf: AddressOf): StoryMail[] {
  return DOMAINS.flatMap((domain) =>
    REPORTERS.flatMap((reporter) => {
      const days = coveredDays(reporter, day);
      if (days === null || days.some((one) => isSilent(domain, one))) return [];
      const records = days.flatMap((one) => {
        const random = randomOf(seed, domain.name, reporter.org, one);
        const counting = { domain, reporter, day: one, random };
        return [
          ...domain.senders.flatMap((sender) => rowsOfSender(sender, counting)),
          ...rowsOfSpoofers(seed, counting),
        ];
      });
      const raw = aggregateMail(reporter, {
        to: addressOf(domain.name),
        domain: domain.name,
        policy: domain.policy(day),
        records: records.join(''),
        days,
        at: momentOf(day + 1, 9),
      });
      return [{ to: domain.name, signer: reporter.domain, client: reporter.address, raw }];
    }),
  );
}

// TLS.

function tlsReports(seed: number, day: number, addressOf: AddressOf): StoryMail[] {
  const domain = 'example.com';
  return [GOOGLE, MICROSOFT].map((reporter, index) => {
    const random = randomOf(seed, 'tls', reporter.org, day);
    const isBad = day === EVENTS.tlsFails && reporter === GOOGLE;
    const failed = isBad ? 60 : Number(random.chance(0.3));
    const succeeded = (index === 0 ? 150 : 80) + random.below(60);
    const id = `${dateOf(day)}-${domain}`;
    const json = tls(
      {
        'organization-name': index === 0 ? 'Google Inc.' : 'Microsoft Corporation',
        'date-range': {
          'start-datetime': `${dateOf(day)}T00:00:00Z`,
          'end-datetime': `${dateOf(day)}T23:59:59Z`,
        },
        'report-id': id,
      },
      [
        tlsPolicy(
          { 'policy-domain': domain, 'mx-host': ['mx.example.com'] },
          {
            'total-successful-session-count': succeeded,
            'total-failure-session-count': failed,
          },
          failed === 0
            ? []
            : [
                tlsFailure({
                  'result-type': isBad ? 'certificate-expired' : 'starttls-not-supported',
                  'failed-session-count': failed,
                }),
              ],
        ),
      ],
    );
    const raw = carrier(
      {
        ...reporter,
        user: reporter === GOOGLE ? 'noreply-smtp-tls-reporting' : 'tlsrpt-noreply',
      },
      {
        to: addressOf(domain),
        at: momentOf(day + 1, 9),
        id: `tls-${id}`,
        subject: `Report Domain: ${domain} Submitter: ${reporter.domain} Report-ID: <${id}>`,
        fields: `TLS-Report-Domain: ${domain}\nTLS-Report-Submitter: ${reporter.domain}\n`,
        multipart: 'multipart/report; report-type=tlsrpt',
      },
      [text('This is a TLS report.'), { type: 'application/tlsrpt+gzip', content: gzip(json) }],
    );
    return { to: domain, signer: reporter.domain, client: reporter.address, raw };
  });
}

// Complaints and bounces.

const original = (domain: string, id: string, day: number): string =>
  `Received: from mail.${domain} (mail.${domain} [192.0.2.20])
 by mx.mailbox.example with ESMTPS id 1; ${new Date(momentOf(day, 8)).toUTCString()}
DKIM-Signature: v=1; a=rsa-sha256; d=${domain}; s=mail; h=from:subject; bh=x; b=y
From: News <news@${domain}>
To: reader@mailbox.example
Subject: Offers of the week
Date: ${new Date(momentOf(day, 8)).toUTCString()}
Message-ID: <${id}@${domain}>
List-Id: <news.${domain}>

The body.
`;

const FEEDBACK_LOOP = { org: 'Yahoo! Mail AntiSpam Feedback', user: 'feedback' };

/** One now and then, which is usual, and many on one day. */
function complaints(day: number, addressOf: AddressOf): StoryMail[] {
  const domain = 'shop.example';
  const signer = 'arf.mail.yahoo.com';
  const count = day === EVENTS.complaints ? 7 : Number(day % 6 === 2);
  return Array.from({ length: count }, (_, index) => {
    const id = `news-${day}-${index}`;
    const raw = carrier(
      { ...FEEDBACK_LOOP, domain: signer },
      {
        to: addressOf(domain),
        subject: 'FW: Offers of the week',
        at: momentOf(day, 17),
        id: `arf-${id}`,
        multipart: 'multipart/report; report-type=feedback-report',
      },
      [
        text('This is an email abuse report.'),
        {
          type: 'message/feedback-report',
          content: `Feedback-Type: abuse\nVersion: 0.1\nUser-Agent: Yahoo!-Mail-Feedback/2.0\nSource-IP: 192.0.2.20\nReported-Domain: ${domain}\nOriginal-Rcpt-To: redacted@yahoo.com\n`,
          plain: true,
        },
        { type: 'message/rfc822', content: original(domain, id, day), plain: true },
      ],
    );
    return { to: domain, signer, client: '66.163.188.90', raw };
  });
}

/** An address that no longer exists every nine days, and rejections while a service is not authenticated. */
function bounces(day: number, addressOf: AddressOf): StoryMail[] {
  const domain = 'example.com';
  const isFailing = within(day, EVENTS.sendgridFails);
  if (!isFailing && day % 9 !== 4) return [];
  const status = isFailing
    ? 'Status: 5.7.26\nDiagnostic-Code: smtp; 550 5.7.26 This mail is unauthenticated\n'
    : 'Status: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 No such user\n';
  const raw = carrier(
    { org: 'Mail Delivery System', user: 'mailer-daemon', domain: 'mx.mailbox.example' },
    {
      to: addressOf(domain),
      subject: 'Undelivered mail',
      at: momentOf(day, 17),
      id: `dsn-${day}`,
      multipart: 'multipart/report; report-type=delivery-status',
    },
    [
      text('Your message was not delivered.'),
      {
        type: 'message/delivery-status',
        content: `Reporting-MTA: dns; mx.mailbox.example\n\nFinal-Recipient: rfc822; reader@mailbox.example\nAction: failed\n${status}`,
        plain: true,
      },
      {
        type: 'text/rfc822-headers',
        content: original(domain, `bounced-${day}`, day),
        plain: true,
      },
    ],
  );
  return [{ to: domain, signer: null, client: '203.0.112.80', raw }];
}

/** What arrives on the day itself, about single messages. */
export const mailsDuring = (day: number, addressOf: AddressOf): StoryMail[] => [
  ...complaints(day, addressOf),
  ...bounces(day, addressOf),
];

/** What arrives on the morning after a day: the reports about it. */
export const mailsAfter = (seed: number, day: number, addressOf: AddressOf): StoryMail[] => [
  ...aggregateReports(seed, day, addressOf),
  ...tlsReports(seed, day, addressOf),
];

/** Every domain that signs. */
export const SIGNERS = [...REPORTERS.map(({ domain }) => domain), 'arf.mail.yahoo.com'];
