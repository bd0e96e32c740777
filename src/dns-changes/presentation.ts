/** Records in the syntax of zone files (RFC 1035 §5.1, RFC 3597). */

import { normalizeAddress } from '../lib/addresses.ts';
import { txtStrings } from '../net/dns/record-data.ts';
import { parseMx } from '../net/dns/resolver.ts';

export function zoneFileData(type: string, value: string): string {
  switch (type) {
    case 'TXT':
      return quotedStrings(value);
    case 'MX': {
      const { preference, exchange } = parseMx(value);
      return `${preference} ${absoluteName(exchange)}`;
    }
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return absoluteName(value);
    case 'CAA': {
      const data = caaData(value);
      return data ? `${data.flags} ${data.tag} ${quotedString(Buffer.from(data.value))}` : value;
    }
    default:
      return value;
  }
}

/** The same address always has the same text. */
export function normalizedValue(type: string, value: string): string {
  const address = type === 'AAAA' ? normalizeAddress(value) : null;
  // An IPv4-mapped address would become one of another type.
  return address?.includes(':') ? address : value;
}

/** Empty for the zone itself. */
export const relativeName = (name: string, zone: string): string =>
  name === zone ? '' : name.slice(0, -(zone.length + 1));

export const absoluteName = (name: string): string => (name.endsWith('.') ? name : `${name}.`);

/** The reverse, with names in lower case. Data that cannot be read is returned as it is. */
export function valueOfZoneFile(type: string, data: string): string {
  const relative = (name: string) => name.toLowerCase().replace(/(?<=.)\.$/, '');
  switch (type) {
    case 'TXT':
      return unquotedText(data);
    case 'MX':
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return relative(data.trim().replace(/\s+/g, ' '));
    case 'TLSA': {
      const [usage, selector, matching, ...certificate] = data.toLowerCase().trim().split(/\s+/);
      return `${usage} ${selector} ${matching} ${certificate.join('')}`;
    }
    case 'CAA': {
      const [, flags, tag, value] = /^(\d+)\s+(\w+)\s+(.*)$/s.exec(data) ?? [];
      return tag === undefined ? data : `${flags} ${tag} "${unquotedText(value!)}"`;
    }
    default:
      return normalizedValue(type, data);
  }
}

/** The text as quoted strings of at most 255 bytes each. */
export const quotedStrings = (text: string): string =>
  txtStrings(Buffer.from(text, 'utf8')).map(quotedString).join(' ');

const quotedString = (bytes: Buffer): string => `"${[...bytes].map(escapedByte).join('')}"`;

function escapedByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === '"' || character === '\\') return `\\${character}`;
  return byte < 0x20 || byte > 0x7e ? `\\${String(byte).padStart(3, '0')}` : character;
}

/** Zone files have decimal numbers of bytes (RFC 1035 §5.1), and Route 53 has octal ones. */
export const withNumbers = (data: string, from: number, to: number): string =>
  data.replace(/\\(\d{3})|\\./gs, (all, digits) =>
    digits ? `\\${Number.parseInt(digits, from).toString(to).padStart(3, '0')}` : all,
  );

/** Text that does not begin with a quote is returned as it is. */
export function unquotedText(content: string): string {
  if (!content.trimStart().startsWith('"')) return content;
  const strings = content.match(/"(?:[^"\\]|\\.)*"/gs) ?? [];
  const pieces = strings.flatMap((string) =>
    [...string.slice(1, -1).matchAll(/\\(\d{3})|\\(.)|([^\\]+)/gs)].map(
      ([, digits, escaped, plain]) =>
        digits === undefined
          ? Buffer.from(escaped ?? plain!, 'utf8')
          : Buffer.from([Number(digits)]),
    ),
  );
  return Buffer.concat(pieces).toString('utf8');
}

/** Null if the text is not a CAA record such as `0 issue "ca.example"`. */
export function caaData(text: string) {
  const [, flags, tag, value] = /^(\d{1,3}) ([a-z0-9]+) "(.*)"$/i.exec(text) ?? [];
  return flags === undefined ? null : { flags: Number(flags), tag: tag!, value: value! };
}

/** Null if the text is not a TLSA record such as `3 1 1 0123…`. */
export function tlsaData(text: string) {
  const [, usage, selector, matching, certificate] =
    /^(\d{1,3}) (\d{1,3}) (\d{1,3}) ([0-9a-f]+)$/i.exec(text) ?? [];
  if (usage === undefined) return null;
  return {
    usage: Number(usage),
    selector: Number(selector),
    matching_type: Number(matching),
    certificate: certificate!,
  };
}

/** What the API of Cloudflare, and Terraform for it, say about the value of a record. */
export function cloudflareContent(type: string, value: string): object {
  if (type === 'TXT') return { content: quotedStrings(value) };
  if (type === 'MX') {
    const { preference, exchange } = parseMx(value);
    return { content: exchange, priority: preference };
  }
  const data = type === 'CAA' ? caaData(value) : type === 'TLSA' ? tlsaData(value) : null;
  return data === null ? { content: value } : { data };
}
