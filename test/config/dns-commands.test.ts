/** The programs of `DNS_COMMANDS` are read, and each mistake is named without quoting a secret. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dnsCommands } from '../../src/config/dns-commands.ts';
import { VariableFaults } from '../../src/config/entries.ts';

const ENTRY = {
  name: 'registrar',
  command: ['/usr/local/bin/publish-dns', '--fast'],
  zones: ['Example.com', 'münchen.example'],
};

test('an entry has defaults, and its zones are normalized', () => {
  assert.deepEqual(dnsCommands(JSON.stringify([ENTRY])), [
    {
      ...ENTRY,
      zones: ['example.com', 'xn--mnchen-3ya.example'],
      env: {},
      timeoutMs: 15_000,
    },
  ]);
  const [full] = dnsCommands(JSON.stringify([{ ...ENTRY, env: { TOKEN: 'x' }, timeout: 30 }]));
  assert.deepEqual([full!.env, full!.timeoutMs], [{ TOKEN: 'x' }, 30_000]);
});

test('each mistake is reported on its own line', () => {
  const faults = (entry: object) => {
    try {
      dnsCommands(JSON.stringify([{ ...ENTRY, env: { TOKEN: 'correct horse' }, ...entry }]));
    } catch (error) {
      assert.ok(error instanceof VariableFaults);
      assert.doesNotMatch(error.message, /correct horse/);
      return error.faults;
    }
    return [];
  };
  for (const [entry, fault] of [
    [{ name: '..' }, /"name" must be/],
    [{ command: 'publish-dns' }, /"command" must be an array/],
    [{ command: ['publish-dns'] }, /absolute path/],
    [{ command: [] }, /absolute path/],
    [{ zones: [] }, /"zones" must be/],
    [{ zones: ['a b'] }, /"zones" must be/],
    [{ env: ['a'] }, /"env" must be/],
    [{ env: { TOKEN: 7 } }, /"env" must be/],
    [{ timeout: 31 }, /1 to 30/],
    [{ timeout: '5s' }, /1 to 30/],
    [{ shell: true }, /"shell" is not a known field/],
  ] as const) {
    const found = faults(entry);
    assert.equal(found.length, 1, JSON.stringify(entry));
    assert.match(found[0]!, fault);
    assert.match(found[0]!, /^command 1/);
  }
  assert.throws(() => dnsCommands(JSON.stringify([ENTRY, ENTRY])), /another command has the name/);
});
