import assert from 'node:assert/strict';
import { it } from 'node:test';
import { closestName } from '../../src/lib/closest-name.ts';

const KNOWN = ['HTTP_PORT', 'HTTP_HOST', 'SMTP_PORT', 'LOG_LEVEL'];

it('nearest suggests the intended name for a typo', () => {
  const cases: [string, string][] = [
    ['HTTP_PORT', 'HTTP_PORT'],
    ['HTTP_PRT', 'HTTP_PORT'],
    ['HTTPPORT', 'HTTP_PORT'],
    ['HTTP_HOSTS', 'HTTP_HOST'],
    ['SMPT_PORT', 'SMTP_PORT'],
    ['LOGLEVEL', 'LOG_LEVEL'],
  ];
  for (const [name, expected] of cases) assert.equal(closestName(name, KNOWN), expected, name);
});

it('nearest suggests nothing for unrelated names', () => {
  for (const name of ['', 'COLOUR', 'LOG', 'SOMETHING_ELSE_ALTOGETHER'])
    assert.equal(closestName(name, KNOWN), null, name);
  assert.equal(closestName('HTTP_PORT', []), null);
});

it('nearest tolerates more typos in longer names', () => {
  const long = 'deliverability_something_port';
  assert.equal(closestName(long.replace('something', 'smethin_g'), [long]), long);
  assert.equal(closestName('abcdef', ['xyzdef']), null);
});
