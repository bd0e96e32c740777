/** Targets of SPF terms to which a DNS panel or a template appended the domain: `include:_spf.example.net.example.com`. */

import { type RecordType, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { meantName, withoutZone } from '../dns/appended-zone.ts';
import { isServiceSpf } from '../sending-services/services.ts';
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
      const target = withoutZone(written, domain) ?? serviceName(term, written, domain);
      if (!types || term.fault !== null || written.includes('%') || target === null) return [];
      const answers = await Promise.all(types.map((type) => resolver(target, type)));
      const records = answers.flatMap((answer) => recordsOf(answer) ?? []);
      const isRecord = types[0] === 'TXT';
      const isUseful = isRecord ? records.filter(isSpfRecord).length === 1 : records.length > 0;
      const found = { mistake: 'appended' as const, term: term.text, target };
      if (isUseful)
        return (await meantName(written, domain, types, resolver)) === null
          ? []
          : [{ ...found, meant: term.text.replace(term.target!, target) }];
      // A host that has no address lets nobody send, so it can stay.
      const isUnknown = isRecord && answers.some(({ status }) => status === 'error');
      return isUnknown && recordsOf(await resolver(written, 'TXT'))?.length === 0
        ? [{ ...found, meant: null }]
        : [];
    }),
  );
  return found.flat();
}
