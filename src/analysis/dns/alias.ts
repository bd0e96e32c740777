/** Records proposed at a name that is an alias: DNS allows no other record beside a CNAME (RFC 1034 §3.6.2). */

import { type RecordType, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { Context, Fix } from '../check.ts';
import { hasSuffix } from '../sending-services/service.ts';
import { SENDING_SERVICES, serviceOfHost, serviceOfSigner } from '../sending-services/services.ts';
import { explainAppended, meantName } from './appended-zone.ts';
import { hostOf, isFromWildcard, lostTypes } from './wildcard.ts';

const MAX_ALIASES = 8;

/** The names to which a name leads, in order; empty if it is no alias, or if that is unknown. Ends at a loop. */
export async function aliasChain(name: string, resolver: Resolver): Promise<string[]> {
  const chain: string[] = [];
  let current = name.toLowerCase();
  while (chain.length < MAX_ALIASES) {
    const [target] = recordsOf(await resolver(current, 'CNAME')) ?? [];
    const next = target?.toLowerCase().replace(/\.$/, '');
    if (next === undefined || next === name.toLowerCase() || chain.includes(next)) break;
    chain.push(next);
    current = next;
  }
  return chain;
}

/**
 * The fix with what to do if the name of its record is an alias, or has what it has by a wildcard. What a record at the
 * target of an alias says is changed there.
 */
export async function withAlias(fix: Fix, { resolver, offline }: Context): Promise<Fix> {
  const { record } = fix;
  if (!record || record.type === 'CNAME' || record.type === 'PTR' || offline) return fix;
  const { name } = record;
  const chain = await aliasChain(name, resolver);
  const target = chain.at(-1);
  if (target === undefined)
    return { ...fix, text: `${fix.text}${await lossNote(record, resolver)}` };
  const path = [name, ...chain].join(' → ');
  if (await isFromWildcard(name, 'CNAME', resolver)) {
    const note = `A wildcard record makes ${name} an alias (${path}). A record at ${name} itself overrides it, so the wildcard can stay.`;
    return { ...fix, text: `${fix.text} ${note}${await lossNote(record, resolver)}` };
  }
  const meant = await meantTarget(name, chain, record.type as RecordType, resolver);
  if (meant !== null)
    return {
      text: explainAppended(chain[0]!, meant),
      record: { type: 'CNAME', name, value: meant },
    };
  const owner = serviceAt(target);
  const at = owner === null ? target : `${target}, which belongs to ${owner}`;
  if (await isPublishedAt(name, record, resolver)) return changeAtTarget(fix, record, at);
  // A host name has other uses, which end with its alias.
  const rest =
    hostOf(name) !== name
      ? ''
      : ', together with the other records of its target that you need, such as A and MX';
  const text = `${name} is an alias (${path}), and DNS allows no other record beside a CNAME. Finish the setup at ${at}, so that the record exists there, or delete the CNAME and publish this record instead${rest}.`;
  return { ...fix, text };
}

/** What the host loses that it has by a wildcard, with a space before it; empty if nothing, or if it is to have an address. */
async function lossNote(
  { type, name }: NonNullable<Fix['record']>,
  resolver: Resolver,
): Promise<string> {
  if (type !== 'TXT') return '';
  const host = hostOf(name);
  const lost = await lostTypes(name, resolver);
  // A text of the same kind is replaced.
  const types = host === name ? lost.filter((one) => one !== type) : lost;
  return types.length === 0
    ? ''
    : ` Today, the ${LIST.format(types)} records of ${host} come only from a wildcard, which no longer applies to ${host} once you publish this record. Publish them at ${host} too.`;
}

const LIST = new Intl.ListFormat('en-GB');

/** The target that was meant, if the DNS panel appended the domain to that of the first alias. */
const meantTarget = async (
  name: string,
  [target = '', ...others]: string[],
  type: RecordType,
  resolver: Resolver,
): Promise<string | null> =>
  others.length > 0 ? null : meantName(target, hostOf(name), [type], resolver);

/** Whether the target has a record of the kind that is proposed, however damaged it is. */
async function isPublishedAt(
  name: string,
  { type, value }: NonNullable<Fix['record']>,
  resolver: Resolver,
): Promise<boolean> {
  const kind = /^v=([a-z]+)/i.exec(value)?.[1];
  if (type !== 'TXT' || kind === undefined) return false;
  const resembles = new RegExp(
    `\\bv\\s*[=:]?\\s*${kind}${kind === 'DKIM' ? '|(?:^|;)\\s*p\\s*=' : ''}`,
    'i',
  );
  return (recordsOf(await resolver(name, type)) ?? []).some((text) => resembles.test(text));
}

/** The proposed text is only an instruction there: at the alias, it can't be published. */
function changeAtTarget(
  { record: _, ...fix }: Fix,
  { name, value }: NonNullable<Fix['record']>,
  at: string,
): Fix {
  const text = `${name} is an alias, and the record is published at ${at}. Make the change there, and publish nothing at ${name}. ${fix.text}${value.includes('<') ? '' : ` The text of the record is then: ${value}`}`;
  return { ...fix, text: text.trim() };
}

/** The name of the sending service to which a host name belongs; null if it is not known. */
function serviceAt(host: string): string | null {
  const byTarget = SENDING_SERVICES.find(
    ({ dkim }) =>
      dkim.kind === 'cname' &&
      dkim.records.some(([, target]) => hasSuffix(host, [fixedEnd(target)])),
  );
  return (byTarget ?? serviceOfHost(host) ?? serviceOfSigner(host))?.name ?? null;
}

/** The last two labels of a target such as `{selector}.dkim.example.net`. */
const fixedEnd = (target: string): string => target.split('.').slice(-2).join('.');
