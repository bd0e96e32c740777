import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../src/http/problem.ts';
import { addDomain } from '../shares/tagged-domains.ts';
import { startAlerting } from './alerting.ts';

test('A rule for tags covers each domain that has one, and names it in each notification', async (t) => {
  const { app, service, makeAlert, complete, incidents, sendDue, sink } = await startAlerting(t);
  const names = ['one-acme.example', 'two-acme.example', 'canary-beta.example'];
  const ids: string[] = [];
  for (const name of names)
    ids.push(await addDomain(app, name, [name.includes('acme') ? 'client:acme' : 'client:beta']));
  const rule = await makeAlert({ tags: ['Client:Acme'], recipients: ['ann@acme.example'] });
  assert.deepEqual([rule.tags, rule.domain_id], [['client:acme'], null]);
  for (const [index, name] of names.entries())
    await complete({ score: 20, from_domain: name, domain_id: ids[index]! });
  // A test of no domain of the team.
  await complete({ score: 20, from_domain: 'other.example', domain_id: null });
  const open = (await incidents('?status=open')).map(({ subject }) => subject).toSorted();
  assert.deepEqual(open, ['one-acme.example', 'two-acme.example']);
  await sendDue();
  const subjects = sink.taken.map(({ raw }) => /^Subject: .*$/m.exec(raw.toString())![0]);
  assert.equal(subjects.length, 2);
  for (const name of ['one-acme', 'two-acme'])
    assert.ok(
      subjects.some((subject) => subject.includes(name)),
      subjects.join('\n'),
    );
  assert.ok(!sink.taken.some(({ raw }) => raw.includes('canary')));

  // A domain that loses the tag is no longer covered, and its incident ends with the next result, good or bad.
  await service.call('PATCH', `/v1/domains/${ids[0]}`, { json: { tags: [] } });
  await complete({ score: 20, from_domain: names[0]!, domain_id: ids[0]! });
  const [ended] = await incidents('?status=resolved');
  assert.deepEqual([ended!.subject, ended!.resolution], ['one-acme.example', 'no_longer_watched']);
  await sendDue();
  const told = sink.taken.at(-1)!.raw.toString().replace(/=\r\n/g, '');
  assert.match(told, /no longer watched by this rule/);
  // One that gets it is.
  await service.call('PATCH', `/v1/domains/${ids[2]}`, { json: { tags: ['client:acme'] } });
  await complete({ score: 20, from_domain: names[2]!, domain_id: ids[2]! });
  assert.equal((await incidents('?status=open')).length, 2);
  // Other tags close what is open.
  await service.call('PATCH', `/v1/alerts/${rule.id}`, { json: { tags: ['none'] } });
  assert.deepEqual(await incidents('?status=open'), []);
});

test('A rule has a domain or tags, and none for a condition without domains', async (t) => {
  const { app, service } = await startAlerting(t);
  const id = await addDomain(app, 'acme.example', ['client:acme']);
  const wrong = async (json: object) => {
    const body = { name: 'x', condition: 'score_below', channels: ['email'], ...json };
    const made = await service.call<Problem>('POST', '/v1/alerts', { json: body });
    assert.equal(made.status, 422, made.text);
    return made.body.errors!.map(({ param }) => param);
  };
  assert.deepEqual(await wrong({ tags: ['a'], domain_id: id }), ['domain_id']);
  assert.deepEqual(await wrong({ tags: [] }), ['tags']);
  assert.deepEqual(await wrong({ tags: ['a'], condition: 'seed_failing' }), ['tags']);
});
