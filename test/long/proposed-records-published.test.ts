/**
 * Every record that a fix proposes is planned, published at a real BIND, and looked up there: the finding is gone. Undo
 * brings back the very same records. Numbers and exceptions are printed.
 */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Check } from '../../src/analysis/check.ts';
import { caa } from '../../src/analysis/checks/caa.ts';
import { dane } from '../../src/analysis/checks/dane.ts';
import type { CheckResult } from '../../src/analysis/result.ts';
import {
  type PlannedChange,
  type ProposedRecord,
  planChanges,
} from '../../src/dns-changes/plan.ts';
import { proposalsOf } from '../../src/dns-changes/proposals.ts';
import type { NameServer, RecordSet } from '../../src/dns-changes/server.ts';
import { rfc2136 } from '../../src/dns-changes/servers/rfc2136.ts';
import { makeCertificate } from '../../src/lib/certificates.ts';
import { ownedDomain } from '../../src/lib/domain-names.ts';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { analyzeWorld, makeWorld, publish, type World } from '../analysis/generated-worlds.ts';
import { RECEIVED_AT, runCheck } from '../helpers/analysis.ts';
import { loopbackContext, startBind, type TestNameServer, type Zones } from '../helpers/bind.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';

const WORLDS = 60;
const GROUPS = 4;

/** The root zone answers for all other names, so that none of them fails. */
function zonesOf({ zone, from }: World): Zones {
  const zones: Zones = { '.': {} };
  for (const [name, records] of Object.entries(zone)) {
    const apex = name.endsWith('.arpa') ? 'in-addr.arpa' : (ownedDomain(name) ?? name);
    zones[apex] = { ...zones[apex], [name]: records };
  }
  // A domain without records has a zone in which they can be published.
  zones[ownedDomain(from) ?? from] ??= {};
  return zones;
}

interface Counts {
  published: Map<string, number>;
  exceptions: Map<string, number>;
}

const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);

/** More than DNS is needed: a policy file on a web server, or mail sent from elsewhere. */
const NEED_MORE = ['mta_sts'];

async function publishAll(world: World, running: TestNameServer, counts: Counts): Promise<void> {
  const server = rfc2136.open(running.settings, loopbackContext());
  const analyze = async (from = world) =>
    (await analyzeWorld(from, 'transactional', running.resolver)).checks;
  const checks = await analyze();
  const proposals = proposalsOf(checks);
  for (const check of checks.filter(({ fix }) => fix?.record)) {
    const proposal = proposals.find((one) => one.checks[0] === check.id)!;
    const [planned] = await planChanges(server, [proposal]);
    const adjusted = planned!.problem === null ? null : adjust(world, check, proposal);
    if (planned!.problem === null) await publishOne(server, planned!, check, analyze, counts);
    else count(counts.exceptions, `${check.id} ${proposal.type}: ${planned!.problem}`);
    if (adjusted === null) continue;
    const [change] = await planChanges(server, [adjusted.proposal]);
    // The key may be published already: then only the mail must be signed with it.
    if (change!.action === 'none') continue;
    await publishOne(server, change!, check, () => analyze(adjusted.world), counts, ', adjusted');
  }
}

/** What a person does with the example of a mail server, or the placeholder of a key. Null for all others. */
function adjust(world: World, { fix }: CheckResult, proposal: ProposedRecord) {
  const { type, name } = proposal;
  if (type !== 'MX' && !name.includes('._domainkey.')) return null;
  const next = publish(world, fix!);
  const value = next.zone[name]![type as 'MX' | 'TXT']![0]!;
  return { world: next, proposal: { ...proposal, value, problem: null } };
}

async function publishOne(
  server: NameServer,
  change: PlannedChange,
  check: CheckResult,
  analyze: () => Promise<CheckResult[]>,
  counts: Counts,
  note = '',
): Promise<void> {
  const { zone, before, after } = change;
  const details = JSON.stringify({ change, check }, null, 1);
  assert.notEqual(change.action, 'none', `nothing to do: ${details}`);
  await server.replace(zone!, before, after);
  assert.deepEqual(sorted(await server.read(zone!, before.name, before.type)), sorted(after));
  const result = (await analyze()).find(({ id }) => id === check.id)!;
  if (!NEED_MORE.includes(check.id))
    assert.notEqual(result.title, check.title, `the finding is still there: ${details}`);
  await server.replace(zone!, after, before);
  assert.deepEqual(sorted(await server.read(zone!, before.name, before.type)), sorted(before));
  count(counts.published, `${check.id} ${before.type}: ${change.action}${note}`);
}

