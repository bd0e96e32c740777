/** `reply_to`: replies go to the organization in From. */

import { addressDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { type Check, type Finding, pass, rfc, skipped, unknown, warn } from '../check.ts';
import { fromDomain } from '../dns/names.ts';
import { forwarding } from '../forwarding/forwarding.ts';
import { entryAddress, listEntries, mailboxListProblem } from '../mime/mailbox-list.ts';
import { fields, LIMITS } from '../mime/message.ts';
import { isOfVisitor } from '../sender-setup/contact-form.ts';
import { foreignSender } from '../sending-services/foreign-sender.ts';
import { foreignOwner, ownDomainFix } from '../sending-services/ownership.ts';

// Bounds the work on a hostile field.
const MAX_ADDRESSES = 20;

/** Checks the first Reply-To field; `header_duplicates` reports duplicates. */
export const replyTo: Check = {
  id: 'reply_to',
  category: 'compliance',
  points: 1,
  label: 'Reply-To',
  issueTitle: 'Reply-To is invalid or at another domain',
  reference: rfc(5322, '3.6.2'),
  publicEvidence: { reply_to: 'token-free' },
  async run(context) {
    const field = fields(context.message, 'reply-to')[0];
    if (!field) return withoutReplyTo(context.message.headerBytes);
    const evidence = { reply_to: field.value.slice(0, 500) };
    const problem = mailboxListProblem(field.value);
    if (problem) return { ...invalid(problem), evidence };
    const from = fromDomain(context);
    if (from === null)
      return skipped('Reply-To was not compared with From.', 'The From field has no domain.');
    const entries = listEntries(field.value).slice(0, MAX_ADDRESSES);
    const domains = entries.map(domainOf);
    if (context.fact(forwarding).kind === 'list')
      return pass(
        `Replies to your message go to ${[...new Set(domains)].join(' and ')}.`,
        'The mailing list sets Reply-To, so that replies reach the list.',
        evidence,
      );
    const sender = await context.fact(foreignSender);
    if (sender)
      return pass(
        `Replies to your message go to ${[...new Set(domains)].join(' and ')}.`,
        `${sender.company.name} uses its own domain in From, so Reply-To has the address for replies.`,
        evidence,
      );
    const otherDomain = domains.find((domain) => organization(domain) !== organization(from));
    if (
      otherDomain !== undefined &&
      entries.every((entry) => isOfVisitor(context, entryAddress(entry)))
    )
      return pass(
        `Replies to your message go to ${[...new Set(domains)].join(' and ')}.`,
        'Reply-To has the address that a visitor entered in a form.',
        evidence,
      );
    if (otherDomain !== undefined) return { ...atOtherDomain(otherDomain, from), evidence };
    return pass(
      `Replies to your message go to ${[...new Set(domains)].join(' and ')}.`,
      'Reply-To belongs to the same organization as From.',
      evidence,
    );
  },
};

function withoutReplyTo(headerBytes: number): Finding {
  if (headerBytes > LIMITS.headerBytes)
    return unknown(
      'Could not determine whether your message has a Reply-To field.',
      'Your header is too long to read in full. The rest may contain Reply-To.',
    );
  return pass('Replies to your message go to its From address.', 'It has no Reply-To field.');
}

const domainOf = (entry: string): string =>
  addressDomain(entryAddress(entry)) ?? entry.slice(0, 100);

const organization = (domain: string): string => organizationalDomain(domain) ?? domain;

function invalid(problem: string): Finding {
  return warn({
    title: 'Your Reply-To field is invalid.',
    detail: `Replies may get lost: ${problem}.`,
    fix: 'Write the name, then the address in angle brackets: "Reply-To: Example Ltd <support@example.com>". Or remove the field.',
  });
}

/** At the domain of a mailbox provider or service, the sender cannot create the address for replies. */
function replyFix(domain: string, from: string): string {
  const own = ownDomainFix(from);
  if (own === null)
    return `Use a Reply-To address at ${organization(from)}, and forward its mail to the mailbox where you read replies.`;
  return foreignOwner(domain) === null
    ? `${own.text} If ${organization(domain)} is yours, send from there.`
    : own.text;
}

function atOtherDomain(domain: string, from: string): Finding {
  return warn({
    title: `Replies to your message go to ${domain}, not to ${from}.`,
    detail:
      'Spam filters penalize a Reply-To at another domain, because phishing mail combines a well-known From address with a Reply-To address of the attacker.',
    fix: replyFix(domain, from),
  });
}
