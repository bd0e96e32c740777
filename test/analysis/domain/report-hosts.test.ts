/** Reports to a domain that takes no mail are lost, and so are those to a name with the domain appended. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dmarcRecord } from '../../../src/analysis/checks/dmarc-record.ts';
import { tlsRpt } from '../../../src/analysis/checks/tls-rpt.ts';
import { NO_SETUP } from '../../../src/analysis/context.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { checkDomain, DKIM_KEYS, item } from './domains.ts';
import { assertProposalsCure } from './publish.ts';

const options = { selectors: ['k1'] };

/** A firm whose records have these report addresses. */
const world = (dmarc: string, tls = 'mailto:tls@mill.example', changes: Zone = {}): Zone => ({
  'mill.example': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.mill.example'] },
  'mx.mill.example': { A: ['192.0.2.70'] },
  'k1._domainkey.mill.example': { TXT: [DKIM_KEYS.strong] },
  '_dmarc.mill.example': { TXT: [`v=DMARC1; p=reject; ${dmarc}`] },
  '_smtp._tls.mill.example': { TXT: [`v=TLSRPTv1; rua=${tls}`] },
  'desk.vendor.example': { MX: ['10 mx.vendor.example'] },
  'mx.vendor.example': { AAAA: ['2001:db8::70'] },
  '*._report._dmarc.desk.vendor.example': { TXT: ['v=DMARC1'] },
  'silent.mill.example': { MX: ['0 .'] },
  'web.mill.example': { TXT: ['no address'] },
  'old.mill.example': { MX: ['10 gone.mill.example'] },
  ...changes,
});

const OWN = 'rua=mailto:d@mill.example';

const DEAD: [name: string, domain: string, why: RegExp][] = [
  ['a domain that does not exist', 'gone.vendor2.example', /does not exist in DNS/],
  ['a null MX', 'silent.mill.example', /accepts no mail: it has a null MX/],
  ['no MX and no address', 'web.mill.example', /has no mail server/],
  ['a mail server without an address', 'old.mill.example', /only mail servers without an address/],
];

for (const [name, domain, why] of DEAD) {
  test(`dmarc_record and tls_rpt checks report ${name} beside a mailbox that works`, async () => {
    const zone = world(
      `${OWN},mailto:d@${domain}; ruf=mailto:f@${domain}`,
      `mailto:tls@${domain},mailto:tls@mill.example`,
    );
    const health = await assertProposalsCure(zone, 'mill.example', options);
    const dmarc = item(health, 'dmarc_record');
    assert.equal(dmarc.title, `DMARC reports to addresses at ${domain} cannot be delivered.`);
    assert.match(dmarc.detail, why);
    assert.equal(dmarc.fix!.record!.value, `v=DMARC1; p=reject; ${OWN}`);
    const tls = item(health, 'tls_rpt');
    assert.equal(tls.title, `TLS reports to addresses at ${domain} cannot be delivered.`);
    assert.equal(tls.fix!.record!.value, 'v=TLSRPTv1; rua=mailto:tls@mill.example');
    assert.deepEqual([dmarc.severity, tls.severity], ['warning', 'warning']);
  });

  test(`no record is proposed if ${name} is at the only report address`, async () => {
    const zone = world(`rua=mailto:d@${domain}`, `mailto:tls@${domain}`);
    const health = await checkDomain(zone, options, 'mill.example');
    for (const id of ['dmarc_record', 'tls_rpt']) {
      assert.match(item(health, id).title, /cannot be delivered/);
      assert.equal(item(health, id).fix!.record, undefined);
      assert.match(item(health, id).fix!.text, /an address that receives mail/);
    }
  });
}

test('an address of this service takes the place of a dead one', async () => {
  const zone = world('rua=mailto:d@silent.mill.example', 'mailto:t@silent.mill.example');
  const setup = {
    ...NO_SETUP,
    domains: { 'mill.example': { feedbackAddress: 'fb-1@desk.vendor.example', isVerified: true } },
  };
  const health = await assertProposalsCure(zone, 'mill.example', { ...options, setup });
  assert.equal(
    item(health, 'dmarc_record').fix!.record!.value,
    'v=DMARC1; p=reject; rua=mailto:fb-1@desk.vendor.example',
  );
  assert.equal(
    item(health, 'tls_rpt').fix!.record!.value,
    'v=TLSRPTv1; rua=mailto:fb-1@desk.vendor.example',
  );
});

test('a domain that was appended to a report address is taken off it', async () => {
  const zone = world(
    'rua=mailto:d@desk.vendor.example.mill.example',
    'mailto:t@desk.vendor.example.mill.example',
  );
  const health = await assertProposalsCure(zone, 'mill.example', options);
  const { fix } = item(health, 'dmarc_record');
  assert.match(fix!.text, /your domain was appended to the address/);
  assert.equal(fix!.record!.value, 'v=DMARC1; p=reject; rua=mailto:d@desk.vendor.example');
  assert.equal(
    item(health, 'tls_rpt').fix!.record!.value,
    'v=TLSRPTv1; rua=mailto:t@desk.vendor.example',
  );
});

test('report hosts with IPv6 alone, or whose lookup fails, are no finding', async () => {
  const zone = world(
    'rua=mailto:d@desk.vendor.example,mailto:d@slow.mill.example',
    'mailto:t@slow.mill.example',
    { 'slow.mill.example': { fails: 'timeout' } },
  );
  const health = await checkDomain(zone, options, 'mill.example');
  assert.deepEqual([health.status, health.score], ['healthy', 100], health.summary);
});

test('without any mail server, the check of the mail servers alone names the cause', async () => {
  const zone = world(OWN, undefined, { 'mill.example': { TXT: ['v=spf1 ip4:192.0.2.70 -all'] } });
  const health = await checkDomain(zone, options, 'mill.example');
  assert.equal(item(health, 'mx').status, 'fail');
  assert.equal(item(health, 'dmarc_record').status, 'pass');
  assert.equal(item(health, 'dmarc_policy').status, 'pass');
  assert.equal(item(health, 'tls_rpt').status, 'skipped');
});

test('a parked domain that takes no mail cannot get its own reports', async () => {
  const zone: Zone = {
    'mill.example': { TXT: ['v=spf1 -all'], MX: ['0 .'] },
    '_dmarc.mill.example': { TXT: [`v=DMARC1; p=reject; ${OWN}`] },
  };
  const { title, severity } = item(await checkDomain(zone, {}, 'mill.example'), 'dmarc_record');
  assert.equal(title, 'DMARC reports to addresses at mill.example cannot be delivered.');
  assert.equal(severity, 'warning');
});

test('the checks of a message say the same', async () => {
  const zone = world('rua=mailto:d@silent.mill.example', 'mailto:t@silent.mill.example');
  const scene = { message: 'From: a@mill.example\n\nx\n', resolver: zoneResolver(zone) };
  assert.match((await runCheck(dmarcRecord, scene)).title, /at silent\.mill\.example cannot/);
  assert.match((await runCheck(tlsRpt, scene)).title, /at silent\.mill\.example cannot/);
});
