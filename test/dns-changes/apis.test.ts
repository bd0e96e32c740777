/** What is special about the API of each name server, and what it refuses, in words for administrators. */

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import * as v from 'valibot';
import { planChanges } from '../../src/dns-changes/plan.ts';
import type { NameServer } from '../../src/dns-changes/server.ts';
import { SERVER_KIND_IDS, SERVER_KINDS } from '../../src/dns-changes/servers/index.ts';
import { powerdns } from '../../src/dns-changes/servers/powerdns.ts';
import { webhook } from '../../src/dns-changes/servers/webhook.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { loopbackContext } from '../helpers/bind.ts';
import { startDesecApi } from '../helpers/dns-apis/desec.ts';
import { startHetznerApi } from '../helpers/dns-apis/hetzner.ts';
import { startRoute53Api } from '../helpers/dns-apis/route53.ts';
import { startWebhook } from '../helpers/dns-apis/webhook.ts';
import { startHttpScript } from '../helpers/http-script.ts';
import { assertProblem, seededRecords, set } from './conformance.ts';

const DMARC = set('_dmarc.example.com', 'TXT', ['v=DMARC1; p=none']);
const REJECT = { ...DMARC, values: ['v=DMARC1; p=reject'] };
const NEW = set('new.example.com', 'TXT', []);
const added = { ...NEW, values: ['x'] };

const planSpf = (server: NameServer) =>
  planChanges(
    server,
    ['example.com', '_dmarc.example.com', '_smtp._tls.example.com', 'a.example.com'].map(
      (name) => ({
        name,
        type: 'TXT',
        value: 'v=spf1 -all',
        purpose: 'x',
        checks: ['x'],
        basedOn: null,
        problem: null,
        caution: null,
      }),
    ),
  );

describe('Route 53', () => {
  it('changes nothing if somebody changes the records right before', async (t) => {
    const served = await startRoute53Api(t, seededRecords(8));
    served.beforeWrite = () => void served.put(DMARC.name, 'TXT', ['theirs']);
    const work = served.open().replace('example.com', DMARC, REJECT);
    await assertProblem(work, 'changed', /do not match the current values/);
    served.beforeWrite = () => void served.put(NEW.name, 'TXT', ['theirs']);
    await assertProblem(served.open().replace('example.com', NEW, added), 'changed', /exists/);
    assert.deepEqual(await served.values(NEW.name, 'TXT'), ['theirs']);
  });

  it('says what the IAM policy lacks, and that the clock is wrong', async (t) => {
    const denied = await startRoute53Api(t, seededRecords(8), {
      denied: 'ChangeResourceRecordSets',
    });
    await assertProblem(
      denied.open().replace('example.com', NEW, added),
      'refused',
      /needs route53:ListHostedZonesByName, .*not authorized to perform/,
    );
    const late = await startRoute53Api(t, seededRecords(8), {
      clock: () => Date.now() + 3_600_000,
    });
    await assertProblem(late.open().check(), 'wrong_time', /NTP.*Signature expired/);
  });

  it('keeps alias records, and never publishes in private zones', async (t) => {
    const served = await startRoute53Api(t, seededRecords(8), { aliases: ['mx.example.com A'] });
    const server = served.open();
    const alias = await server.read('example.com', 'mx.example.com', 'A');
    assert.deepEqual(alias.values, ['alias of d1.cloudfront.example']);
    await assertProblem(
      server.replace('example.com', alias, { ...alias, values: ['192.0.2.1'] }),
      'refused',
      /has an alias at Route 53/,
    );
    await server.replace('example.com', NEW, added);
    assert.ok(served.requests.every(({ path }) => !path.includes('ZPRIVATE')));
    const weighted = await startRoute53Api(t, seededRecords(8), {
      weighted: [`${DMARC.name} TXT`],
    });
    await assertProblem(
      weighted.open().replace('example.com', DMARC, REJECT),
      'refused',
      /has a routing policy at Route 53/,
    );
    assert.ok(weighted.requests.every(({ method }) => method === 'GET'));
  });
});

