/** Converts records of a zone to the data that dns-packet encodes: the reverse of the resolver. */

import type { Answer } from 'dns-packet';
import type { RecordType } from './resolver.ts';

/** Converts a record; throws if the text does not fit the type. TXT is split into strings of 255 bytes. */
export function recordFromText(name: string, type: RecordType, text: string, ttl: number): Answer {
  const base = { name, ttl, class: 'IN' as const };
  const words = text.split(' ');
  const number = (index: number) => Number(words[index]);
  const bytes = (index: number, encoding: BufferEncoding) =>
    Buffer.from(words.slice(index).join(''), encoding);
  switch (type) {
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return { ...base, type, data: text };
    case 'MX':
      return { ...base, type, data: { preference: number(0), exchange: words.slice(1).join(' ') } };
    case 'TXT':
      return { ...base, type, data: txtStrings(Buffer.from(text, 'utf8')) };
    case 'CAA': {
      const [, flags, tag, value] = /^(\d+) (\w+) "(.*)"$/.exec(text)!;
      const data = { flags: Number(flags), tag: tag as 'issue', value: value! };
      return { ...base, type, data };
    }
    case 'SOA':
      return {
        ...base,
        type,
        data: {
          mname: words[0]!,
          rname: words[1]!,
          serial: number(2),
          refresh: number(3),
          retry: number(4),
          expire: number(5),
          minimum: number(6),
        },
      };
    case 'DS': {
      const digest = bytes(3, 'hex');
      return {
        ...base,
        type,
        data: { keyTag: number(0), algorithm: number(1), digestType: number(2), digest },
      };
    }
    case 'DNSKEY':
      return {
        ...base,
        type,
        data: { flags: number(0), algorithm: number(2), key: bytes(3, 'base64') },
      };
    case 'TLSA': {
      const certificate = bytes(3, 'hex');
      return {
        ...base,
        type,
        data: { usage: number(0), selector: number(1), matchingType: number(2), certificate },
      };
    }
  }
}

/** The strings of a TXT record: at most 255 bytes each. An empty text is one empty string. */
export function txtStrings(bytes: Buffer): Buffer[] {
  const strings: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += 255)
    strings.push(bytes.subarray(at, at + 255));
  return strings;
}
