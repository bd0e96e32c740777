/** The zone in memory answers as name servers do, wildcards included. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RecordType, recordsOf } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';

/** The example of RFC 4592 §2.2.1, with an alias and a wildcard that leads to one. */
const ZONE: Zone = {
  'example.com': { NS: ['ns.example.com'] },
  '*.example.com': { TXT: ['this is a wildcard'], MX: ['10 host1.example.com'] },
  'sub.*.example.com': { TXT: ['this is not a wildcard'] },
  'host1.example.com': { A: ['192.0.2.1'] },
  '_ssh._tcp.host1.example.com': { TXT: ['a service'] },
  '*.shop.example.com': { CNAME: ['host1.example.com'] },
};

const CASES: [name: string, type: RecordType, expected: string[] | 'nodata' | 'nxdomain'][] = [
  ['host3.example.com', 'MX', ['10 host1.example.com']],
  ['foo.bar.example.com', 'TXT', ['this is a wildcard']],
  ['host3.example.com', 'A', 'nodata'],
  ['host1.example.com', 'MX', 'nodata'],
  ['sub.*.example.com', 'MX', 'nodata'],
  ['_telnet._tcp.host1.example.com', 'TXT', 'nxdomain'],
  ['_tcp.host1.example.com', 'TXT', 'nodata'],
  ['host.other.example', 'MX', 'nxdomain'],
  ['*.example.com', 'MX', ['10 host1.example.com']],
  ['a.*.example.com', 'TXT', 'nxdomain'],
  // A wildcard of a closer encloser hides the outer one, also for types that it lacks.
  ['a.shop.example.com', 'A', ['192.0.2.1']],
  ['a.b.shop.example.com', 'CNAME', ['host1.example.com']],
  ['a.shop.example.com', 'TXT', 'nodata'],
  ['shop.example.com', 'MX', 'nodata'],
];

for (const [name, type, expected] of CASES)
  test(`zoneResolver answers ${type} ${name} with ${expected}`, async () => {
    const answer = await zoneResolver(ZONE)(name, type);
    if (typeof expected === 'string') assert.equal(answer.status, expected);
    else assert.deepEqual(recordsOf(answer), expected);
  });
