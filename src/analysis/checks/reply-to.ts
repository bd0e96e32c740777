/** `reply_to`: answers go to the organization that the message claims to be from. */

import { addressDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { type Check, type Finding, pass, rfc, skipped, unknown, warn } from '../check.ts';
import { fromDomain } from '../dns/names.ts';
import { listEntries, mailboxListProblem } from '../mime/mailbox-list.ts';
import { fields, LIMITS } from '../mime/message.ts';

// More than anybody has answers sent to.
const MAX_ADDRESSES = 20;

/** Looks at the first Reply-To field; a doubled one belongs to `header_duplicates`. */
export const replyTo: Check = {
  id: 'reply_to',
  category: 'compliance',
  points: 1,
  label: 'Reply-To',
  issueTitle: 'Reply-To is unreadable or at another domain',
  reference: rfc(5322, '3.6.2'),
  publicEvidence: { reply_to: 'token-free' },
  run(context) {
    const field = fields(context.message, 'reply-to')[0];
    if (!field) return absent(context.message.headerBytes);
    const evidence = { reply_to: field.value.slice(0, 500) };
    const problem = mailboxListProblem(field.value);
    if (problem) return { ...unreadable(problem), evidence };
    const from = fromDomain(context);
    if (from === null)
      return skipped(
        'Reply-To was not compared with From.',
        'From holds no domain to compare it with.',
      );
    const domains = listEntries(field.value).slice(0, MAX_ADDRESSES).map(domainOf);
    const foreign = domains.find((domain) => organization(domain) !== organization(from));
    if (foreign !== undefined) return { ...elsewhere(foreign, from), evidence };
    return pass(
      `Answers to your message go to ${[...new Set(domains)].join(' and ')}.`,
      'Reply-To belongs to the same organization as From.',
      evidence,
    );
  },
};

function absent(headerBytes: number): Finding {
  if (headerBytes > LIMITS.headerBytes)
    return unknown(
      "Your message's Reply-To field could not be found.",
      'The header is longer than what is looked at; the field may come after that.',
    );
  return pass('Answers to your message go to its From address.', 'It has no Reply-To field.');
}

/** The list is valid, so that each entry ends in its address. */
const domainOf = (entry: string): string =>
  addressDomain(entry.replace(/>$/, '')) ?? entry.slice(0, 100);

const organization = (domain: string): string => organizationalDomain(domain) ?? domain;

function unreadable(problem: string): Finding {
  return warn({
    title: 'Your Reply-To field cannot be read.',
    detail: `Programs may send answers nowhere: ${problem}.`,
    fix: 'Write the name, then the address in angle brackets: "Reply-To: Example Ltd <support@example.com>"; or leave the field out.',
  });
}

function elsewhere(domain: string, from: string): Finding {
  return warn({
    title: `Answers to your message go to ${domain}, not to ${from}.`,
    detail:
      'Forgers write the name of a known organization into From and have the answers come to themselves, so filters count a Reply-To at another domain.',
    fix: `Use an address at ${organization(from)} in Reply-To, and have it forwarded to where the answers are read.`,
  });
}
