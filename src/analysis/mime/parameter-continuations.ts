/** Parameters in pieces and in character sets: `filename*0*=utf-8''caf%C3%A9; filename*1=.pdf` (RFC 2231). */

import { decodeText } from './decode-text.ts';

interface Section {
  index: number;
  value: string;
  encoded: boolean;
}

const CONTINUED = /^([^*]+)\*(?:(\d{1,3})(\*)?)?$/;

/**
 * Joins and decodes what is in pieces; all else is passed on as it is. An extended parameter wins
 * over the plain one of that name, which is there for readers that do not know RFC 2231.
 */
export function joinContinuations(params: Map<string, string>): Map<string, string> {
  const joined = new Map<string, string>();
  const continued = new Map<string, Section[]>();
  for (const [key, value] of params) {
    const match = CONTINUED.exec(key);
    if (!match) {
      joined.set(key, value);
      continue;
    }
    const name = match[1]!;
    const section = {
      index: Number(match[2] ?? 0),
      value,
      encoded: match[2] === undefined || match[3] !== undefined,
    };
    continued.set(name, [...(continued.get(name) ?? []), section]);
  }
  for (const [name, sections] of continued) joined.set(name, decodeSections(sections));
  return joined;
}

function decodeSections(sections: Section[]): string {
  sections.sort((a, b) => a.index - b.index);
  const first = sections[0]!;
  const prefix = first.encoded ? /^([^']*)'[^']*'/.exec(first.value) : null;
  if (prefix) first.value = first.value.slice(prefix[0].length);
  // The octets of one character may lie in two sections: join first, decode once.
  const octets = sections.map(({ value, encoded }) =>
    encoded ? percentDecoded(value) : Buffer.from(value, 'utf8'),
  );
  return decodeText(Buffer.concat(octets), prefix?.[1] || null);
}

function percentDecoded(text: string): Buffer {
  const octets = text.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(octets, 'latin1');
}