const sorted = (set: RecordSet) => ({ ...set, values: set.values.toSorted() });

const table = (map: Map<string, number>) =>
  [...map]
    .toSorted()
    .map(([key, n]) => `  ${n} × ${key}`)
    .join('\n');

describe('Proposed records, published at BIND', { skip: skipUnlessInstalled('named') }, () => {
  const counts: Counts = { published: new Map(), exceptions: new Map() };
  for (let group = 0; group < GROUPS; group += 1)
    it(`resolve their findings, in generated cases from ${group * (WORLDS / GROUPS)}`, async () => {
      for (let n = 0; n < WORLDS / GROUPS; n += 1) {
        const world = makeWorld(group * (WORLDS / GROUPS) + n);
        const running = await startBind(null, { zones: zonesOf(world) });
        try {
          await publishAll(world, running, counts);
        } finally {
          await running.kill();
        }
      }
    });
  it('are published, except for those that need a person', (t) => {
    t.diagnostic(`Published:\n${table(counts.published)}`);
    t.diagnostic(`Left to a person:\n${table(counts.exceptions)}`);
    for (const id of [
      'spf',
      'spf_record',
      'dmarc_policy',
      'dmarc_record',
      'dkim',
      'dkim_key',
      'helo',
    ])
      assert.ok(
        [...counts.published.keys()].some((key) => key.startsWith(`${id} `)),
        id,
      );
  });
});

/** The CAA records of example.com. */
const CAA_CASES: [name: string, records: string[]][] = [
  ['an authority named by its URL', ['0 issue "https://ca.example/"']],
  ['parameters after the URL', ['0 issuewild "HTTP://Ca.example:443/x; a=1; b=2"']],
  ['an unknown critical property', ['128 tbs "x"', '0 issue "ca.example"']],
  ['a valid record beside it', ['0 issue "b.example"', '0 issue "a@ca.example"']],
];

describe('Records of other checks', { skip: skipUnlessInstalled('named') }, () => {
  for (const [name, records] of CAA_CASES)
    it(`caa: ${name}`, async (t) => {
      const zones: Zones = { '.': {}, 'example.com': { 'example.com': { CAA: records } } };
      await publishAndUndo(await startBind(t, { zones }), caa, 'replace');
    });

  it('dane: the certificate of the mail server is a new one', async (t) => {
    const certificate = async (name: string) => {
      const { raw, publicKey } = new X509Certificate(
        (await makeCertificate(name, RECEIVED_AT)).cert,
      );
      return { der: raw, publicKey: publicKey.export({ type: 'spki', format: 'der' }) };
    };
    const chain = [await certificate('mx.example.com')];
    const zones: Zones = {
      '.': {},
      'example.com': {
        'example.com': { MX: ['10 mx.example.com'] },
        'mx.example.com': { A: ['203.0.114.25'] },
        '_25._tcp.mx.example.com': { TLSA: [`3 1 1 ${'00'.repeat(32)}`] },
      },
    };
    const check = dane(async () => ({
      status: 'tls',
      version: 'TLSv1.3',
      chain,
      certificate: { valid: true, problem: null, names: [], issuer: null, validTo: null },
    }));
    const bind = await startBind(t, { zones });
    // As if the zones were signed, and a resolver in between had validated the answer.
    const resolver: Resolver = async (name, type) => {
      const answer = await bind.resolver(name, type);
      return answer.status === 'found' ? { ...answer, authenticated: true } : answer;
    };
    await publishAndUndo({ ...bind, resolver }, check, 'add');
  });
});

/** The record of the finding of `example.com` is planned and published, the finding is gone, and undo restores all. */
async function publishAndUndo(
  { settings, resolver }: TestNameServer,
  check: Check,
  action: PlannedChange['action'],
): Promise<void> {
  const server = rfc2136.open(settings, loopbackContext());
  const run = () => runCheck(check, { message: 'From: a@example.com\n\nx\n', resolver });
  const finding = await run();
  assert.ok(finding.fix?.record);
  const { status, evidence = {}, fix } = finding;
  const proposals = proposalsOf([{ id: check.id, label: check.label, status, evidence, fix }]);
  const [planned] = await planChanges(server, proposals);
  assert.equal(planned!.problem, null);
  assert.equal(planned!.action, action);
  const { zone, before, after } = planned!;
  await server.replace(zone!, before, after);
  const later = await run();
  assert.notEqual(later.title, finding.title, later.detail);
  assert.equal(later.fix?.record, undefined);
  await server.replace(zone!, after, before);
  assert.equal((await run()).detail, finding.detail);
}
