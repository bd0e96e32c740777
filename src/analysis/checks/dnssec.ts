/** The check `dnssec`: is the From domain signed with DNSSEC? */

import { organizationalDomain } from '../../lib/domain-names.ts';
import {
  type Check,
  info,
  notAnswered,
  offline,
  PUBLIC_UNANSWERED,
  rfc,
  skipped,
  type Unanswered,
} from '../check.ts';
import { fromDomain } from '../dns/names.ts';

const NOT_CHECKED = 'DNSSEC was not looked up.';

/**
 * A DS record at the organizational domain says that it is meant to be signed (RFC 4034 §5); the AD
 * bit on its own SOA record, that the resolver has validated it. A resolver that does not validate
 * never sets the bit, so that its absence says nothing.
 */
export const dnssec: Check = {
  id: 'dnssec',
  category: 'infrastructure',
  points: 0,
  label: 'DNSSEC',
  reference: rfc(9364),
  publicEvidence: { domain: 'shown', ds: 'shown', validated: 'shown', ...PUBLIC_UNANSWERED },
  async run(context) {
    const from = fromDomain(context);
    const domain = from && organizationalDomain(from);
    if (!domain) return skipped(NOT_CHECKED, 'The From field holds no registered domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const types = ['DS', 'SOA'] as const;
    const answers = await Promise.all(types.map((type) => context.resolver(domain, type)));
    const [ds, soa] = answers as [(typeof answers)[0], (typeof answers)[0]];
    const failures = answers.flatMap((answer, index): Unanswered[] =>
      answer.status === 'error'
        ? [{ name: domain, type: types[index]!, reason: answer.reason }]
        : [],
    );
    if (failures.length > 0)
      return notAnswered('DNSSEC could not be looked up.', failures, { domain });
    const records = ds.status === 'found' ? ds.records.slice(0, 10) : [];
    const validated = soa.status === 'found' && soa.authenticated;
    const evidence = { domain, ds: records, validated };
    if (validated)
      return info(
        `${domain} is signed with DNSSEC.`,
        'The DNS server has validated its answers: nobody has changed them on the way.',
        evidence,
      );
    if (records.length > 0)
      return info(
        `${domain} is set up for DNSSEC.`,
        'It has a DS record. The DNS server that was asked did not say that it has validated the answers; many do not validate.',
        evidence,
      );
    return {
      ...info(
        `${domain} is not signed with DNSSEC.`,
        'Its DNS records can be forged on the way to whoever asks for them. It has little bearing on delivery.',
        evidence,
      ),
      fix: {
        text: `Switch DNSSEC signing on where the DNS of ${domain} is run, then have the DS record that is shown there entered at the registrar of ${domain}. Both are settings; where one company does both, it is often a single switch.`,
      },
    };
  },
};
