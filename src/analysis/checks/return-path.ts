/** `return_path`: whether bounces to the MAIL FROM address can be delivered. */

import { stripAngleBrackets } from '../../lib/mail.ts';
import {
  type Check,
  type Finding,
  lookupFailed,
  offline,
  PUBLIC_FAILED_LOOKUPS,
  pass,
  rfc,
  skipped,
  warn,
} from '../check.ts';
import { deadMailHost, deadSender } from '../dns/dead-sender.ts';
import { type MailHosts, mailHosts } from '../dns/mail-hosts.ts';
import { brokenSender, explainBroken } from '../dns/missing-domain.ts';
import { fromDomain, mailFromDomain } from '../dns/names.ts';

const NOT_CHECKED = 'The return path was not checked.';

/**
 * Warns if the MAIL FROM domain has neither MX records nor an address. Depends on `mx` if `mx` reports
 * the same cause: the domain is also the From domain, or its MX records are unusable.
 */
export const returnPath: Check = {
  id: 'return_path',
  category: 'infrastructure',
  points: 3,
  label: 'Return path',
  issueTitle: 'Bounces cannot be delivered',
  reference: rfc(5321, '2.3.5'),
  publicEvidence: {
    mail_from: 'mailbox-domain',
    domain: 'shown',
    kind: 'shown',
    missing: 'shown',
    ...PUBLIC_FAILED_LOOKUPS,
  },
  about: mailFromDomain,
  async run(context) {
    const mailFrom = context.envelope.mail_from;
    if (mailFrom === null)
      return skipped(NOT_CHECKED, 'The envelope sender (MAIL FROM) is unknown.');
    const evidence = { mail_from: mailFrom.slice(0, 320).toWellFormed() };
    if (stripAngleBrackets(mailFrom) === '')
      return pass(
        'The message has an empty envelope sender (null sender).',
        'This is correct for bounces and automatic replies, which must not cause bounces themselves.',
        evidence,
      );
    const domain = mailFromDomain(context);
    if (domain === null)
      return warn({
        title: 'The envelope sender (MAIL FROM) has no valid domain.',
        detail: 'Bounces cannot be delivered, and many mail servers reject such a sender.',
        fix: 'Use a MAIL FROM address at a domain of yours that receives mail, such as bounces@example.com.',
        evidence,
      });
    if (context.offline) return offline(NOT_CHECKED);
    const found = await mailHosts(context, domain);
    const withDomain = { ...evidence, domain, kind: found.kind };
    const dead = found.kind === 'error' ? await deadSender(context, domain) : null;
    if (dead) return { ...dead, evidence: withDomain, dependsOn: ['mx'] };
    if (found.kind === 'error')
      return lookupFailed(
        'Could not determine whether bounces can be delivered.',
        found.unanswered,
        withDomain,
      );
    if (found.kind === 'nothing') {
      const broken = await brokenSender(context, domain);
      const isMissing = broken?.kind === 'missing';
      const { evidence: cause, ...problem } = isMissing
        ? explainBroken(broken)
        : undeliverable(found);
      const finding = { ...problem, evidence: { ...withDomain, ...cause } };
      return domain === fromDomain(context) ? { ...finding, dependsOn: ['mx'] } : finding;
    }
    if (isUnusable(found))
      return { ...undeliverable(found), evidence: withDomain, dependsOn: ['mx'] };
    // One host that resolves is enough.
    const deadHost = isUndecided(found) ? await deadMailHost(context, found) : null;
    if (deadHost) return { ...deadHost, evidence: withDomain, dependsOn: ['mx'] };
    if (isUndecided(found))
      return lookupFailed(
        'Could not determine whether bounces can be delivered.',
        found.unanswered,
        withDomain,
      );
    return pass(
      `Bounces go to ${domain}.`,
      `The domain of the envelope sender (MAIL FROM) has ${found.kind === 'mx' ? 'MX records' : 'an address record'}.`,
      withDomain,
    );
  },
};

/** No host is known to resolve, and the lookup of at least one failed. */
const isUndecided = ({ hosts }: MailHosts): boolean =>
  !hosts.some(({ resolves }) => resolves) && hosts.some(({ resolves }) => resolves === null);

function isUnusable({ kind, hosts }: MailHosts): boolean {
  return kind === 'null_mx' || (hosts.length > 0 && hosts.every((host) => host.resolves === false));
}

function undeliverable({ domain, kind }: MailHosts): Finding {
  return warn({
    title: `Bounces to ${domain} cannot be delivered.`,
    detail:
      'The domain of the envelope sender (MAIL FROM) has no working mail server. You do not learn about failed deliveries, and many mail servers reject such senders, Apple among them.',
    fix:
      kind === 'null_mx'
        ? 'Use a MAIL FROM domain that receives mail. Or replace the null MX record with an MX record that names your bounce server.'
        : {
            text: `Publish this record, using the name of your bounce server instead of mx.${domain}. Or use a MAIL FROM domain that receives mail.`,
            record: { type: 'MX', name: domain, value: `10 mx.${domain}` },
          },
  });
}
