/** A set of records as text to copy, for what manages DNS. */

import { parseMx } from '../net/dns/resolver.ts';
import {
  absoluteName,
  caaData,
  cloudflareContent,
  relativeName,
  tlsaData,
  withNumbers,
  zoneFileData,
} from './presentation.ts';
import type { RecordSet } from './server.ts';

interface CopyFormat {
  name: string;
  description: string;
  /** The whole set, because it replaces what there is. `zone`: the zone in which the name is. */
  write(set: RecordSet, zone: string): string;
}

export const COPY_FORMATS = {
  zone_file: {
    name: 'Zone file',
    description: 'The records as lines of a zone file.',
    write: (set) => set.values.map((value) => zoneFileLine(set, value)).join('\n'),
  },
  terraform: terraform('Cloudflare', 'cloudflare_dns_record'),
  terraform_aws: terraform('Route 53', 'aws_route53_record'),
  terraform_hetzner: terraform('Hetzner', 'hcloud_zone_rrset'),
  terraform_desec: terraform('deSEC', 'desec_rrset'),
  terraform_powerdns: terraform('PowerDNS', 'powerdns_record'),
  octodns: {
    name: 'octoDNS',
    description: 'The records as an entry of an octoDNS zone file.',
    write: octodnsEntry,
  },
  dnscontrol: {
    name: 'DNSControl',
    description: 'The records as lines within `D()` of DNSControl.',
    write: (set, zone) => set.values.map((value) => dnscontrolLine(set, value, zone)).join('\n'),
  },
} satisfies Record<string, CopyFormat>;

export type CopyFormatId = keyof typeof COPY_FORMATS;
export const COPY_FORMAT_IDS = Object.keys(COPY_FORMATS) as CopyFormatId[];
export type Copies = Record<CopyFormatId, string>;

export const copiesOf = (set: RecordSet, zone: string): Copies =>
  Object.fromEntries(
    COPY_FORMAT_IDS.map((id) => [id, COPY_FORMATS[id].write(set, zone)]),
  ) as Copies;

export const zoneFileLine = ({ name, type, ttl }: Omit<RecordSet, 'values'>, value: string) =>
  `${absoluteName(name)} ${ttl} IN ${type} ${zoneFileData(type, value)}`;

// Terraform.

type Attributes = Record<string, unknown>;

/** The blocks for a set, with its data as in a zone file. */
const RESOURCES: Record<string, (set: RecordSet, zone: string, data: string[]) => Attributes[]> = {
  // cloudflare/cloudflare, version 5
  cloudflare_dns_record: ({ name, type, values }) =>
    values.map((value) => ({
      zone_id: 'var.cloudflare_zone_id',
      name,
      ...cloudflareContent(type, value),
    })),
  // hashicorp/aws, which adds the first and the last quotation mark
  aws_route53_record: ({ name, type }, _, data) => [
    {
      zone_id: 'var.route53_zone_id',
      name,
      records: type === 'TXT' ? data.map((text) => withNumbers(text, 10, 8).slice(1, -1)) : data,
    },
  ],
  // hetznercloud/hcloud
  hcloud_zone_rrset: ({ name }, zone, data) => [
    { zone, name: relativeName(name, zone) || '@', records: data.map((value) => ({ value })) },
  ],
  // Valodim/desec
  desec_rrset: ({ name }, zone, records) => [
    { domain: zone, subname: relativeName(name, zone), records },
  ],
  // pan-net/powerdns
  powerdns_record: ({ name }, zone, records) => [
    { zone: absoluteName(zone), name: absoluteName(name), records },
  ],
};

function terraform(service: string, resource: string): CopyFormat {
  return {
    name: `Terraform (${service})`,
    description: `The records as Terraform blocks of the type \`${resource}\`.`,
    write(set, zone) {
      const data = set.values.map((value) => zoneFileData(set.type, value));
      const blocks = RESOURCES[resource]!(set, zone, data);
      return blocks.map((own, i) => terraformBlock(resource, set, own, i)).join('\n\n');
    },
  };
}

