/** A kind of name server in memory, for tests of what is around it. Import it before anything that reads the kinds. */

import * as v from 'valibot';
import {
  DnsServerError,
  hasSameValues,
  type NameServer,
  type RecordSet,
  type ServerField,
  type ServerKind,
} from '../../src/dns-changes/server.ts';
import { SERVER_KIND_IDS, SERVER_KINDS } from '../../src/dns-changes/servers/index.ts';
import type { RecordType } from '../../src/net/dns/resolver.ts';
import type { Zone } from '../../src/net/dns/zone.ts';

/** What all servers of this kind hold, and what happens before each replacement. */
export const memory = {
  zone: {} as Zone,
  zones: ['example.com', 'example'],
  password: 'correct horse battery',
  beforeReplace: async (_: RecordSet): Promise<void> => {},
  /** Reading fails, as if the server were away. */
  isAway: false,
};

type Records = Partial<Record<RecordType, string[]>>;

const field = (name: string, isSecret: boolean): ServerField => ({
  name: `memory_${name}`,
  kind: 'text',
  isSecret,
  isRequired: true,
  label: `Memory ${name}`,
  hint: `The ${name} of the memory.`,
  example: 'x',
  schema: v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty')),
});

function open({ memory_password }: Record<string, string>): NameServer {
  const requireAccess = () => {
    if (memory_password === memory.password) return;
    throw new DnsServerError('bad_credentials', 'The server does not accept the password.');
  };
  const read = (name: string, type: string): RecordSet => ({
    name,
    type,
    ttl: 600,
    values: [...((memory.zone[name] as Records | undefined)?.[type as RecordType] ?? [])],
  });
  return {
    async zoneOf(name) {
      requireAccess();
      return memory.zones.find((zone) => name === zone || name.endsWith(`.${zone}`)) ?? null;
    },
    async read(_, name, type) {
      if (memory.isAway) throw new DnsServerError('timeout', 'The server did not answer.');
      return read(name, type);
    },
    async replace(_, before, after) {
      requireAccess();
      await memory.beforeReplace(after);
      if (!hasSameValues(read(before.name, before.type), before))
        throw new DnsServerError('changed', 'The records have changed since the plan was made.');
      memory.zone[after.name] = { ...memory.zone[after.name], [after.type]: after.values };
    },
    async check() {
      requireAccess();
      return { zones: memory.zones };
    },
  };
}

const kind: ServerKind = {
  name: 'Memory',
  hint: 'Keeps records in memory.',
  open,
  fields: [
    field('room', false),
    field('password', true),
    { ...field('note', false), isRequired: false, schema: v.string('must be a string') },
  ],
};

// The line of `servers/index.ts`.
Object.assign(SERVER_KINDS, { memory: kind });
SERVER_KIND_IDS.push('memory' as never);
