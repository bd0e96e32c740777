/** The check `return_path`: can bounces be delivered to the MAIL FROM address? */

import { bareAddress } from '../../lib/mail.ts';
import {
  type Check,
  type Finding,
  notAnswered,
  offline,
  PUBLIC_UNANSWERED,
  pass,
  rfc,
  skipped,
  warn,
} from '../check.ts';
import { type MailHosts, mailHosts } from '../dns/mail-hosts.ts';
import { fromDomain, mailFromDomain } from '../dns/names.ts';

const NOT_CHECKED = 'The return path was not checked.';

/**
 * Warns of a MAIL FROM domain with neither MX nor address. What `mx` tells of the same domain (it is
 * the From domain too, or its MX records lead nowhere) follows from `mx`: one cause, one finding.
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
    ...PUBLIC_UNANSWERED,
  },
  async run(context) {
    const said = context.envelope.mail_from;
    if (said === null) return skipped(NOT_CHECKED, 'The MAIL FROM address is not known.');
    const evidence = { mail_from: said.slice(0, 320).toWellFormed() };
    if (bareAddress(said) === '')
      return pass(
        'The message has the null sender.',
        'That is right for bounces and automatic replies, which must not cause bounces themselves.',
        evidence,
      );
    const domain = mailFromDomain(context);
    if (domain === null)
      return warn({
        title: 'The MAIL FROM address holds no domain that mail can be sent to.',
        detail: 'Bounces cannot be delivered, and many receivers refuse such a sender.',
        fix: 'Send with a MAIL FROM address at a domain of yours that receives mail, such as bounces@example.com.',
        evidence,
      });
    if (context.offline) return offline(NOT_CHECKED);
    const found = await mailHosts(context, domain);
    const whole = { ...evidence, domain, kind: found.kind };
    if (found.kind === 'error')
      return notAnswered(
        'It could not be found out whether bounces can be delivered.',
        found.unanswered,
        whole,
      );
    if (found.kind === 'nothing') {
      const finding = { ...nowhere(domain), evidence: whole };
      return domain === fromDomain(context) ? { ...finding, dependsOn: ['mx'] } : finding;
    }
    if (leadsNowhere(found)) return { ...nowhere(domain), evidence: whole, dependsOn: ['mx'] };
    return pass(
      `Bounces go to ${domain}.`,
      `The domain of the MAIL FROM address has ${found.kind === 'mx' ? 'MX records' : 'an address of its own'}.`,
      whole,
    );
  },
};

function leadsNowhere({ kind, hosts }: MailHosts): boolean {
  return kind === 'null_mx' || (hosts.length > 0 && hosts.every((host) => host.resolves === false));
}

function nowhere(domain: string): Finding {
  return warn({
    title: `Bounces to ${domain} cannot be delivered.`,
    detail:
      'The domain of the MAIL FROM address has no mail server and no address. Failed deliveries go unnoticed, and many receivers refuse a sender whose domain does not resolve.',
    fix: {
      text: `Publish this record with the name of the server that takes your bounces in place of mx.${domain}, or send with a MAIL FROM domain that receives mail.`,
      record: { type: 'MX', name: domain, value: `10 mx.${domain}` },
    },
  });
}
