/** What name servers with an API share: finding the zone, reading sets, and replacing one only if it is as planned. */

import { relativeName, valueOfZoneFile, zoneFileData } from '../presentation.ts';
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

/** A whole set, or one record. Its name has any case, and perhaps a dot at the end. */
export interface Stored<R = unknown> extends Omit<RecordSet, 'values'> {
  /** As in a zone file, unless there are `values`. */
  data: string[];
  values?: string[];
  /** Why it must not be changed, and what to do. */
  locked?: string | false | undefined;
  /** For writing it back. */
  raw?: R;
}
type Entry<R> = Stored<R> & RecordSet;

export interface Change<Z extends Zone, R> {
  zone: Z;
  name: string;
  type: string;
  /** Of the whole set, after the change. */
  ttl: number;
  values: string[];
  /** `@` for the zone itself. */
  relative: string;
  /** Of the set, and of everything at its name. */
  current: Entry<R>[];
  atName: Entry<R>[];
  /** After the change. What stays is as the server has it. */
  data(encode?: (type: string, value: string) => string): string[];
}

/** DNSSEC adds the last two (RFC 4034). */
const BESIDE_ALIAS = ['CNAME', 'RRSIG', 'NSEC'];

/** Its functions reject with a DnsServerError. */
export interface ZoneApi<Z extends Zone = Zone, R = unknown> {
  name: string;
  /** All that it may change, or the one of this name. */
  zones(name?: string): Promise<Z[]>;
  /** At a name or below it, or more. */
  entries(zone: Z, query: { name?: string; below?: string }): Promise<Stored<R>[]>;
  /** If possible, only if nothing has changed. */
  write(change: Change<Z, R>): Promise<unknown>;
  /** In any case. */
  listsAllZones?: boolean;
  isWhole?: boolean;
  /** The server resolves an alias of the zone itself, and publishes other records beside it. */
  flattensApex?: boolean;
  /** What to do then. Null if it can have zones that it does not list. */
  noZones: string | null;
}

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
      const isAlias = type !== 'CNAME' && atName.some((entry) => entry.type === 'CNAME');
      const isFlattened = api.flattensApex && name === zoneName;
      if (!hasSameValues(setOf(name, type, current), before) || (isAlias && !isFlattened))
        throw changedSince(before);
      const others = atName.filter((entry) => !BESIDE_ALIAS.includes(entry.type));
      const locked =
        current.find((entry) => entry.locked)?.locked ||
        (type === 'CNAME' && after.values.length > 0 && others.length > 0
          ? `There are ${others[0]!.type} records at ${name}, and beside an alias (CNAME), there can be no others. Remove them first.`
          : null);
      if (locked) throw new DnsServerError('refused', locked);
      const isRemoved = (value: string) => !after.values.includes(value);
      if (current.some((entry) => entry.values.filter(isRemoved).join().includes('\ufffd')))
        throw notText(name, server);
      // Two records can be the same text, such as one that is divided into other strings.
      const stored = Map.groupBy(
        current.flatMap(({ values, data }) => values.map((value, i) => [value, data[i]!] as const)),
        ([value]) => value,
      );
      await api.write({
        ...after,
        zone,
        relative: relativeName(name, zoneName) || '@',
        current,
        atName,
        data: (encode = zoneFileData) =>
          [...new Set(after.values)].flatMap(
            (value) => stored.get(value)?.map(([, data]) => data) ?? encode(type, value),
          ),
      });
      // The server has said that the records have changed, even if they cannot be read now.
      const result = await source.read(zoneName, name, type).catch(() => after);
      if (!hasSameValues(result, after)) throw notAsSent(after, server);
    },

    async check() {
      const zones = await api.zones();
      const [first = { id: '', name: '' } as Z] = zones;
      if (first.name === '' && api.noZones !== null)
        throw new DnsServerError('refused', api.noZones);
      // Reading records needs a permission of its own.
      await entriesAt(api, first, first.name);
      return { zones: zones.map(({ name }) => name) };
    },
  };
}

