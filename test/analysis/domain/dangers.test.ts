/** The score of a domain orders domains by danger, and its summary names the worst problem and the first step. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Zone } from '../../../src/net/dns/zone.ts';
import type { WebClient } from '../../../src/net/http/web.ts';
import { webOf } from '../../helpers/web.ts';
import { checkDomain, GOOD_ZONE, item } from './domains.ts';

const changed = (zone: Zone): Zone => ({ ...GOOD_ZONE, ...zone });
const own = (records: { TXT?: string[]; MX?: string[] }): Zone =>
  changed({ 'example.com': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.example.com'], ...records } });

/** The same problem of two domains is as dangerous, so each line differs in its kind. */
const BY_DANGER: [problem: string, zone: Zone][] = [
  ['does not exist', {}],
  ['anyone can send', own({ TXT: ['v=spf1 mx +all'] })],
  ['no mail server', own({ MX: ['10 gone.example.com'] })],
  ['no SPF record', own({ TXT: [] })],
  ['no DMARC record', changed({ '_dmarc.example.com': {} })],
  [
    'many weak records',
    {
      ...own({ TXT: ['v=spf1 mx ptr ?all'] }),
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=none'] },
      's1._domainkey.example.com': { TXT: ['v=DKIM1; k=rsa; p=AAAA'] },
      '_smtp._tls.example.com': { TXT: ['v=TLSRPTv1; rua='] },
      'default._bimi.example.com': { TXT: ['v=BIMI1; a=x'] },
    },
  ],
  [
    'a weak DMARC policy',
    changed({ '_dmarc.example.com': { TXT: ['v=DMARC1; p=none; rua=mailto:d@example.com'] } }),
  ],
  ['nothing', GOOD_ZONE],
];

test('The more dangerous a problem of a domain, the lower its score', async () => {
  const scores: number[] = [];
  for (const [, zone] of BY_DANGER)
    scores.push((await checkDomain(zone, { selectors: ['s1'] })).score!);
  const listed = BY_DANGER.map(([problem], i) => `${scores[i]} ${problem}`).join(', ');
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => a - b),
    listed,
  );
  assert.equal(new Set(scores).size, scores.length, listed);
});

test('One critical problem costs more than all warnings together', async () => {
  const weak = BY_DANGER.find(([problem]) => problem === 'many weak records')![1];
  const open = await checkDomain(own({ TXT: ['v=spf1 mx +all'] }), { selectors: ['s1'] });
  const many = await checkDomain(weak, { selectors: ['s1'] });
  assert.deepEqual([open.status, many.status], ['critical', 'warning']);
  assert.ok(open.score! < many.score!, `${open.score} ${many.score}`);
});

const RULE = 'mta-sts.example.com';
const policyOf = (mode: string, ...hosts: string[]) =>
  webOf({
    [`https://${RULE}/.well-known/mta-sts.txt`]: {
      body: `version: STSv1\nmode: ${mode}\n${hosts.map((host) => `mx: ${host}\n`).join('')}max_age: 604800\n`,
    },
  });
const STS_ZONE = changed({
  '_mta-sts.example.com': { TXT: ['v=STSv1; id=7'] },
  'example.com': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.example.com', '20 mx2.example.com'] },
  'mx2.example.com': { A: ['192.0.2.2'] },
});

test('An enforced MTA-STS policy without any real mail server is critical', async () => {
  const states = async (web: WebClient) => {
    const health = await checkDomain(STS_ZONE, { web });
    const { status, severity } = item(health, 'mta_sts');
    return [health.status, status, severity];
  };
  assert.deepEqual(await states(policyOf('enforce', 'old.example.net')), [
    'critical',
    'fail',
    'critical',
  ]);
  assert.deepEqual(await states(policyOf('enforce', 'mx.example.com')), [
    'warning',
    'warn',
    'warning',
  ]);
  assert.deepEqual(await states(policyOf('testing', 'old.example.net')), [
    'warning',
    'warn',
    'warning',
  ]);
  assert.deepEqual(await states(policyOf('enforce', 'mx.example.com', 'mx2.example.com')), [
    'healthy',
    'info',
    null,
  ]);
});

test('The summary names the worst problem and the first step', async () => {
  const { summary } = await checkDomain(
    own({ TXT: ['v=spf1 mx +all'], MX: ['10 gone.example.com'] }),
  );
  assert.match(
    summary,
    /^example\.com needs attention: .*\+all.* Start here: publish the TXT record under “SPF record”\. Also: 1 more critical problem\.$/,
  );
  const weak = await checkDomain(
    changed({ '_dmarc.example.com': { TXT: ['v=DMARC1; p=none; rua=mailto:d@example.com'] } }),
  );
  assert.match(weak.summary, /^example\.com works, with 1 warning: .*DMARC.* Start here: /);
});