function terraformBlock(
  resource: string,
  { name, type, ttl }: RecordSet,
  own: Attributes,
  index: number,
): string {
  const label = `${name}_${type}`.toLowerCase().replace(/[^a-z0-9_-]/g, '_');
  const [zone, at, ...rest] = Object.entries(own);
  const attributes = [zone!, at!, ['type', type], ['ttl', ttl], ...rest] as [string, unknown][];
  const width = Math.max(...attributes.map(([key]) => key.length));
  const lines = attributes.map(
    ([key, value]) => `  ${key.padEnd(width)} = ${key === 'zone_id' ? value : hcl(value)}`,
  );
  // A label cannot begin with a digit or a hyphen.
  const prefix = /^[\d-]/.test(label) ? '_' : '';
  const suffix = index === 0 ? '' : `_${index + 1}`;
  return `resource "${resource}" "${prefix}${label}${suffix}" {\n${lines.join('\n')}\n}`;
}

function hcl(value: unknown): string {
  if (typeof value === 'string') return hclString(value);
  if (Array.isArray(value)) return `[${value.map(hcl).join(', ')}]`;
  if (typeof value !== 'object') return String(value);
  const fields = Object.entries(value!).map(([key, field]) => `${key} = ${hcl(field)}`);
  return `{ ${fields.join(', ')} }`;
}

/** `${` and `%{`, as in SPF macros, would begin a template. Unlike JSON, HCL has no `\b` and `\f`. */
const hclString = (text: string): string =>
  JSON.stringify(text)
    .replace(/[$%](?=\{)/g, '$&$&')
    .replace(/\\./g, (pair) => ({ '\\b': '\\u0008', '\\f': '\\u000c' })[pair] ?? pair);

// octoDNS: names are relative to the zone, and a semicolon in a TXT record is escaped.

function octodnsEntry({ name, type, ttl, values }: RecordSet, zone: string): string {
  // octoDNS refuses other characters, and removes what looks like the border between two strings.
  if (type === 'TXT' && values.some((value) => /[^ -~]|" "/.test(value)))
    return `# octoDNS cannot publish the text of ${name}: copy it from the zone-file line.`;
  const lines = [
    `${JSON.stringify(relativeName(name, zone))}:`,
    `  - type: ${type}`,
    `    ttl: ${ttl}`,
    // An alias has one target.
    ...(type === 'CNAME'
      ? [`    value: ${absoluteName(values[0]!)}`]
      : ['    values:', ...values.map((value) => `      - ${octodnsValue(type, value)}`)]),
  ];
  return lines.join('\n');
}

/** JSON is YAML, too. */
function octodnsValue(type: string, value: string): string {
  if (type === 'TXT') {
    const text = value.replaceAll(';', '\\;');
    // octoDNS takes a first quotation mark for notation, and removes it together with the last character.
    return JSON.stringify(text.startsWith('"') ? `"${text}"` : text);
  }
  if (type === 'MX') {
    const { preference, exchange } = parseMx(value);
    return JSON.stringify({ preference, exchange: absoluteName(exchange) });
  }
  if (type === 'CAA') return JSON.stringify(caaData(value) ?? value);
  const tlsa = type === 'TLSA' ? tlsaData(value) : null;
  if (tlsa === null) return JSON.stringify(value);
  return JSON.stringify({
    certificate_usage: tlsa.usage,
    selector: tlsa.selector,
    matching_type: tlsa.matching_type,
    certificate_association_data: tlsa.certificate,
  });
}

// DNSControl: JavaScript. It divides long texts itself.

function dnscontrolLine({ name, type, ttl }: RecordSet, value: string, zone: string): string {
  const { flags, tag, value: issuer } = caaData(value) ?? {};
  const tlsa = tlsaData(value);
  const { preference, exchange } = parseMx(value);
  const data =
    type === 'MX'
      ? [preference, absoluteName(exchange)]
      : type === 'CAA'
        ? [tag, issuer]
        : type === 'TLSA' && tlsa
          ? [tlsa.usage, tlsa.selector, tlsa.matching_type, tlsa.certificate]
          : [type === 'TXT' ? value : zoneFileData(type, value)];
  const parts = [relativeName(name, zone) || '@', ...data].map((part) => JSON.stringify(part));
  const critical = type === 'CAA' && flags === 128 ? ['CAA_CRITICAL'] : [];
  return `${type}(${[...parts, ...critical, `TTL(${ttl})`].join(', ')}),`;
}
