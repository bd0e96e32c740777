/** Reads `DNS_COMMANDS`: a JSON array of programs that change DNS records. */

import * as v from 'valibot';
import { normalizeDomain } from '../lib/domain-names.ts';
import { ENTRY_NAME, ENTRY_NAME_RULE, readEntries, unknownFields } from './entries.ts';

const Text = v.pipe(v.string(), v.maxLength(10_000), v.regex(/^[^\0]*$/));

const FIELDS = {
  name: v.pipe(v.string(), v.regex(ENTRY_NAME)),
  command: v.pipe(
    v.array(Text),
    v.check(([file = '']) => /^\/./.test(file)),
  ),
  zones: v.pipe(
    v.array(v.pipe(v.string(), v.transform(normalizeDomain), v.string())),
    v.minLength(1),
  ),
  env: v.optional(v.record(v.string(), Text), {}),
  timeout: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30)), 15),
};
const RULES: Record<keyof typeof FIELDS, string> = {
  name: ENTRY_NAME_RULE,
  command: 'must be an array of strings: the absolute path of the program, and its arguments',
  zones: 'must be an array of domain names, such as ["example.com"]',
  env: 'must be an object whose values are strings',
  timeout: 'must be a number of seconds from 1 to 30',
};

const Entry = v.object(FIELDS);
export type DnsCommand = Omit<v.InferOutput<typeof Entry>, 'timeout'> & { timeoutMs: number };

/** Throws VariableFaults with one line for each problem. No line quotes a secret. */
export const dnsCommands = (text: string): DnsCommand[] =>
  readEntries(text, {
    noun: 'command',
    plural: 'commands',
    fields: '"name", "command" and "zones"',
    max: 20,
    labels: ['name'],
    read(entry) {
      const faults = unknownFields(entry, Object.keys(FIELDS));
      const parsed = v.safeParse(Entry, Array.isArray(entry.env) ? { ...entry, env: 0 } : entry);
      if (parsed.success && faults.length === 0) {
        const { timeout, ...rest } = parsed.output;
        return { ...rest, timeoutMs: timeout * 1000 };
      }
      const wrong = new Set(
        (parsed.issues ?? []).map(({ path }) => path![0]!.key as keyof typeof RULES),
      );
      return [...faults, ...[...wrong].map((field) => `"${field}" ${RULES[field]}`)];
    },
  });
