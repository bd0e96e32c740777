/**
 * Mistyped targets of SPF terms. A DNS panel or a template appended the domain: `include:_spf.example.net.example.com`. Or the
 * name of the service that receives the mail of the domain is misspelt.
 */

import { closestName } from '../../lib/closest-name.ts';
import { type RecordType, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { meantName, withoutZone } from '../dns/appended-zone.ts';
import { isServiceSpf } from '../sending-services/services.ts';
import { receivingServices } from '../sending-services/services-of-domain.ts';
import { isSpfRecord, type SpfTerm } from './record.ts';

export interface MistypedTerm {
  /** `appended`: the domain was appended to the name. `misspelt`: letters are wrong. */
  mistake: 'appended' | 'misspelt';
  /** As written. */
  term: string;
  /** The name that was meant. */
  target: string;
  /** The term that was meant; null if it could not be looked up whether that name has what the term needs. */
  meant: string | null;
}

/** A name of two labels can be meant as it is, unless it is that of a sending service. */
function serviceName({ name }: SpfTerm, written: string, domain: string): string | null {
  const rest = written.endsWith(`.${domain}`) ? written.slice(0, -(domain.length + 1)) : '';
  return (name === 'include' || name === 'redirect') && isServiceSpf(rest) ? rest : null;
}

/** What the target of a term needs. */
const NEEDS: Record<string, RecordType[]> = {
  include: ['TXT'],
  redirect: ['TXT'],
  a: ['A', 'AAAA'],
  mx: ['MX'],
};

/** Those among the terms of the record of a domain whose targets do not exist, while the names without the domain may. */
export async function appendedTerms(
  terms: SpfTerm[],
  domain: string,
  resolver: Resolver,
): Promise<MistypedTerm[]> {
  const found = await Promise.all(
    terms.map(async (term): Promise<MistypedTerm[]> => {
      const types = NEEDS[term.name];
      const written = term.target?.toLowerCase().replace(/\.$/, '') ?? '';
      const full = withoutZone(written, domain);
      const target = full ?? serviceName(term, written, domain);
      if (!types || term.fault !== null || written.includes('%') || target === null) return [];
      const answers = await Promise.all(types.map((type) => resolver(target, type)));
      const records = answers.flatMap((answer) => recordsOf(answer) ?? []);
      const isRecord = types[0] === 'TXT';
      const isUseful = isRecord ? records.filter(isSpfRecord).length === 1 : records.length > 0;
      const found = { mistake: 'appended' as const, term: term.text, target };
      const isWrong = async () =>
        full === null
          ? recordsOf(await resolver(written, 'TXT'))?.length === 0
          : (await meantName(written, domain, types, resolver)) !== null;
      if (isUseful)
        return (await isWrong())
          ? [{ ...found, meant: term.text.replace(term.target!, target) }]
          : [];
      // A host that has no address lets nobody send, so it can stay.
      const isUnknown = isRecord && answers.some(({ status }) => status === 'error');
      return isUnknown && recordsOf(await resolver(written, 'TXT'))?.length === 0
        ? [{ ...found, meant: null }]
        : [];
    }),
  );
  return found.flat();
}

/** The parts of the record of a domain, and of those that it includes. */
interface Root {
  domain: string;
  children: { domain: string; via: string | null; state: string }[];
}

/** Only where the mail servers show which service was meant, and that name has a record. */
export async function misspeltIncludes(root: Root, resolver: Resolver): Promise<MistypedTerm[]> {
  const missing = root.children.filter(
    ({ via, state }) => state === 'missing' && /^[+\-?~]?include:/i.test(via!),
  );
  if (missing.length === 0) return [];
  const names = (await receivingServices(resolver, root.domain)).flatMap(({ spf }) =>
    spf.kind === 'include' ? spf.includes : [],
  );
  const found = await Promise.all(
    missing.map(async ({ via, domain }): Promise<MistypedTerm[]> => {
      const target = closestName(domain, [...new Set(names)]);
      if (target === null || target === domain) return [];
      const isRecord = (recordsOf(await resolver(target, 'TXT')) ?? []).some(isSpfRecord);
      const meant = via!.replace(/:.*$/s, `:${target}`);
      return isRecord ? [{ mistake: 'misspelt', term: via!, target, meant }] : [];
    }),
  );
  return found.flat();
}
