/** The walk over an SPF record and its includes: evidence and limits. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spfRecord } from '../../../src/analysis/checks/spf-record.ts';
import { walkSpf } from '../../../src/analysis/spf/tree.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

const MESSAGE = 'From: Ann <ann@example.com>\n\nHello\n';
const txt = (record: string) => ({ TXT: [record] });

test('spf_record check evidence contains the include tree', async () => {
  const zone: Zone = {
    'example.com': txt('v=spf1 include:B.example. -all'),
    'b.example': txt('v=spf1 include:%{d}.c.example a:d.example -all'),
  };
  const { evidence } = await runCheck(spfRecord, { message: MESSAGE, zone });
  assert.equal(evidence?.lookups, 3);
  assert.deepEqual(evidence?.void_lookups, ['a:d.example (b.example)']);
  assert.deepEqual(evidence?.tree, {
    domain: 'example.com',
    record: 'v=spf1 include:B.example. -all',
    includes: [
      {
        domain: 'b.example',
        via: 'include:B.example.',
        record: 'v=spf1 include:%{d}.c.example a:d.example -all',
      },
    ],
  });
});

test('walkSpf stops at endless includes', async () => {
  let asked = 0;
  const tree = await walkSpf('0.example', async (name) => {
    asked += 1;
    const terms = Array.from({ length: 10 }, (_, index) => `include:${index}.${name}`).join(' ');
    return { status: 'found', records: [`v=spf1 ${terms} -all`], ttl: 1, authenticated: false };
  });
  assert.ok(asked < 100, `${asked} queries`);
  assert.ok(tree.lookups > 10);
});

test('walkSpf is deterministic whatever the order of answers', async () => {
  const zone: Zone = {
    'example.com': txt('v=spf1 include:a.example include:b.example -all'),
    'a.example': txt('v=spf1 a:gone.example -all'),
    'b.example': txt('v=spf1 a:lost.example -all'),
  };
  const resolve = zoneResolver(zone);
  const waiting: (() => void)[] = [];
  const reversed = walkSpf('example.com', async (name, type) => {
    const { promise, resolve: go } = Promise.withResolvers<void>();
    waiting.unshift(go);
    setImmediate(() => {
      for (const next of waiting.splice(0)) next();
    });
    await promise;
    return resolve(name, type);
  });
  assert.deepEqual(await reversed, await walkSpf('example.com', resolve));
});
