/** The list of the checks that a domain is looked at by, in their order, with how grave each is. */

import type { ProbeMailTls } from '../../net/smtp-probe.ts';
import { bimi } from '../authentication/bimi.ts';
import { dmarcPolicy } from '../authentication/dmarc-policy.ts';
import { dmarcRecord } from '../authentication/dmarc-record.ts';
import { spfRecord } from '../authentication/spf-record.ts';
import type { Check } from '../check.ts';
import { dnssec } from '../infrastructure/dnssec.ts';
import { mtaSts } from '../infrastructure/mta-sts.ts';
import { mx } from '../infrastructure/mx.ts';
import { tlsRpt } from '../infrastructure/tls-rpt.ts';
import { domainBlocklists } from '../reputation/domain-blocklists.ts';
import { caa } from './caa.ts';
import { mxTls } from './mx-tls.ts';
import {
  atMostWarning,
  bySpf,
  byStatus,
  type Grave,
  ifBadTlsRpt,
  ifBroken,
  never,
} from './severities.ts';

export interface GradedCheck {
  check: Check;
  grave: Grave;
}

/** `dkim`: a check for each selector. */
export function domainChecks(
  name: string,
  dkim: Check[],
  probe: ProbeMailTls | null,
): GradedCheck[] {
  return [
    { check: spfRecord, grave: bySpf },
    ...dkim.map((check) => ({ check, grave: atMostWarning })),
    { check: dmarcPolicy, grave: byStatus },
    { check: dmarcRecord, grave: byStatus },
    { check: mx, grave: byStatus },
    { check: mxTls(probe), grave: atMostWarning },
    { check: mtaSts, grave: ifBroken },
    { check: tlsRpt, grave: ifBadTlsRpt },
    { check: bimi, grave: ifBroken },
    { check: dnssec, grave: never },
    { check: caa, grave: ifBroken },
    { check: aboutDomain(domainBlocklists, name), grave: byStatus },
  ];
}

/** The same check, with what it says of the sender of a message said of the domain. */
function aboutDomain(check: Check, name: string): Check {
  const reword = (text: string) =>
    text
      .replace(/^The domains of the sender are /, `${name} is `)
      .replace('whether a domain of the sender is ', `whether ${name} is `);
  return {
    ...check,
    async run(context) {
      const finding = await check.run(context);
      return { ...finding, title: reword(finding.title), detail: reword(finding.detail) };
    },
  };
}
