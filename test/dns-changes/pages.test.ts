/** The pages: adding a name server, the difference before anything is written, publishing, the result, and undoing. */

// @isolated: it adds a kind of name server before the schema of the API is built.

import './memory-server.ts';

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DnsServerError } from '../../src/dns-changes/server.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { memberOf, newMember } from '../dashboard/member.ts';
import { fieldOf, mainOf } from '../dashboard/pages.ts';
import { startTestService } from '../helpers/app.ts';
import { memory } from './memory-server.ts';
import { DMARC, SETTINGS, startPublishing, WEAK } from './publishing.ts';

const NEW = 'v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com';

test('An admin publishes the record of a finding after seeing the difference, and undoes it', async (t) => {
  const service = await startPublishing(t);
  const { domain, server, dns } = service;
  const admin = await newMember(service, 'admin');
  const page = await admin.get(`/domains/${domain.id}`);
  const link = `/domains/${domain.id}/dns?checks=dmarc_policy`;
  assert.ok(page.html.includes(`<a class="button" href="${link}">Publish this record</a>`));

  const plan = await admin.get(link);
  const text = mainOf(plan.html);
  assert.match(text, /Changes at ns1/);
  assert.ok(text.includes(`Removed:${WEAK}`) && text.includes(`Added:${NEW}`), text);
  assert.match(text, /Zone file.*_dmarc\.example\.com\..*Terraform.*octoDNS/s);
  assert.deepEqual(dns.zone[DMARC], { TXT: [WEAK] });

  const fields = {
    token: fieldOf(plan.html, 'token').value!,
    server_id: server.id,
    checks: 'dmarc_policy',
  };
  const nothing = await admin.post(`/domains/${domain.id}/dns`, fields);
  assert.equal(nothing.status, 422);
  assert.match(mainOf(nothing.html), /Select at least one record\./);
  const published = await admin.post(`/domains/${domain.id}/dns`, {
    ...fields,
    record: `TXT ${DMARC}`,
  });
  assert.equal(published.status, 303, mainOf(published.html));
  assert.deepEqual(dns.zone[DMARC], { TXT: [NEW] });
  const result = await admin.get(published.location!);
  assert.match(mainOf(result.html), /1 change published\. The domain is being checked again\./);
  const [, change] = /\/dns\/changes\/(chg_\w+)/.exec(result.html)!;

  // The same form again: the records have changed since.
  const again = await admin.post(`/domains/${domain.id}/dns`, {
    ...fields,
    record: `TXT ${DMARC}`,
  });
  assert.equal(again.status, 409);
  assert.match(mainOf(again.html), /have changed since this plan was made/);

  const shown = mainOf((await admin.get(`/dns/changes/${change}`)).html);
  assert.match(shown, /Published/);
  const undone = await admin.post(`/dns/changes/${change}/undo`);
  assert.equal(undone.status, 303, mainOf(undone.html));
  assert.match(
    mainOf((await admin.get(undone.location!)).html),
    /The old records are published again\./,
  );
  assert.deepEqual(dns.zone[DMARC], { TXT: [WEAK] });
  const audit = mainOf((await admin.get('/audit-log')).html);
  assert.match(audit, /DNS change requested/);
  assert.match(audit, /Name server created/);
});

test('A change that the name server does not confirm is neither published nor failed, and can be undone', async (t) => {
  const service = await startPublishing(t);
  const { domain, server, dns } = service;
  const admin = await newMember(service, 'admin');
  const plan = await admin.get(`/domains/${domain.id}/dns?checks=dmarc_policy`);
  t.after(() => {
    memory.beforeReplace = async () => {};
  });
  memory.beforeReplace = async () => {
    dns.zone[DMARC] = { TXT: ['v=DMARC1; p=reject'] };
    throw new DnsServerError('timeout', 'No response in time.', { mayHaveChanged: true });
  };
  const { location } = await admin.post(`/domains/${domain.id}/dns`, {
    token: fieldOf(plan.html, 'token').value!,
    server_id: server.id,
    checks: 'dmarc_policy',
    record: `TXT ${DMARC}`,
  });
  const result = await admin.get(location!);
  assert.match(mainOf(result.html), /did not confirm every change.*Not confirmed/s);
  const [, change] = /\/dns\/changes\/(chg_\w+)/.exec(result.html)!;
  const shown = mainOf((await admin.get(`/dns/changes/${change}`)).html);
  assert.match(shown, /neither the old ones nor the planned ones. Check them\..*Undo…/s);
  assert.match(mainOf((await admin.get('/audit-log')).html), /DNS change not confirmed/);
});