function sourceOf<Z extends Zone, R>(api: ZoneApi<Z, R>): RecordSource {
  return {
    async zoneOf(name) {
      for (let at = name; at.includes('.'); at = parentOf(at)) {
        // No zone begins with a wildcard, and PowerDNS refuses the question.
        const zone = at.startsWith('*') ? undefined : await findZone(api, at);
        if (!zone) continue;
        const below = namesBelow(at, name).map((one) => entriesAt(api, zone, one));
        return (await Promise.all(below)).flat().some(({ type }) => type === 'NS') ? null : at;
      }
      return null;
    },

    async read(zoneName, name, type) {
      const isFlattened = type === 'CNAME' && api.flattensApex && name === zoneName;
      const entries = isFlattened ? [] : await entriesAt(api, await zoneNamed(api, zoneName), name);
      const own = entries.filter((entry) => entry.type === type);
      return setOf(name, type, own);
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
        if (below.some((entry) => plainName(entry.name).endsWith(`.${at}`))) return [];
      }
      return [];
    },
  };
}

async function findZone<Z extends Zone, R>(api: ZoneApi<Z, R>, name: string) {
  const [found, another] = (await api.zones(name)).filter((one) => one.name === name);
  if (!another) return found;
  throw new DnsServerError(
    'refused',
    `There are two zones ${name} at ${api.name}. Delete the one that is not in use.`,
  );
}

async function zoneNamed<Z extends Zone, R>(api: ZoneApi<Z, R>, name: string): Promise<Z> {
  const zone = await findZone(api, name);
  if (zone) return zone;
  throw new DnsServerError(
    'no_such_zone',
    `The credentials have no access to the zone ${name}, or it is not active at ${api.name}.`,
  );
}

async function entriesAt<Z extends Zone, R>(api: ZoneApi<Z, R>, zone: Z, name: string) {
  const entries = await api.entries(zone, { name });
  return entries.flatMap((entry): Entry<R>[] => {
    const { type, data, values } = entry;
    const read = () => data.map((text) => valueOfZoneFile(type, text));
    return plainName(entry.name) === name ? [{ ...entry, values: values ?? read() }] : [];
  });
}

/** Plans ask for the same zones and names again and again, and some servers count requests. */
function remembering<Z extends Zone, R>(api: ZoneApi<Z, R>): ZoneApi<Z, R> {
  const answers = new Map<string, Promise<unknown>>();
  const once = <T>(key: unknown, ask: () => Promise<T>): Promise<T> => {
    const text = JSON.stringify([key]);
    if (!answers.has(text)) answers.set(text, ask());
    return answers.get(text) as Promise<T>;
  };
  return {
    ...api,
    zones: (name) => once(api.listsAllZones || name, () => api.zones(name)),
    entries: (zone, query) =>
      once([zone.id, !api.isWhole && query], () => api.entries(zone, query)),
  };
}

export const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

export const parentOf = (name: string): string => name.slice(name.indexOf('.') + 1);

/** The name and those above it, as far as they are below the zone. */
const namesBelow = (zone: string, name: string): string[] =>
  name === zone ? [] : [name, ...namesBelow(zone, parentOf(name))];

export const notText = (name: string, server: string): DnsServerError =>
  new DnsServerError(
    'invalid_record',
    `A record at ${name} contains bytes that are not text, so this change could not be undone. Change it at ${server}.`,
  );

export const notAsSent = ({ name, type }: RecordSet, server: string): DnsServerError =>
  new DnsServerError(
    'server_failed',
    `${server} accepted the change, but ${type} at ${name} is not what was sent.`,
    { mayHaveChanged: true },
  );

export const setOf = (
  name: string,
  type: string,
  entries: Pick<RecordSet, 'values' | 'ttl'>[],
): RecordSet => ({
  name,
  type,
  values: entries.flatMap(({ values }) => values),
  ttl: entries.length > 0 ? Math.min(...entries.map(({ ttl }) => ttl)) : DEFAULT_TTL,
});
