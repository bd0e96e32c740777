/** A set of records as text to copy: for a zone file, for Terraform, and for octoDNS. */

import { parseMx } from '../net/dns/resolver.ts';
import { absoluteName, caaData, quotedStrings, tlsaData, zoneFileData } from './presentation.ts';
import type { RecordSet } from './server.ts';

export interface Copies {
  /** A line for each record. */
  zone_file: string;
  /** A block of the type `cloudflare_dns_record` for each record. */
  terraform: string;
  /** An entry of the zone’s YAML file, with all values. */
  octodns: string;
}

/** The whole set, since all three replace what they had. `zone`: the zone in which the name is. */
export const copiesOf = (set: RecordSet, zone: string): Copies => ({
  zone_file: set.values.map((value) => zoneFileLine(set, value)).join('\n'),
  terraform: set.values.map((value, index) => terraformBlock(set, value, index)).join('\n\n'),
  octodns: octodnsEntry(set, zone),
});

export const zoneFileLine = ({ name, type, ttl }: Omit<RecordSet, 'values'>, value: string) =>
  `${absoluteName(name)} ${ttl} IN ${type} ${zoneFileData(type, value)}`;

// Terraform: the resource of Cloudflare’s provider, version 5.

function terraformBlock({ name, type, ttl }: RecordSet, value: string, index: number): string {
  const label = `${name}_${type}`.toLowerCase().replace(/[^a-z0-9_-]/g, '_');
  const attributes: [string, string][] = [
    ['zone_id', 'var.cloudflare_zone_id'],
    ['name', hclString(name)],
    ['type', hclString(type)],
    ['ttl', String(ttl)],
    ...terraformData(type, value),
  ];
  const width = Math.max(...attributes.map(([key]) => key.length));
  const lines = attributes.map(([key, text]) => `  ${key.padEnd(width)} = ${text}`);
  // A label cannot begin with a digit or a hyphen.
  const prefix = /^[\d-]/.test(label) ? '_' : '';
  const suffix = index === 0 ? '' : `_${index + 1}`;
  return `resource "cloudflare_dns_record" "${prefix}${label}${suffix}" {\n${lines.join('\n')}\n}`;
}

function terraformData(type: string, value: string): [string, string][] {
  if (type === 'TXT') return [['content', hclString(quotedStrings(value))]];
  if (type === 'MX') {
    const { preference, exchange } = parseMx(value);
    return [
      ['content', hclString(exchange)],
      ['priority', String(preference)],
    ];
  }
  const data = type === 'CAA' ? caaData(value) : type === 'TLSA' ? tlsaData(value) : null;
  if (data === null) return [['content', hclString(value)]];
  const fields = Object.entries(data).map(([key, field]) =>
    typeof field === 'number' ? `${key} = ${field}` : `${key} = ${hclString(field)}`,
  );
  return [['data', `{ ${fields.join(', ')} }`]];
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
  const relative = name === zone ? '' : name.slice(0, -(zone.length + 1));
  const lines = [
    `${JSON.stringify(relative)}:`,
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
