/** The DNS records that send feedback to the address of a domain, and whether they are published. */

import { isDmarcRecord, isPolicy, parseDmarcTags, withTag } from '../../analysis/dmarc/record.ts';
import { isParked } from '../../analysis/domain/parked.ts';
import type { App } from '../../app.ts';
import { organizationalDomain } from '../../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { DomainRow, FeedbackDomainRow } from '../../store/tables.generated.ts';
import { feedbackAddress } from './address.ts';

export interface FeedbackRecord {
  type: 'TXT';
  name: string;
  /** What is published now. */
  current: string | null;
  value: string;
  /** null if it could not be looked up. */
  published: boolean | null;
  /** Of the DMARC record only: whether the domain declares that it sends and receives no mail. */
  isParked?: boolean;
}

/** Whether the domain is reported to send mail, and whether a DKIM key is known. */
interface KnownMail {
  sends: boolean;
  isSigned: boolean;
}

/** In this order: the DMARC record, the record for TLS reports, and the authorization at the inbox domain if it is needed. */
export async function lookUpFeedbackRecords(
  app: Pick<App, 'config'>,
  resolver: Resolver,
  { id, name }: Pick<DomainRow, 'id' | 'name'>,
  { sends, isSigned }: KnownMail,
): Promise<FeedbackRecord[]> {
  const uri = `mailto:${feedbackAddress(app, { id })}`;
  const inbox = app.config.INBOX_DOMAIN;
  const txt = async (at: string) => recordsOf(await resolver(at, 'TXT'));
  const owner = organizationalDomain(name) ?? name;
  const isForeign = organizationalDomain(inbox) !== owner;
  const [dmarc, tls, authorization] = await Promise.all([
    txt(`_dmarc.${name}`),
    txt(`_smtp._tls.${name}`),
    isForeign ? txt(`${name}._report._dmarc.${inbox}`) : null,
  ]);
  const hasOwn = dmarc === null || dmarc.some(isDmarcRecord);
  const parent = hasOwn || owner === name ? [] : await txt(`_dmarc.${owner}`);
  const record = dmarcRecord(
    name,
    uri,
    parent === null ? null : dmarc,
    parent?.find(isDmarcRecord) ?? null,
  );
  return [
    { ...record, isParked: !sends && (await isParked(name, isSigned, resolver)) },
    tlsRecord(name, uri, tls),
    ...(isForeign ? [authorizationRecord(inbox, authorization)] : []),
  ];
}

function dmarcRecord(
  name: string,
  uri: string,
  found: string[] | null,
  inherited: string | null,
): FeedbackRecord {
  const current = found?.find(isDmarcRecord) ?? null;
  const addresses = current === null ? [] : listOf(parseDmarcTags(current).tags.get('rua'));
  return {
    type: 'TXT',
    name: `_dmarc.${name}`,
    current,
    value: dmarcValue(current, uri, inherited),
    published: found === null ? null : includes(addresses, uri),
  };
}

/**
 * The record with the address added to `rua`. Everything else is kept, also the policy that the record of the organization, in
 * `inherited`, applies to subdomains.
 */
export function dmarcValue(current: string | null, uri: string, inherited: string | null): string {
  if (current === null) {
    const tags = inherited === null ? null : parseDmarcTags(inherited).tags;
    const policy = [tags?.get('sp'), tags?.get('p')].find(isPolicy)?.toLowerCase() ?? 'none';
    return `v=DMARC1; p=${policy}; rua=${uri}`;
  }
  const addresses = listOf(parseDmarcTags(current).tags.get('rua'));
  return includes(addresses, uri)
    ? current
    : withTag(current, 'rua', [...addresses, uri].join(','));
}

function tlsRecord(name: string, uri: string, found: string[] | null): FeedbackRecord {
  const current = found?.find((text) => /^v=TLSRPTv1\s*;/.test(text)) ?? null;
  const addresses = listOf(/;\s*rua\s*=\s*([^;]*)/.exec(current ?? '')?.[1]);
  const all = includes(addresses, uri) ? addresses : [...addresses, uri];
  return {
    type: 'TXT',
    name: `_smtp._tls.${name}`,
    current,
    value: `v=TLSRPTv1; rua=${all.join(',')}`,
    published: found === null ? null : includes(addresses, uri),
  };
}

/** RFC 9990 §4: without it, reporters send nothing to another organization. One wildcard is enough for all domains. */
function authorizationRecord(inbox: string, found: string[] | null): FeedbackRecord {
  return {
    type: 'TXT',
    name: `*._report._dmarc.${inbox}`,
    current: found?.find((text) => /^v=DMARC1\s*(?:;|$)/.test(text)) ?? null,
    value: 'v=DMARC1',
    published: found === null ? null : found.some((text) => /^v=DMARC1\s*(?:;|$)/.test(text)),
  };
}

const listOf = (value: string | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** A size limit after an exclamation mark (RFC 7489 §6.2) does not matter. */
const includes = (addresses: string[], uri: string): boolean =>
  addresses.some((entry) => entry.replace(/!\d+[kmgt]?$/i, '').toLowerCase() === uri.toLowerCase());

/** The records of a row, as the last lookup found them. */
export const storedRecords = (
  row: Pick<FeedbackDomainRow, 'records'> | undefined,
): FeedbackRecord[] => (row?.records ? JSON.parse(row.records) : []);