describe('Route 53 with its limit of five requests a second', () => {
  it('gets few requests for a plan', async (t) => {
    const served = await startRoute53Api(t, seededRecords(8));
    await planSpf(served.open());
    // The list of zones and the zone have several pages here.
    assert.ok(served.requests.length <= 6, `${served.requests.length} requests`);
  });

  it('is asked again a moment later', async (t) => {
    const served = await startRoute53Api(t, seededRecords(8), { throttled: 1 });
    assert.deepEqual((await served.open().read('example.com', DMARC.name, 'TXT')).values, [
      'v=DMARC1; p=none',
    ]);
  });

  it('is not used for a zone that is there twice', async (t) => {
    const served = await startRoute53Api(t, seededRecords(8), { isTwice: true });
    await assertProblem(
      served.open().replace('example.com', DMARC, REJECT),
      'refused',
      /two zones example\.com at Route 53/,
    );
  });
});

describe('Hetzner', () => {
  it('adds nothing if somebody adds records right before', async (t) => {
    const served = await startHetznerApi(t, seededRecords());
    served.beforeWrite = () => void served.put(NEW.name, 'TXT', ['theirs']);
    await assertProblem(
      served.open().replace('example.com', NEW, added),
      'changed',
      /changed at Hetzner/,
    );
    assert.deepEqual(await served.values(NEW.name, 'TXT'), ['theirs']);
  });

  it('says that the token may only read, that a zone is a copy, and that an action failed', async (t) => {
    const readOnly = await startHetznerApi(t, seededRecords(), { isReadOnly: true });
    await assertProblem(
      readOnly.open().replace('example.com', NEW, added),
      'refused',
      /may only read/,
    );
    const copies = await startHetznerApi(t, seededRecords(), { isSecondary: true });
    await assertProblem(copies.open().check(), 'refused', /no primary zone/);
    const locked = await startHetznerApi(t, seededRecords(), { isProtected: true });
    await assertProblem(
      locked.open().replace('example.com', DMARC, REJECT),
      'refused',
      /protected/,
    );
    const failing = await startHetznerApi(t, seededRecords(), {
      actionError: { code: 'action_failed', message: 'the name server is away' },
    });
    const { mayHaveChanged } = await assertProblem(
      failing.open().replace('example.com', NEW, added),
      'server_failed',
      /the name server is away/,
    );
    assert.equal(mayHaveChanged, true);
  });

  it('may have made a change whose state it does not tell', async (t) => {
    for (const lostAction of [
      { status: 404, body: {} },
      { status: 429, body: {} },
      { status: 400, body: {} },
    ]) {
      const served = await startHetznerApi(t, seededRecords(), { lostAction });
      const error = await assertProblem(
        served.open().replace('example.com', NEW, added),
        'server_failed',
        /has not completed/,
      );
      assert.equal(error.mayHaveChanged, true);
      assert.deepEqual(await served.values(NEW.name, 'TXT'), ['x']);
    }
  });
});

describe('deSEC', () => {
  it('gets no TTL below the minimum of the domain for new records', async (t) => {
    const served = await startDesecApi(t, seededRecords());
    await served.open().replace('example.com', NEW, { ...added, ttl: 60 });
    assert.equal((await served.open().read('example.com', NEW.name, 'TXT')).ttl, 3600);
    // An exception by its support.
    await served.put('fast.example.com', 'TXT', ['a'], 60);
    const fast = await served.open().read('example.com', 'fast.example.com', 'TXT');
    await served.open().replace('example.com', fast, { ...fast, values: ['b'] });
    assert.equal((await served.open().read('example.com', 'fast.example.com', 'TXT')).ttl, 60);
  });

  it('gets few requests for a plan, because it counts them', async (t) => {
    const served = await startDesecApi(t, seededRecords());
    await planSpf(served.open());
    // The zone has several pages here.
    assert.ok(served.requests.length <= 12, `${served.requests.length} requests`);
  });
});

