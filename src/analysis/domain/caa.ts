/** The check `caa`: which authorities may issue certificates for the domain; no points. */

import type { DnsErrorReason } from '../../net/resolver.ts';
import { type Check, type Context, type Finding, info, rfc, skipped } from '../check.ts';
import { notAnswered } from '../infrastructure/asking.ts';
import { fromDomain } from '../infrastructure/sender-domains.ts';
import { type CaaProblem, caaProblem, issuerOf, parseCaa } from './caa-record.ts';

const NOT_CHECKED = 'The CAA records were not looked up.';
const MAX_RECORDS = 50;

export const caa: Check = {
  id: 'caa',
  category: 'infrastructure',
  points: 0,
  label: 'CAA',
  reference: rfc(8659, '3'),
  async run(context) {
    const domain = fromDomain(context);
    if (domain === null) return skipped(NOT_CHECKED, 'There is no domain to ask about.');
    const found = await climb(context, domain);
    if ('reason' in found)
      return notAnswered('The CAA records could not be looked up.', [
        { name: found.name, type: 'CAA', reason: found.reason },
      ]);
    return found.texts.length === 0 ? noRecord(domain) : judge(domain, found.name, found.texts);
  },
};

/** The records of the closest name at or above the domain that has any (§3). */
async function climb(
  { resolver }: Context,
  domain: string,
): Promise<{ name: string; texts: string[] } | { name: string; reason: DnsErrorReason }> {
  for (let name = domain; ; ) {
    const answer = await resolver(name, 'CAA');
    if (answer.status === 'error') return { name, reason: answer.reason };
    const texts = answer.status === 'found' ? answer.records.slice(0, MAX_RECORDS) : [];
    const dot = name.indexOf('.');
    if (texts.length > 0 || dot < 0) return { name, texts };
    name = name.slice(dot + 1);
  }
}

function noRecord(domain: string): Finding {
  return {
    ...info(
      `${domain} does not say which authorities may issue certificates for it.`,
      'Without a CAA record each of them may. It has no bearing on delivery; it keeps others from getting a certificate for your mail servers by the mistake of an authority.',
      { domain, records: [] },
    ),
    fix: {
      text: 'Publish a record like this one for each authority that you take certificates from, with its name in place of letsencrypt.org.',
      record: { type: 'CAA', name: domain, value: '0 issue "letsencrypt.org"' },
    },
  };
}

function judge(domain: string, name: string, texts: string[]): Finding {
  const records = texts.map(parseCaa);
  const problems = texts.flatMap((text, index) => caaProblem(records[index]!, text) ?? []);
  const issuers = records.flatMap((record) =>
    record?.tag === 'issue' ? [issuerOf(record.value)].filter(Boolean) : [],
  );
  const evidence = { domain, name, records: texts.map((text) => text.slice(0, 300)), issuers };
  if (problems.length > 0) return mistaken(name, problems, evidence);
  const restricts = records.some((record) => record?.tag === 'issue');
  return info(
    restricts
      ? `${domain} says which authorities may issue certificates for it.`
      : `${domain} has CAA records, but every authority may issue certificates for its name.`,
    issuers.length > 0
      ? `The records of ${name} name ${[...new Set(issuers)].slice(0, 10).join(', ')}.`
      : `The records of ${name} name no authority.`,
    evidence,
  );
}

function mistaken(name: string, problems: CaaProblem[], evidence: Finding['evidence']): Finding {
  const texts = problems.map(({ text }) => text);
  const value = problems.find(({ corrected }) => corrected !== null)?.corrected;
  return {
    ...info(
      `The CAA records of ${name} hold a mistake.`,
      `${texts.slice(0, 5).join(' ')} Authorities then refuse to issue certificates.`,
      { ...evidence, problems: texts.slice(0, 20) },
    ),
    fix: {
      text: problems
        .slice(0, 5)
        .map(({ fix }) => fix)
        .join(' '),
      record: value == null ? undefined : { type: 'CAA', name, value },
    },
  };
}
