/** Records of a name server in a test, with the notation that the real one demands. */

export interface StoredSet {
  name: string;
  type: string;
  ttl: number;
  /** As the server stores it: zone-file notation. */
  data: string[];
}

/** What a server refuses. */
export class RefusedData extends Error {}

/** The sets of all zones. */
export class Records {
  zones: string[];
  sets: StoredSet[] = [];
  constructor(zones: string[]) {
    this.zones = zones;
  }

  zoneOf(name: string): string {
    const found = this.zones.filter((zone) => `.${name}`.endsWith(`.${zone}`));
    return found.sort((a, b) => b.length - a.length)[0]!;
  }
  in(zone: string): StoredSet[] {
    return this.sets.filter(({ name }) => this.zoneOf(name) === zone);
  }
  find(name: string, type: string): StoredSet | undefined {
    return this.sets.find((set) => set.name === name && set.type === type);
  }
  /** Replaces the set, and removes it if it has no data. Throws RefusedData if it conflicts with an alias. */
  put(set: StoredSet): void {
    const others = this.sets.filter(({ name, type }) => name !== set.name || type !== set.type);
    const atName = others.filter(({ name }) => name === set.name);
    if (set.data.length > 0) {
      if (set.type === 'CNAME' ? atName.length > 0 : atName.some(({ type }) => type === 'CNAME'))
        throw new RefusedData(`${set.type} at ${set.name} conflicts with other records`);
      if (new Set(set.data).size < set.data.length) throw new RefusedData('duplicate records');
    }
    this.sets = set.data.length > 0 ? [...others, set] : others;
  }
}

/** The strings of a TXT record. Throws RefusedData unless each is quoted and at most 255 bytes long. */
export function parseStrings(data: string, radix: 8 | 10 = 10): Buffer[] {
  const strings: Buffer[] = [];
  let rest = data;
  while (rest !== '') {
    const [all, inner] = /^"((?:[^"\\]|\\\d{3}|\\["\\])*)"(?: +|$)/.exec(rest) ?? [];
    if (all === undefined) throw new RefusedData(`TXT data is not quoted: ${data.slice(0, 60)}`);
    const bytes: number[] = [];
    for (const [, digits, escaped, plain] of inner!.matchAll(/\\(\d{3})|\\(.)|([^\\])/gs)) {
      if (digits !== undefined) bytes.push(Number.parseInt(digits, radix));
      else bytes.push(...Buffer.from(escaped ?? plain!));
    }
    if (bytes.some((byte) => byte > 255)) throw new RefusedData('a byte is above 255');
    if (bytes.length > 255) throw new RefusedData('a string is longer than 255 bytes');
    if (/[^\x20-\x7e]/.test(inner!)) throw new RefusedData('a character is not ASCII');
    strings.push(Buffer.from(bytes));
    rest = rest.slice(all.length);
  }
  if (strings.length === 0) throw new RefusedData('TXT data is empty');
  return strings;
}

const HOST = '(?:[a-z0-9_*-]+\\.)+';
const FORMS: Record<string, RegExp> = {
  A: /^\d+\.\d+\.\d+\.\d+$/,
  AAAA: /^[0-9a-f:]+$/,
  MX: new RegExp(`^\\d+ ${HOST}$`),
  CNAME: new RegExp(`^${HOST}$`),
  NS: new RegExp(`^${HOST}$`),
  CAA: /^\d+ [a-z0-9]+ "[^"]*"$/,
  TLSA: /^\d \d \d [0-9a-f]+$/,
};

/** Throws RefusedData for what no name server takes: host names need a dot at the end, and texts quotation marks. */
export function requireZoneFileData(type: string, data: string, radix?: 8 | 10): void {
  if (type === 'TXT') parseStrings(data, radix);
  else if (!FORMS[type]?.test(data)) throw new RefusedData(`${type} data is malformed: ${data}`);
}

/** The data of a set of test records, in zone-file notation. Values are as the resolver returns them. */
export function zoneData(type: string, value: string, radix: 8 | 10 = 10): string {
  if (type === 'TXT') {
    const bytes = [...Buffer.from(value)];
    const strings: string[] = [];
    do
      strings.push(
        bytes
          .splice(0, 255)
          .map((byte) => {
            const character = String.fromCharCode(byte);
            if (byte < 0x20 || byte > 0x7e) return `\\${byte.toString(radix).padStart(3, '0')}`;
            return /["\\]/.test(character) ? `\\${character}` : character;
          })
          .join(''),
      );
    while (bytes.length > 0);
    return strings.map((string) => `"${string}"`).join(' ');
  }
  return ['MX', 'CNAME', 'NS'].includes(type) ? `${value}.` : value;
}

/** The reverse. */
export function plainValue(type: string, data: string, radix: 8 | 10 = 10): string {
  if (type === 'TXT') return Buffer.concat(parseStrings(data, radix)).toString();
  return ['MX', 'CNAME', 'NS'].includes(type) ? data.replace(/\.$/, '') : data;
}
