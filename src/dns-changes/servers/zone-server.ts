/** What name servers with an API share: finding the zone, reading sets, and replacing one only if it is as planned. */

import { normalizedValue, valueOfZoneFile, zoneFileData } from '../presentation.ts';
import {
  changedSince,
  DEFAULT_TTL,
  DnsServerError,
  hasSameValues,
  type NameServer,
  type RecordSet,
  type RecordSource,
  WILDCARD_TYPES,
} from '../server.ts';

export interface Zone {
  id: string;
  name: string;
}

/** Records as the server stores them: a whole set, or one record. */
export interface Entry<R = unknown> extends RecordSet {
  /** Why the service must not change it, and what to do. */
  locked?: string;
  /** What the server has said, for whoever writes it back. */
  raw: R;
}

export interface Replacement<Z, R> {
  zone: Z;
  before: RecordSet;
  after: RecordSet;
  /** What there is now: the set itself, and everything at its name. */
  current: Entry<R>[];
  atName: Entry<R>[];
}

/** An API of zones and records. Its functions reject with a DnsServerError. */
export interface ZoneApi<Z extends Zone = Zone, R = unknown> {
  /** For people. */
  name: string;
  /** All zones that it may change, or the one of this name. */
  zones(name?: string): Promise<Z[]>;
  /** At a name, below it, or of the whole zone; it may return more. Names are in lower case, without a dot at the end. */
  entries(zone: Z, query: { name?: string; below?: string }): Promise<Entry<R>[]>;
  /** One request, as far as possible with the condition that nothing has changed. */
  write(change: Replacement<Z, R>): Promise<void>;
  /** It returns the whole zone in any case. */
  isWhole?: boolean;
  /** An alias of the zone itself is resolved by the server, which publishes other records beside it. */
  flattensApex?: boolean;
  /** What to do if the credentials are for no zone. Null if it can have zones that it does not list. */
  noZones: string | null;
}

/** Rejects with a DnsServerError. */
export function zoneServer<Z extends Zone, R>(api: ZoneApi<Z, R>): NameServer {
  const { name: server } = api;
  const source = sourceOf(api);
  return {
    ...source,
    forPlan: () => sourceOf(remembering(api)),

    async replace(zoneName, before, after) {
      const { name, type } = before;
      const zone = await zoneNamed(api, zoneName);
      const atName = await entriesAt(api, zone, name);
      const current = atName.filter((entry) => entry.type === type);
      if (!hasSameValues(setOf(name, type, current), before)) throw changedSince(before);
      const isAlias = atName.some((entry) => entry.type === 'CNAME');
      if (isAlias && type !== 'CNAME' && !(api.flattensApex && name === zone.name))
        throw changedSince(before);
      const locked = current.find((entry) => entry.locked);
      if (locked) throw new DnsServerError('refused', locked.locked!);
      const removed = current
        .flatMap(({ values }) => values)
        .filter((value) => !after.values.includes(value));
      if (type === 'TXT' && removed.some((value) => value.includes('\ufffd')))
        throw new DnsServerError(
          'invalid_record',
          `A record at ${name} contains bytes that are not text, so this change could not be undone. Change it at ${server}.`,
        );
      await api.write({ zone, before, after, current, atName });
      // The server has said that the records have changed, even if they cannot be read now.
      const result = await source.read(zoneName, name, type).catch(() => after);
      if (!hasSameValues(result, after))
        throw new DnsServerError(
          'server_failed',
          `${server} accepted the change, but ${type} at ${name} is not what was sent.`,
          { mayHaveChanged: true },
        );
    },

    async check() {
      const zones = await api.zones();
      if (zones.length === 0 && api.noZones !== null)
        throw new DnsServerError('refused', api.noZones);
      // Reading records needs a permission of its own.
      await entriesAt(api, zones[0] ?? ({ id: '', name: '' } as Z), zones[0]?.name ?? '');
      return { zones: zones.map(({ name }) => name) };
    },
  };
}

