/** Proposed records send reports to this service where it takes them and reporters may send to it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dmarcPolicy } from '../../../src/analysis/checks/dmarc-policy.ts';
import { dmarcRecord } from '../../../src/analysis/checks/dmarc-record.ts';
import { tlsRpt } from '../../../src/analysis/checks/tls-rpt.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

const ADDRESS = 'fb-abcdefghijkmnpqr@test.example.net';
const RUA = `rua=mailto:${ADDRESS}`;
const CONSENT: Zone = { 'example.com._report._dmarc.test.example.net': { TXT: ['v=DMARC1'] } };

interface Case {
  name: string;
  check: typeof dmarcRecord;
  from?: string;
  zone: Zone;
  addresses?: Record<string, string>;
  /** The value of the proposed record. */
  proposed: string | RegExp;
  text?: RegExp;
}

const CASES: Case[] = [
  {
    name: 'a domain without a DMARC record',
    check: dmarcPolicy,
    zone: CONSENT,
    proposed: `v=DMARC1; p=none; ${RUA}`,
    text: /This service reads the reports that are sent to fb-abcdefghijkmnpqr@test\.example\.net\./,
  },
  {
    name: 'a record at the wrong name',
    check: dmarcPolicy,
    zone: { ...CONSENT, 'example.com': { TXT: ['v=DMARC1; p=quarantine'] } },
    proposed: `v=DMARC1; p=quarantine; ${RUA}`,
  },
  {
    name: 'a record without rua',
    check: dmarcRecord,
    zone: { ...CONSENT, '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; adkim=s'] } },
    proposed: `v=DMARC1; p=reject; ${RUA}; adkim=s`,
  },
  {
    name: 'an address that is not authorized, beside one that is',
    check: dmarcRecord,
    zone: {
      ...CONSENT,
      '_dmarc.example.com': {
        TXT: ['v=DMARC1; p=reject; rua=mailto:d@reports.example,mailto:d@example.com'],
      },
    },
    proposed: `v=DMARC1; p=reject; rua=mailto:d@example.com,mailto:${ADDRESS}`,
    text: /^Publish this record, which leaves out the address at reports\.example\. This service reads .* ask reports\.example to publish a TXT record at example\.com\._report\._dmarc\.reports\.example/,
  },
  {
    name: 'only an address that cannot be authorized',
    check: dmarcRecord,
    zone: {
      ...CONSENT,
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:ann@gmail.com'] },
    },
    proposed: `v=DMARC1; p=reject; ${RUA}`,
    text: /^(?!.*ask gmail)/,
  },
  {
    name: 'a subdomain whose organization is a domain of the team',
    check: dmarcPolicy,
    from: 'news.example.com',
    zone: CONSENT,
    proposed: `v=DMARC1; p=none; ${RUA}`,
  },
  {
    name: 'an inbox domain in the same organization, which needs no authorization',
    check: dmarcPolicy,
    zone: {},
    addresses: { 'example.com': 'fb-abcdefghijkmnpqr@test.example.com' },
    proposed: 'v=DMARC1; p=none; rua=mailto:fb-abcdefghijkmnpqr@test.example.com',
  },
  {
    name: 'TLS reports, which need no authorization',
    check: tlsRpt,
    zone: {},
    proposed: `v=TLSRPTv1; ${RUA}`,
    text: /This service reads the reports\.$/,
  },
  {
    name: 'no authorization at the inbox domain: not this service',
    check: dmarcPolicy,
    zone: {},
    proposed: 'v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com',
    text: /Create the mailbox/,
  },
  {
    name: 'only a subdomain is of the team, which reports about its parent do not concern',
    check: dmarcPolicy,
    from: 'news.example.com',
    zone: { 'news.example.com._report._dmarc.test.example.net': { TXT: ['v=DMARC1'] } },
    addresses: { 'news.example.com': ADDRESS },
    proposed: 'v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com',
  },
  {
    name: 'a valid address elsewhere stays alone',
    check: dmarcRecord,
    zone: {
      ...CONSENT,
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; x=1; rua=mailto:d@example.com'] },
    },
    proposed: /rua=mailto:d@example\.com$/,
  },
];

/** The hosts of all addresses that are not of this service. */
const MAIL: Zone = {
  'example.com': { A: ['192.0.2.1'] },
  'reports.example': { A: ['192.0.2.2'] },
};

const domainsOf = (addresses: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(addresses).map(([name, feedbackAddress]) => [
      name,
      { feedbackAddress, isVerified: true },
    ]),
  );

for (const { name, check, from = 'example.com', zone, addresses, proposed, text } of CASES)
  test(`The reports go to: ${name}`, async () => {
    const { fix } = await runCheck(check, {
      message: `From: a@${from}\n\nx\n`,
      zone: { ...MAIL, ...zone },
      setup: { domains: domainsOf(addresses ?? { 'example.com': ADDRESS }) },
    });
    if (typeof proposed === 'string') assert.equal(fix?.record?.value, proposed);
    else assert.match(fix!.record!.value, proposed);
    if (text) assert.match(fix!.text, text);
  });
