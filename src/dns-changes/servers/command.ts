/** A program of the operator’s configuration, which gets requests as JSON and answers in JSON. */

import * as v from 'valibot';
import type { DnsCommand } from '../../config/dns-commands.ts';
import { quoted } from '../../net/account-error.ts';
import { runProgram } from '../../net/run-program.ts';
import { DEFAULT_TTL, DnsServerError, type ServerContext, type ServerKind } from '../server.ts';
import { readJson } from './http-api.ts';
import { type Entry, plainName, type Replacement, type Zone, zoneServer } from './zone-server.ts';

const MAX_BYTES = 4 * 1024 * 1024;

export const command: ServerKind = {
  name: 'Program',
  hint: 'Runs a program of the configuration.',
  isConfigured: true,
  fields: [],
  open: (_, context) => zoneServer(commandApi(context.command!, context)),
};

/** What a program can say about a request that it has not fulfilled. Only the last may have changed something. */
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

const Refusal = v.object({ error: v.picklist(PROBLEMS), message: v.optional(v.string()) });
const RecordSets = v.object({
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

function commandApi({ name, command, env, zones, timeoutMs }: DnsCommand, context: ServerContext) {
  async function run<T>(schema: v.GenericSchema<unknown, T>, request: object, changes = false) {
    const result = await runProgram({
      command,
      env,
      timeoutMs,
      input: `${JSON.stringify({ version: 1, ...request })}\n`,
      maxBytes: MAX_BYTES,
      signal: context.signal,
    });
    if (result.status === 'failed')
      throw new DnsServerError(
        result.reason === 'timeout' ? 'timeout' : 'server_failed',
        `The program ${name} ${result.detail}. Run it by hand to see why.`,
        { mayHaveChanged: changes && result.wasStarted },
      );
    const body = result.output;
    const answer = readJson(`The program ${name}`, v.union([schema, Refusal]), { body }, changes);
    if (!v.is(Refusal, answer)) return answer;
    const { error, message = error } = answer;
    const shown = Object.values(env)
      .filter((value) => value.length >= MIN_SECRET_LENGTH)
      .reduce((text, value) => text.replaceAll(value, '…'), message);
    throw new DnsServerError(
      error,
      `The program ${name} could not do this.${quoted(shown).replace('The server', 'It')}`,
      { mayHaveChanged: changes && error === 'server_failed' },
    );
  }

  return {
    name: `the program ${name}`,
    noZones: null,
    zones: async (): Promise<Zone[]> => zones.map((zone) => ({ id: zone, name: zone })),
    async entries({ name: zone }: Zone, query: { name?: string; below?: string }) {
      const { records } = await run(RecordSets, { action: 'list', zone, ...query });
      return records.map((set): Entry => ({ ...set, name: plainName(set.name), raw: null }));
    },
    async write({ zone, before, after }: Replacement<Zone, unknown>) {
      await run(Applied, { action: 'apply', zone: zone.name, before, after }, true);
    },
  };
}

/** Shorter values of the environment are settings, and would be replaced within words. */
const MIN_SECRET_LENGTH = 6;
