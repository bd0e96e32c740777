/** A program of the configuration, which gets requests and answers in JSON. */

import * as v from 'valibot';
import type { DnsCommand } from '../../config/dns-commands.ts';
import { quoted } from '../../net/account-error.ts';
import { runProgram } from '../../net/run-program.ts';
import { DEFAULT_TTL, DnsServerError, type ServerContext, type ServerKind } from '../server.ts';
import { readJson } from './http-api.ts';
import { type ZoneApi, zoneServer } from './zone-server.ts';

const MAX_BYTES = 4 * 1024 * 1024;
/** Shorter values would be hidden within words. */
const MIN_SECRET_LENGTH = 6;

export const command: ServerKind = {
  name: 'Program',
  hint: '',
  isConfigured: true,
  fields: [],
  open: (_, context) => zoneServer(commandApi(context.command!, context)),
};

/** Only after the last may it have changed something. */
const PROBLEMS = [
  'bad_credentials',
  'refused',
  'changed',
  'no_such_zone',
  'invalid_record',
  'rate_limited',
  'unreachable',
  'server_failed',
] as const;

const Refused = v.object({ error: v.picklist(PROBLEMS), message: v.optional(v.string()) });
const Listed = v.object({
  records: v.array(
    v.object({
      name: v.string(),
      type: v.string(),
      ttl: v.optional(v.number(), DEFAULT_TTL),
      values: v.array(v.string()),
    }),
  ),
});
const Applied = v.object({ applied: v.literal(true) });

function commandApi(
  { name, command, env, zones, timeoutMs }: DnsCommand,
  { signal }: ServerContext,
): ZoneApi {
  async function run<T>(schema: v.GenericSchema<unknown, T>, request: object, changes = false) {
    const result = await runProgram({
      command,
      env,
      timeoutMs,
      input: `${JSON.stringify({ version: 1, ...request })}\n`,
      maxBytes: MAX_BYTES,
      signal,
    });
    if ('failure' in result)
      throw new DnsServerError(
        result.isTimeout ? 'timeout' : 'server_failed',
        `The program ${name} ${result.failure}. Run it by hand to see why.`,
        { mayHaveChanged: changes && result.wasStarted },
      );
    const body = result.output;
    const answer = readJson(`The program ${name}`, v.union([schema, Refused]), body, changes);
    if (!v.is(Refused, answer)) return answer;
    const { error, message = error } = answer;
    const shown = Object.values(env)
      .filter(({ length }) => length >= MIN_SECRET_LENGTH)
      // One may be a part of another.
      .toSorted((a, b) => b.length - a.length)
      .reduce((text, value) => text.replaceAll(value, '…'), message);
    throw new DnsServerError(
      error,
      `The program ${name} could not do this.${quoted(shown, 'It')}`,
      { mayHaveChanged: changes && error === 'server_failed' },
    );
  }

  return {
    name: `the program ${name}`,
    noZones: null,
    zones: async () => zones.map((zone) => ({ id: zone, name: zone })),
    async entries({ name: zone }, query) {
      const { records } = await run(Listed, { action: 'list', zone, ...query });
      // Texts have no notation. The program compares with what it has said.
      return records.map(({ values, ...set }) => ({
        ...set,
        data: values,
        ...(set.type === 'TXT' && { values }),
      }));
    },
    write: ({ zone: { name: zone }, name: at, type, ttl, current, data }) => {
      const setOf = (values: string[]) => ({ name: at, type, ttl, values });
      const before = setOf(current.flatMap((set) => set.data));
      const after = setOf(data((_, value) => value));
      return run(Applied, { action: 'apply', zone, before, after }, true);
    },
  };
}
