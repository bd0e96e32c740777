/** The form to add domains, the page with a line for each, and the page of a lookup. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { startDomainService } from '../domains/domain-service.ts';
import { newMember } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';

test('A pasted list is added in one step, and each line shows its lookup as it arrives', async (t) => {
  const service = await startDomainService(t, structuredClone(GOOD_ZONE));
  const member = await newMember(service, 'member');
  await service.add('known.example');
  service.clock.advance(1_000);
  const names =
    'Client,Domain\nA,https://www.example.com/\nB,gone.example\nC,known.example\nD,co.uk';
  const added = await member.post('/domains', { name: '', names, tags: 'client:acme, big' });
  assert.equal(added.status, 303);
  assert.match(added.location!, /^\/domains\/added\?at=2026/);
  const waiting = await member.get(added.location!);
  assert.match(mainOf(waiting.html), /0 of 2 domains looked up.*Looking up.*Looking up/s);
  assert.match(waiting.html, /id="added"[^>]*data-refresh/);
  assert.match(waiting.html, /<progress[^>]*max="2"/);
  await service.lookUpFirst();
  const done = await member.get(added.location!);
  assert.doesNotMatch(done.html, /data-refresh/);
  const main = mainOf(done.html);
  // The broken one is first.
  assert.match(
    main,
    /2 domains added and looked up.*gone\.example.*Critical.*example\.com.*Healthy/s,
  );
  assert.match(main, /Not added: 2.*“co\.uk” is a public suffix.*Already added: known\.example/s);
  const { data } = (
    await service.call<{ data: { name: string; tags: string[] }[] }>(
      'GET',
      '/v1/domains?tag=client:acme',
    )
  ).body;
  assert.deepEqual(data.map(({ name }) => name).toSorted(), ['example.com', 'gone.example']);
  // A list pasted into the field of one name is a list too.
  const inField = await member.post('/domains', { name: 'a.example b.example, c.example' });
  assert.match(inField.location!, /^\/domains\/added/);
});

test('A list that is wrong stays in the form: too long, or with more wrong texts than a URL holds', async (t) => {
  const service = await startDomainService(t);
  const member = await newMember(service, 'member');
  const tooMany = Array.from({ length: 501 }, (_, i) => `d${i}.example`).join('\n');
  const refused = await member.post('/domains', { name: '', names: tooMany });
  assert.equal(refused.status, 422);
  assert.match(mainOf(refused.html), /The list must contain at most 500 names\./);
  assert.ok(refused.html.includes('d500.example'));
  const wrong = Array.from({ length: 300 }, (_, i) => `wrong-${i}-${'x'.repeat(30)}`);
  const partly = await member.post('/domains', { names: ['good.example', ...wrong].join('\n') });
  assert.equal(partly.status, 422);
  assert.match(
    mainOf(partly.html),
    /1 domain added\. The 300 texts in the list below are not domain names\./,
  );
  assert.ok(partly.html.includes(wrong[299]!) && !/good\.example<\/textarea>/.test(partly.html));
  const noTags = await member.post('/domains', {
    names: 'a.example\nb.example',
    tags: 'x'.repeat(60),
  });
  assert.equal(noTags.status, 422);
  assert.ok(noTags.html.includes('a.example\nb.example'));
});

test('Anyone on the team can open the page of a lookup; members can add the domain from it', async (t) => {
  const service = await startDomainService(t, structuredClone(GOOD_ZONE));
  const { html, status } = await (await newMember(service, 'viewer')).get(
    '/domains/lookup?name=https%3A%2F%2Fwww.example.com%2F',
  );
  assert.equal(status, 200);
  const seen = mainOf(html);
  assert.match(
    seen,
    /www\.example\.com was read as example\.com.*What public DNS says.*example\.com is healthy/s,
  );
  assert.doesNotMatch(html, /Add domain|\/dns\?/);
  const member = await newMember(service, 'member');
  // As the button of the form sends it.
  const page = await member.get('/domains/lookup?name=example.com&names=&tags=');
  assert.match(page.html, /Add domain/);
  const wrong = await member.get('/domains/lookup?name=nonsense');
  assert.equal(wrong.status, 422);
  assert.match(mainOf(wrong.html), /The domain name is a single label/);
  assert.equal(fieldOf(wrong.html, 'name').value, 'nonsense');
  const many = await member.get('/domains/lookup?name=a.example+b.example');
  assert.match(mainOf(many.html), /Look up one domain at a time/);
  const added = await member.post('/domains', { name: 'example.com' });
  const path = added.location!.replace(/\?.*/, '');
  // The page of the team's domain has more.
  const again = await member.get('/domains/lookup?name=ann@example.com');
  assert.deepEqual([again.status, again.location], [303, path]);
  const { html: pending } = await member.get(path);
  assert.match(pending, /data-refresh/);
});
