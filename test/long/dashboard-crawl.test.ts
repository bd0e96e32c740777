/** Every link, form, and command of the application: for each role, with and without data, in both modes. */

// @one-database: about pages and links.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { execFile } from '../../scripts/programs.ts';
import { ROLES, type Role } from '../../src/http/actor.ts';
import { type Crawl, crawl } from '../dashboard/crawl.ts';
import { type Member, memberOf, newMember } from '../dashboard/member.ts';
import { getPage } from '../dashboard/pages.ts';
import { populate, startReceiverOf } from '../dashboard/populated.ts';
import { startTestService, type TestService } from '../helpers/app.ts';

const run = promisify(execFile);

/** The number of kinds of pages that each role finds from the overview, at least. */
const MIN_PAGES: Record<Role, number> = { viewer: 15, member: 28, admin: 36, owner: 36 };

const memberWith = (service: TestService, role: Role): Promise<Member> =>
  role === 'owner' ? memberOf(service, 'owner@example.com') : newMember(service, role);

test('Without data, every link and form that a role sees leads somewhere', async (t) => {
  const service = await startTestService(t);
  for (const role of ROLES) {
    const { get } = await memberWith(service, role);
    const { faults, opened } = await crawl({ role, get });
    assert.deepEqual(faults, [], role);
    assert.ok(opened.has('/tests'));
  }
});

test('Visitors find a public test, the sign-in, and the API reference', async (t) => {
  const service = await startTestService(t, { env: { DELIVERABILITY_PUBLIC_TESTS: 'true' } });
  const get = (path: string) => getPage(service, path, { accept: 'text/html' });
  const { faults, opened, forms } = await crawl({ role: 'viewer', get });
  assert.deepEqual(faults, []);
  for (const path of ['/', '/sign-in', '/forgot-password', '/docs']) assert.ok(opened.has(path));
  assert.deepEqual([...forms.keys()], ['/public/tests', '/sign-in']);
});

test('With data, every link and form that a role sees leads somewhere, in both modes', async (t) => {
  const { receiver, env } = await startReceiverOf(t);
  const service = await startTestService(t, { env });
  await populate(service, receiver);
  for (const role of ROLES) {
    const member = await memberWith(service, role);
    const live = await crawl({ role, get: member.get });
    assert.deepEqual(live.faults, [], role);
    assert.ok(live.opened.size >= MIN_PAGES[role], `${role}: ${[...live.opened].join(' ')}`);
    if (role === 'owner') assertLightPages(t, live);
    const cookie = `${member.cookie}; deliverability-mode=test`;
    const switched = await crawl({ role, get: (path) => member.get(path, { cookie }) });
    assert.deepEqual(switched.faults, [], `${role} in test mode`);
    assert.ok(switched.opened.has('/tests/:id'));
  }
});

/** Much more than any page of this data needs; a page that grows with each feature reaches it. */
const MAX_PAGE_KB = 300;

/** Prints the weight of every page. */
function assertLightPages(t: TestContext, { weights }: Crawl): void {
  const kb = (bytes: number) => Math.round(bytes / 100) / 10;
  const heaviestFirst = [...weights].toSorted(([, a], [, b]) => b.raw - a.raw);
  for (const [path, { raw, gzip }] of heaviestFirst)
    t.diagnostic(`${path}: ${kb(raw)} kB, ${kb(gzip)} kB with gzip`);
  const heavy = heaviestFirst.filter(([, { raw }]) => raw > MAX_PAGE_KB * 1000);
  assert.deepEqual(heavy, []);
}

test('Below a path of its host, links stay below it, and the commands work as shown', async (t) => {
  const { receiver, env } = await startReceiverOf(t);
  const url = 'http://host.example/mail';
  const service = await startTestService(t, {
    env: { ...env, DELIVERABILITY_APP_URL: url, DELIVERABILITY_BASE_URL: url },
  });
  await populate(service, receiver);
  const owner = await memberOf(service, 'owner@example.com');
  const found = await crawl({ role: 'owner', get: owner.get, prefix: '/mail' });
  assert.deepEqual([found.faults, found.withoutCommand], [[], []]);
  assert.ok(found.opened.size >= MIN_PAGES.owner);
  await assertCommandsWork(service, found);
});

async function assertCommandsWork(service: TestService, { commands }: Crawl): Promise<void> {
  const { folder, key, http } = service;
  const rc = `fail-with-body\nsilent\nshow-error\nconnect-to = "host.example:80:127.0.0.1:${http.port}"\n`;
  writeFileSync(join(folder, '.curlrc'), rc);
  const env = { PATH: process.env.PATH, CURL_HOME: folder, API_KEY: key };
  assert.ok(commands.size > 60);
  for (const [command, page] of commands) {
    // The chapters are tested as documents, whose service has another address.
    if (page.startsWith('/help/')) continue;
    const { failure } = await run('sh', ['-c', command], { env, maxBuffer: 64 << 20 }).then(
      () => ({ failure: null }),
      (error: { stdout: string; stderr: string }) => ({ failure: error.stderr + error.stdout }),
    );
    assert.equal(failure, null, `${page}: ${command}`);
  }
}