describe('PowerDNS', () => {
  it('keeps disabled records', async (t) => {
    const sets = [
      {
        name: 'new.example.com.',
        type: 'TXT',
        ttl: 300,
        records: [
          { content: '"off"', disabled: true },
          { content: '"on"', disabled: false },
        ],
      },
    ];
    const { url, exchanges } = await startHttpScript(
      t,
      ({ method, path, json, body, response }) => {
        const zone = { id: 'example.com.', name: 'example.com.', kind: 'Native' };
        if (method === 'PATCH') {
          sets[0]!.records = JSON.parse(body).rrsets[0].records;
          response.writeHead(204).end();
        } else json(200, path.endsWith('/zones') ? [zone] : { ...zone, rrsets: sets });
      },
    );
    const server = powerdns.open({ url, api_key: 'secret-key' }, loopbackContext());
    const before = await server.read('example.com', 'new.example.com', 'TXT');
    assert.deepEqual(before, set('new.example.com', 'TXT', ['on'], 300));
    await server.replace('example.com', before, { ...before, values: [] });
    assert.deepEqual(sets[0]!.records, [{ content: '"off"', disabled: true }]);
    assert.ok(exchanges.every(({ headers }) => headers['x-api-key'] === 'secret-key'));
  });

  it('is reached without https in allowed networks only', async () => {
    const api = { url: 'http://ns1.example.com:8081', api_key: 'secret-key' };
    for (const [address, word] of [
      [
        '93.184.216.34',
        /http:\/\/ is only for hosts in private networks that your administrator allows/,
      ],
      ['10.0.0.1', /only for hosts in private networks/],
    ] as const) {
      const resolver = zoneResolver({ 'ns1.example.com': { A: [address] } });
      const server = powerdns.open(api, { ...loopbackContext(), resolver });
      await assertProblem(server.check(), 'unreachable', word);
    }
    const server = powerdns.open(
      { ...api, url: 'https://10.0.0.1:8081' },
      { ...loopbackContext(), allowNetworks: [] },
    );
    await assertProblem(
      server.check(),
      'unreachable',
      /not public\. Your administrator can allow its network/,
    );
  });

  it('says that there is no API at the URL', async (t) => {
    const { url } = await startHttpScript(t, ({ response }) => response.writeHead(404).end());
    const server = powerdns.open({ url, api_key: 'secret-key' }, loopbackContext());
    await assertProblem(server.check(), 'no_such_zone', /Set api=yes/);
  });
});