test('Name servers are added with the fields of their kind, checked, changed and deleted; secrets are never shown', async (t) => {
  const service = await startPublishing(t);
  const owner = await memberOf(service, 'owner@example.com');
  const form = await owner.get('/dns/servers/new?kind=memory');
  assert.match(mainOf(form.html), /Memory room.*Memory password/s);
  const typed = { kind: 'memory', name: 'attic', setting_memory_room: 'attic' };
  const refused = await owner.post('/dns/servers', typed);
  assert.equal(refused.status, 422);
  assert.match(mainOf(refused.html), /The memory password is required\./);
  const added = await owner.post('/dns/servers', {
    ...typed,
    setting_memory_password: 'not the password',
  });
  assert.equal(added.status, 303, mainOf(added.html));
  const broken = await owner.get(added.location!);
  assert.match(mainOf(broken.html), /The server does not accept the password\./);
  assert.match(mainOf(broken.html), /Does not work/);
  const path = added.location!.replace(/\?.*/, '');
  const saved = await owner.post(path, {
    name: 'attic',
    setting_memory_room: 'cellar',
    setting_memory_note: 'old',
    setting_memory_password: SETTINGS.memory_password,
    version: fieldOf(broken.html, 'version').value!,
  });
  assert.equal(saved.status, 303, mainOf(saved.html));
  const works = await owner.get(saved.location!);
  assert.match(mainOf(works.html), /Works/);
  assert.ok(!`${works.html}${broken.html}`.includes(SETTINGS.memory_password));
  assert.equal(fieldOf(works.html, 'setting_memory_room').value, 'cellar');
  assert.equal(fieldOf(works.html, 'setting_memory_note').value, 'old');
  const cleared = await owner.post(path, {
    name: 'attic',
    setting_memory_room: 'cellar',
    setting_memory_note: '',
    version: fieldOf(works.html, 'version').value!,
  });
  const { html } = await owner.get(cleared.location!);
  assert.equal(fieldOf(html, 'setting_memory_note').value || '', '');
  assert.match(mainOf(html), /Works/);
  assert.equal((await owner.post(`${path}/delete`)).location, '/dns?done=deleted');
  assert.match(mainOf((await owner.get('/dns')).html), /ns1/);
});

test('Members and viewers see records to copy and who can publish, and no name server', async (t) => {
  const service = await startPublishing(t);
  const path = `/domains/${service.domain.id}/dns`;
  for (const role of ['member', 'viewer'] as const) {
    const member = await newMember(service, role);
    const { status, html } = await member.get(path);
    assert.equal(status, 200);
    assert.match(mainOf(html), /Only admins can publish these records here/);
    assert.match(mainOf(html), /Zone file/);
    assert.doesNotMatch(html, /ns1|Publish these records</);
    assert.equal((await member.get('/dns')).status, 403);
    assert.equal((await member.post(path, { record: `TXT ${DMARC}` })).status, 403);
  }
});

test('If the name server does not answer, the plan says so and shows the records to copy', async (t) => {
  const service = await startPublishing(t);
  const { server, domain, call } = service;
  const json = { settings: { memory_password: 'wrong' } };
  await call('PATCH', `/v1/dns_servers/${server.id}`, { json });
  const admin = await newMember(service, 'admin');
  const { status, html } = await admin.get(`/domains/${domain.id}/dns`);
  assert.equal(status, 409);
  assert.match(mainOf(html), /The server does not accept the password\./);
  assert.match(mainOf(html), /Zone file/);
  assert.doesNotMatch(html, /Publish these records</);
});

test('The report of a test leads from a record to its plan, for domains of the team only', async (t) => {
  const zone = { ...GOOD_ZONE, [DMARC]: { TXT: [WEAK] } };
  const service = await startTestService(t, { zone });
  const json = { name: 'example.com' };
  const { body: domain } = await service.call('POST', '/v1/domains', { json });
  const verified = { status: 'verified' } as const;
  await service.app.db.updateTable('domains').set(verified).execute();
  const send = async (from: string) => {
    const message = `From: ${from}\r\nTo: a@inbox.test\r\nSubject: Hello\r\n\r\nHello\r\n`;
    const { body } = await service.call(
      'POST',
      '/v1/tests/raw?client_ip=192.0.2.1&helo=a.example',
      {
        body: message,
        headers: { 'content-type': 'message/rfc822' },
      },
    );
    await service.call('GET', `/v1/tests/${body.id}?wait=50`);
    return body.id as string;
  };
  const admin = await newMember(service, 'admin');
  const own = await send('a@example.com');
  const target = `/domains/${domain.id}/dns?test_id=${own}&amp;checks=dmarc_policy`;
  const { html } = await admin.get(`/tests/${own}`);
  assert.ok(html.includes(target), html.match(/[^"]*\/dns\?[^"]*/)?.[0]);
  const plan = mainOf((await admin.get(target.replace('&amp;', '&'))).html);
  assert.ok(plan.includes(NEW), plan);
  const member = await newMember(service, 'member');
  assert.ok(!(await member.get(`/tests/${own}`)).html.includes('/dns?test_id='));
  const foreign = await send('a@elsewhere.example');
  assert.ok(!(await admin.get(`/tests/${foreign}`)).html.includes('/dns?test_id='));
});