function sourceOf<Z extends Zone, R>(api: ZoneApi<Z, R>): RecordSource {
  return {
    async zoneOf(name) {
      for (let at = name; at.includes('.'); at = parentOf(at)) {
        // No zone begins with a wildcard, and PowerDNS refuses the question.
        const zones = at.startsWith('*') ? [] : await api.zones(at);
        const zone = zones.find((one) => one.name === at);
        if (!zone) continue;
        const below = await Promise.all(
          namesBelow(at, name).map((one) => entriesAt(api, zone, one)),
        );
        return below.flat().some(({ type }) => type === 'NS') ? null : at;
      }
      return null;
    },

    async read(zoneName, name, type) {
      if (type === 'CNAME' && api.flattensApex && name === zoneName) return setOf(name, type, []);
      const entries = await entriesAt(api, await zoneNamed(api, zoneName), name);
      return setOf(
        name,
        type,
        entries.filter((entry) => entry.type === type),
      );
    },

    async wildcardTypes(zoneName, name) {
      const zone = await zoneNamed(api, zoneName);
      for (const at of [...namesBelow(zoneName, name), zoneName]) {
        if (at !== name) {
          const types = (await entriesAt(api, zone, `*.${at}`)).map(({ type }) => type);
          if (types.length > 0) return WILDCARD_TYPES.filter((type) => types.includes(type));
        }
        // A wildcard does not apply to names that exist, nor below them.
        if (at === zoneName || (await entriesAt(api, zone, at)).length > 0) return [];
        const below = await api.entries(zone, { below: at });
        if (below.some((entry) => entry.name.endsWith(`.${at}`))) return [];
      }
      return [];
    },
  };
}

async function zoneNamed<Z extends Zone, R>(api: ZoneApi<Z, R>, name: string): Promise<Z> {
  const zone = (await api.zones(name)).find((one) => one.name === name);
  if (zone) return zone;
  throw new DnsServerError(
    'no_such_zone',
    `The credentials have no access to the zone ${name}, or it is not active at ${api.name}.`,
  );
}

const entriesAt = async <Z extends Zone, R>(api: ZoneApi<Z, R>, zone: Z, name: string) =>
  (await api.entries(zone, { name })).filter((entry) => entry.name === name);

/** Plans ask for the same zones and names again and again, and some servers count requests. */
function remembering<Z extends Zone, R>(api: ZoneApi<Z, R>): ZoneApi<Z, R> {
  const answers = new Map<string, Promise<unknown>>();
  const once = <T>(key: string, ask: () => Promise<T>): Promise<T> => {
    if (!answers.has(key)) answers.set(key, ask());
    return answers.get(key) as Promise<T>;
  };
  return {
    ...api,
    zones: (name) => once(`zone ${name}`, () => api.zones(name)),
    entries: (zone, query) =>
      once(`${zone.id} ${api.isWhole ? '' : JSON.stringify(query)}`, () =>
        api.entries(zone, query),
      ),
  };
}

const parentOf = (name: string): string => name.slice(name.indexOf('.') + 1);

/** The name and those above it, as far as they are below the zone. */
const namesBelow = (zone: string, name: string): string[] =>
  name === zone ? [] : [name, ...namesBelow(zone, parentOf(name))];

const setOf = (name: string, type: string, entries: Entry[]): RecordSet => ({
  name,
  type,
  values: entries.flatMap(({ values }) => values),
  ttl: entries.length > 0 ? Math.min(...entries.map(({ ttl }) => ttl)) : DEFAULT_TTL,
});

// Servers whose records are text as in a zone file.

/** The name as the server writes it: lower case, without a dot at the end. */
export const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

/** `@` at the zone itself. */
export const relativeName = (name: string, zone: string): string =>
  name === zone ? '@' : name.slice(0, -(zone.length + 1));

export const valuesOf = (type: string, data: string[]): string[] =>
  data.map((text) => valueOfZoneFile(type, text));

/** The data of the set after a change. What stays is written as the server has it. */
export function dataAfter<T>(
  { current, after }: Pick<Replacement<Zone, T[]>, 'current' | 'after'>,
  encode: (value: string) => T,
): T[] {
  const stored = new Map(
    current.flatMap(({ values, raw }) => values.map((value, i): [string, T] => [value, raw[i]!])),
  );
  return [...new Set(after.values)].map((value) => stored.get(value) ?? encode(value));
}

export const encodedData =
  ({ type }: RecordSet) =>
  (value: string) =>
    zoneFileData(type, normalizedValue(type, value));