describe('An ExternalDNS webhook', () => {
  it('has the zones in its settings or its domain filter, or those found in DNS', async (t) => {
    const filter = { include: ['example.com', '.example.net'], exclude: ['sub.example.com'] };
    const filtered = await startWebhook(t, seededRecords(), { filter });
    assert.deepEqual((await filtered.open().check()).zones, ['example.com', 'example.net']);
    assert.equal(await filtered.open().zoneOf('_dmarc.example.org'), null);
    const settings = { zones: 'example.com' };
    const limited = await startWebhook(t, seededRecords(), { filter: {}, settings });
    assert.deepEqual((await limited.open().check()).zones, ['example.com']);
    const open = await startWebhook(t, seededRecords(), { filter: {} });
    assert.deepEqual((await open.open().check()).zones, []);
    const resolver = zoneResolver({
      'example.com': { SOA: ['ns.example.com h.example.com 1 1 1 1 1'] },
    });
    const { url } = await startHttpScript(t, ({ response, path }) => {
      response.writeHead(200, {
        'content-type': 'application/external.dns.webhook+json;version=1',
      });
      response.end(path === '/' ? '{}' : 'null');
    });
    const server = webhook.open({ url }, { ...loopbackContext(), resolver });
    assert.equal(await server.zoneOf('_dmarc.example.com'), 'example.com');
    assert.equal(await server.zoneOf('_dmarc.example.org'), null);
  });

  it('gets each changed set with the properties that the provider has stored', async (t) => {
    const served = await startWebhook(t, seededRecords());
    await served.open().replace('example.com', DMARC, REJECT);
    const sent = served.requests
      .filter(({ method, path }) => method === 'POST' && path === '/records')
      .map(({ body }) => JSON.parse(body));
    assert.equal(sent.length, 1);
    const [{ updateOld, updateNew }] = sent;
    assert.deepEqual(updateOld[0].targets, ['"v=DMARC1; p=none"']);
    assert.deepEqual(updateNew, [{ ...updateOld[0], targets: ['"v=DMARC1; p=reject"'] }]);
    assert.deepEqual(updateNew[0].providerSpecific, [{ name: 'webhook/comment', value: 'kept' }]);
  });

  it('gets texts without quotation marks if any of its texts has none', async (t) => {
    const served = await startWebhook(t, seededRecords(), { isPlain: true });
    // The registry of ExternalDNS puts them at every provider.
    const heritage = '"heritage=external-dns,external-dns/owner=default"';
    await served.put('app.example.com', 'TXT', [heritage]);
    await served.open().replace('example.com', NEW, added);
    assert.deepEqual(await served.values(NEW.name, 'TXT'), ['x']);
    const app = await served.open().read('example.com', 'app.example.com', 'TXT');
    await served
      .open()
      .replace('example.com', app, { ...app, values: [...app.values, 'v=spf1 -all'] });
    assert.deepEqual(await served.values('app.example.com', 'TXT'), [heritage, 'v=spf1 -all']);
  });

  it('gets no TTL for records that have the default one, and no change of a set in parts', async (t) => {
    const media = { 'content-type': 'application/external.dns.webhook+json;version=1' };
    const part = (target: string) => ({
      dnsName: 'Example.com',
      recordType: 'TXT',
      targets: [target],
    });
    let listed = [part('"a"')];
    const { url, exchanges } = await startHttpScript(t, ({ response, path, method, body }) => {
      const isChange = method === 'POST' && path === '/records';
      if (isChange) listed = JSON.parse(body).updateNew;
      response.writeHead(isChange ? 204 : 200, media);
      const answer = path === '/' ? { include: ['example.com'] } : listed;
      response.end(path === '/adjustendpoints' ? body : isChange ? '' : JSON.stringify(answer));
    });
    const server = webhook.open({ url }, loopbackContext());
    const before = await server.read('example.com', 'example.com', 'TXT');
    await server.replace('example.com', before, { ...before, values: ['a', 'b'] });
    const sent = exchanges.find(({ path, method }) => path === '/records' && method === 'POST');
    assert.deepEqual(JSON.parse(sent!.body), {
      updateOld: [part('"a"')],
      updateNew: [{ ...part('"a"'), dnsName: 'example.com', targets: ['"a"', '"b"'] }],
    });
    listed = [part('"a"'), part('"b"')];
    const parts = await server.read('example.com', 'example.com', 'TXT');
    await assertProblem(
      server.replace('example.com', parts, { ...parts, values: ['c'] }),
      'refused',
      /in several parts/,
    );
  });

  it('gets no changes of types that its provider does not manage', async (t) => {
    const served = await startWebhook(t, seededRecords(), { types: ['A', 'CNAME', 'TXT'] });
    const caa = set('example.com', 'CAA', []);
    await assertProblem(
      served.open().replace('example.com', caa, { ...caa, values: ['0 issue "ca.example"'] }),
      'refused',
      /lists no CAA records/,
    );
    const aaaa = set('mx.example.com', 'AAAA', []);
    await assertProblem(
      served.open().replace('example.com', aaaa, { ...aaaa, values: ['2001:db8::1'] }),
      'refused',
      /does not support this AAAA record/,
    );
    assert.ok(served.requests.every(({ path, method }) => path !== '/records' || method === 'GET'));
  });

  it('is recognized: another kind of server is an error', async (t) => {
    for (const status of [200, 404, 406]) {
      const { url } = await startHttpScript(t, ({ json }) => json(status, {}));
      await assertProblem(
        webhook.open({ url }, loopbackContext()).check(),
        'bad_response',
        /no ExternalDNS webhook of version 1/,
      );
    }
  });
});

test('settings of the same name have the same rules in all kinds, and a URL has no secrets', () => {
  const fields = SERVER_KIND_IDS.flatMap((id) => SERVER_KINDS[id].fields);
  for (const list of Map.groupBy(fields, ({ name }) => name).values())
    for (const { schema, isSecret, kind } of list)
      assert.deepEqual(
        [schema, isSecret, kind],
        [list[0]!.schema, list[0]!.isSecret, list[0]!.kind],
      );
  const { schema } = powerdns.fields.find(({ name }) => name === 'url')!;
  assert.equal(v.parse(schema, ' https://ns1.example.com:8081/ '), 'https://ns1.example.com:8081');
  for (const text of [
    '',
    'ns1',
    'ftp://a.example',
    'https://u:p@a.example',
    'https://a.example/?k=1',
  ])
    assert.ok(!v.is(schema, text), text);
  for (const { fields: own } of SERVER_KIND_IDS.map((id) => SERVER_KINDS[id]))
    for (const { schema: rule, example } of own) assert.ok(v.is(rule, example), example);
  assert.ok(!SERVER_KIND_IDS.includes('command'));
});
