/** Which source sent a message that was complained about or bounced, as far as the stored data shows. */

import { serviceOfHost, serviceOfSigner } from '../../analysis/sending-services/services.ts';
import type { Db } from '../../store/open.ts';
import { subjectOf } from '../sources/kind.ts';

/** The ID is null for a sending service that no DMARC report has named yet. */
export interface MessageSource {
  id: string | null;
  name: string;
}

/** What is known about who sent a message. */
export interface SenderEvidence {
  /** The sending address. */
  address?: string | null;
  /** Servers that had the message, the most telling first. */
  hosts?: string[];
  /** Domains that signed it. */
  signers?: string[];
}

/** null if the source is unknown. */
export type FindSource = (evidence: SenderEvidence) => MessageSource | null;

/** Reads the sources of a domain that match any of this evidence. */
export async function readSources(
  db: Db,
  domainId: string,
  evidence: SenderEvidence[],
): Promise<FindSource> {
  const addresses = unique(evidence.flatMap(({ address }) => address ?? []));
  const hosts = unique(evidence.flatMap((one) => one.hosts ?? []));
  const [byAddress, byHost, services] = await Promise.all([
    sourcesBy(db, domainId, 'address', addresses),
    sourcesBy(db, domainId, 'host', hosts),
    servicesOf(db, domainId),
  ]);
  return ({ address, hosts = [], signers = [] }) => {
    const known = byAddress.get(address ?? '') ?? first(hosts, (host) => byHost.get(host));
    if (known) return known;
    const signer = first(signers, serviceOfSigner);
    if (signer) return services.get(signer.id) ?? { id: null, name: signer.name };
    // A host alone may be the recipient's, who uses the service too.
    return first(hosts, (host) => services.get(serviceOfHost(host)?.id ?? '')) ?? null;
  };
}

const unique = (values: string[]): string[] => [...new Set(values)];

function first<In, Out>(values: In[], find: (value: In) => Out | undefined): Out | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** In one statement. */
const MAX_VALUES = 1000;

async function sourcesBy(
  db: Db,
  domainId: string,
  column: 'address' | 'host',
  values: string[],
): Promise<Map<string, MessageSource>> {
  const found = new Map<string, MessageSource>();
  for (let first = 0; first < values.length; first += MAX_VALUES) {
    const named = values.slice(first, first + MAX_VALUES);
    const rows = await db
      .selectFrom('feedback_addresses')
      .innerJoin('feedback_sources', 'feedback_sources.id', 'feedback_addresses.source_id')
      .select(['feedback_addresses.address', 'feedback_addresses.host'])
      .select(['feedback_sources.id', 'feedback_sources.name', 'feedback_sources.label'])
      .where('feedback_addresses.domain_id', '=', domainId)
      .where((eb) =>
        column === 'address'
          ? eb(
              'feedback_addresses.id',
              'in',
              named.map((address) => `${domainId} ${address}`),
            )
          : eb('feedback_addresses.host', 'in', named),
      )
      .execute();
    for (const { id, name, label, ...row } of rows)
      found.set(row[column] ?? '', { id, name: label ?? name });
  }
  return found;
}

/** The sending services among the sources of a domain, by the ID of the service. */
async function servicesOf(db: Db, domainId: string): Promise<Map<string, MessageSource>> {
  const rows = await db
    .selectFrom('feedback_sources')
    .select(['id', 'key', 'name', 'label'])
    .where('domain_id', '=', domainId)
    .where('key', 'like', 'service %')
    .execute();
  return new Map(
    rows.map(({ id, key, name, label }) => [subjectOf(key), { id, name: label ?? name }]),
  );
}
