/** The check `tls_rpt`: does the From domain ask for reports on TLS with its mail servers? */

import {
  type Check,
  type Finding,
  info,
  notAnswered,
  offline,
  PUBLIC_UNANSWERED,
  rfc,
  skipped,
} from '../check.ts';
import { fromDomain } from '../dns/names.ts';
import { parseTagList } from '../dns/tag-list.ts';

const NOT_CHECKED = 'TLS reporting was not looked up.';

export const tlsRpt: Check = {
  id: 'tls_rpt',
  category: 'infrastructure',
  points: 0,
  label: 'TLS reporting',
  reference: rfc(8460, '3'),
  publicEvidence: { name: 'shown', records: 'shown', destinations: 'shown', ...PUBLIC_UNANSWERED },
  async run(context) {
    const domain = fromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'The From field holds no domain.');
    if (context.offline) return offline(NOT_CHECKED);
    const name = `_smtp._tls.${domain}`;
    const answer = await context.resolver(name, 'TXT');
    if (answer.status === 'error')
      return notAnswered('TLS reporting could not be looked up.', [
        { name, type: 'TXT', reason: answer.reason },
      ]);
    return judgeRecords(domain, name, answer.status === 'found' ? answer.records : []);
  },
};

function judgeRecords(domain: string, name: string, all: string[]): Finding {
  // Other TXT records do not count, several that do count as none (RFC 8460 §3).
  const records = all.filter((text) => /^v=TLSRPTv1\s*;/.test(text));
  const evidence = { name, records: all.slice(0, 10).map((text) => text.slice(0, 500)) };
  const fix = {
    text: 'Publish this record alone at its name, with an address where you read reports.',
    record: { type: 'TXT', name, value: `v=TLSRPTv1; rua=mailto:tls-reports@${domain}` },
  };
  if (all.length === 0)
    return {
      ...info(
        `${domain} does not ask for TLS reports.`,
        'With such a record, senders tell you when they cannot deliver to you over TLS. It has no bearing on the mail you send.',
        evidence,
      ),
      fix,
    };
  const destinations = records.length === 1 ? reportUris(records[0]!) : [];
  if (destinations.length === 0 || !destinations.every(isDestination))
    return {
      ...info(
        `The TLS reporting record of ${domain} is not valid.`,
        records.length > 1
          ? 'There are several, and senders then pass over all of them.'
          : 'It needs to begin with v=TLSRPTv1; and to name mailto: or https: addresses in rua.',
        evidence,
      ),
      fix,
    };
  return info(
    `${domain} asks for TLS reports.`,
    'Senders that support it report how deliveries to you over TLS went.',
    { ...evidence, destinations: destinations.slice(0, 10) },
  );
}

function reportUris(record: string): string[] {
  const rua = parseTagList(record).get('rua') ?? '';
  return rua === '' ? [] : rua.split(',', MAX_URIS).map((uri) => uri.trim());
}

// No sender reports to more, and no address is longer: what a record holds is anybody's text.
const MAX_URIS = 20;
const LONGEST_URI = 1000;

function isDestination(uri: string): boolean {
  if (uri.length > LONGEST_URI) return false;
  return /^mailto:[^\s@]+@[^\s@]+\.[^\s@]+$/i.test(uri) || /^https:\/\/[^\s/]+/i.test(uri);
}
