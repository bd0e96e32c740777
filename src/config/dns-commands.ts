/** Reads `DNS_COMMANDS`: a JSON array of programs that change DNS records. */

import { normalizeDomain } from '../lib/domain-names.ts';
import { ENTRY_NAME, ENTRY_NAME_RULE, isText, readEntries, unknownFields } from './entries.ts';

export interface DnsCommand {
  /** Unique. The name of its server. */
  name: string;
  /** The program and its arguments. */
  command: string[];
  zones: string[];
  /** Its environment, beside PATH and LANG. */
  env: Record<string, string>;
  timeoutMs: number;
}

const FIELDS = ['name', 'command', 'zones', 'env', 'timeout'] as const;
const MAX_TIMEOUT_SECONDS = 30;
const DEFAULT_TIMEOUT_SECONDS = 15;

/** Throws VariableFaults with one line for each problem. No line quotes a secret. */
export const dnsCommands = (text: string): DnsCommand[] =>
  readEntries(text, {
    noun: 'command',
    plural: 'commands',
    fields: '"name", "command" and "zones"',
    max: 20,
    labels: ['name'],
    read: readEntry,
  });

function readEntry(entry: Record<string, unknown>): DnsCommand | string[] {
  const { name, command, zones, env = {}, timeout = DEFAULT_TIMEOUT_SECONDS } = entry;
  const faults = unknownFields(entry, FIELDS);
  const expect = (isValid: boolean, fault: string) => isValid || faults.push(fault);
  expect(isText(name, ENTRY_NAME), `"name" ${ENTRY_NAME_RULE}`);
  expect(
    isTexts(command) && /^\/[^\0]+$/.test(command[0] ?? ''),
    '"command" must be an array of texts: the absolute path of the program, and its arguments',
  );
  const names = isTexts(zones) ? zones.map(normalizeDomain) : [];
  expect(
    names.length > 0 && names.every((zone) => zone !== null),
    '"zones" must be an array of domain names, such as ["example.com"]',
  );
  expect(
    typeof env === 'object' && env !== null && !Array.isArray(env) && isTexts(Object.values(env)),
    '"env" must be an object of texts',
  );
  expect(
    Number.isInteger(timeout) && Number(timeout) >= 1 && Number(timeout) <= MAX_TIMEOUT_SECONDS,
    `"timeout" must be a number of seconds from 1 to ${MAX_TIMEOUT_SECONDS}`,
  );
  if (faults.length > 0) return faults;
  return {
    name: name as string,
    command: command as string[],
    zones: names as string[],
    env: env as Record<string, string>,
    timeoutMs: Number(timeout) * 1000,
  };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= 100 &&
  value.every((text) => isText(text, /^[^\0]{0,10000}$/s));
