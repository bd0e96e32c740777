/** A program that keeps records in a file, and speaks the protocol of docs/dns-publishing.md. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { command } from '../../../src/dns-changes/servers/command.ts';
import { loopbackContext } from '../bind.ts';
import type { Fault, Harness } from './harness.ts';
import { plainValue, Records } from './records.ts';

/** Zones and sets in `state`, which the program reads and writes. */
const SOURCE = `
const { readFileSync, writeFileSync } = require('node:fs');
const file = process.env.STATE;
const state = JSON.parse(readFileSync(file, 'utf8'));
const request = JSON.parse(readFileSync(0, 'utf8'));
const answer = (value) => { console.log(JSON.stringify(value)); process.exit(0); };
if (request.version !== 1) process.exit(9);
const isApply = request.action === 'apply';
const fault = state.fault && (state.fault.on === 'all' || isApply) ? state.fault.kind : null;
if (fault === 'unavailable') answer({ error: 'server_failed', message: 'maintenance with ' + process.env.SECRET });
if (fault === 'throttled') answer({ error: 'rate_limited', message: 'slow down' });
if (fault === 'broken') process.exit(3);
if (fault === 'slow') { setInterval(() => {}, 1000); }
else if (fault === 'hostile') { process.stdout.write('['.repeat(20000), () => process.exit(0)); }
else if (request.action === 'list') {
  const records = state.sets.filter((set) => ('.' + set.name).endsWith('.' + request.zone));
  answer({ records: records.map((set) => ({ ...set, name: set.name + '.' })) });
} else if (isApply) {
  const { before, after } = request;
  const at = (set) => set.name === before.name && set.type === before.type;
  const old = state.sets.find(at)?.values ?? [];
  if (JSON.stringify([...old].sort()) !== JSON.stringify([...before.values].sort())) answer({ error: 'changed' });
  if (after.type === 'A' && after.values.some((value) => !/^[0-9.]+$/.test(value)))
    answer({ error: 'invalid_record', message: 'no IPv4 address' });
  state.sets = [...state.sets.filter((set) => !at(set)), ...(after.values.length > 0 ? [after] : [])];
  writeFileSync(file, JSON.stringify(state));
  if (fault === 'cut') process.exit(1);
  answer({ applied: true });
} else process.exit(9);
`;

/** Writes the program to the folder. A "#!" line cannot name Node if its path has a space, a shell can. */
export function writeCommandProgram(folder: string): string {
  const program = join(folder, 'publish-dns');
  writeFileSync(`${program}.cjs`, SOURCE);
  const shell = `#!/bin/sh\nexec "${process.execPath}" "$0.cjs"\n`;
  writeFileSync(program, shell, { mode: 0o755 });
  return program;
}

export function startCommand(t: TestContext, records: Records): Promise<Harness> {
  const folder = mkdtempSync(join(tmpdir(), 'dns-command-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'state.json');
  const program = writeCommandProgram(folder);
  const state = () =>
    JSON.parse(readFileSync(file, 'utf8')) as {
      sets: { name: string; type: string; ttl: number; values: string[] }[];
      fault: Harness['fault'];
    };
  const { zones } = records;
  const plain = records.sets.map(({ name, type, ttl, data }) => ({
    name,
    type,
    ttl,
    values: data.map((one) => plainValue(type, one)),
  }));
  writeFileSync(file, JSON.stringify({ sets: plain, fault: null }));
  const save = (change: Partial<ReturnType<typeof state>>) =>
    writeFileSync(file, JSON.stringify({ ...state(), ...change }));
  return Promise.resolve({
    open: ({ timeoutMs = 5_000 } = {}) =>
      command.open(
        {},
        {
          ...loopbackContext(),
          command: {
            name: 'publish',
            command: [program],
            zones,
            env: { STATE: file, SECRET: 'correct horse battery' },
            timeoutMs,
          },
        },
      ),
    openWrong: null,
    put(name, type, values, ttl = 3600) {
      // The same rules as elsewhere.
      const all = new Records(zones);
      all.sets = state().sets.map((set) => ({ ...set, data: set.values }));
      all.put({ name, type, ttl, data: values });
      save({ sets: all.sets.map((set) => ({ ...set, values: set.data })) });
    },
    values: (name, type) =>
      state().sets.find((set) => set.name === name && set.type === type)?.values ?? [],
    get fault() {
      return state().fault;
    },
    set fault(fault: { kind: Fault; on: 'all' | 'write' } | null) {
      save({ fault });
    },
  });
}
