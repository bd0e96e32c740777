/** The check `dnssec`: is the From domain signed with DNSSEC? */

import { organizationalDomain } from '../../lib/domain-names.ts';
import {
  type Check,
  type FailedLookup,
  info,
  lookupFailed,
  offline,
  PUBLIC_FAILED_LOOKUPS,
  rfc,
  skipped,
} from '../check.ts';
import { fromDomain } from '../dns/names.ts';

const NOT_CHECKED = 'DNSSEC was not checked.';

/**
 * A DS record shows that the organizational domain should be signed (RFC 4034 §5). The AD bit in the
 * response for its SOA record shows that the resolver validated it. A resolver that does not
 * validate never sets the bit, so a missing bit means nothing.
 */
export const dnssec: Check = {
  id: 'dnssec',
  category: 'infrastructure',
  points: 0,
  label: 'DNSSEC',
  reference: rfc(9364),
  publicEvidence: { domain: 'shown', ds: 'shown', validated: 'shown', ...PUBLIC_FAILED_LOOKUPS },
  about: fromDomain,
  async run(context) {
    const from = fromDomain(context);
    const domain = from && organizationalDomain(from);
    if (!domain) return skipped(NOT_CHECKED, 'The From field has no registered domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const types = ['DS', 'SOA'] as const;
    const answers = await Promise.all(types.map((type) => context.resolver(domain, type)));
    const [ds, soa] = answers as [(typeof answers)[0], (typeof answers)[0]];
    const failures = answers.flatMap((answer, index): FailedLookup[] =>
      answer.status === 'error'
        ? [{ name: domain, type: types[index]!, reason: answer.reason }]
        : [],
    );
    if (failures.length > 0)
      return lookupFailed('Could not look up the DNSSEC records.', failures, { domain });
    const records = ds.status === 'found' ? ds.records.slice(0, 10) : [];
    const validated = soa.status === 'found' && soa.authenticated;
    const evidence = { domain, ds: records, validated };
    if (validated)
      return info(
        `${domain} is signed with DNSSEC.`,
        'The resolver validated its DNS answers, so nobody changed them in transit.',
        evidence,
      );
    if (records.length > 0)
      return info(
        `${domain} is set up for DNSSEC.`,
        'It has a DS record. The resolver used here did not report that it validated the answers; many resolvers do not validate.',
        evidence,
      );
    return {
      ...info(
        `${domain} is not signed with DNSSEC.`,
        'Its DNS records can be forged in transit. This has little effect on delivery.',
        evidence,
      ),
      fix: {
        text: `Turn on DNSSEC signing at the DNS provider of ${domain}. The provider then shows a DS record: add it at the registrar of ${domain}. If the DNS provider is also the registrar, one setting often does both.`,
      },
    };
  },
};
