/** The pages with many tests: the list, what can be done with several tests, new tests, and comparisons. */

import assert from 'node:assert/strict';
import { test as suite } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { type Member, memberOf, newMember } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';

const ZONE: Zone = {
  'example.com': {
    A: ['192.0.2.1'],
    MX: ['10 mail.example.com'],
    TXT: ['v=spf1 ip4:192.0.2.1 -all'],
  },
  'mail.example.com': { A: ['192.0.2.1'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
  '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
};
/** A message sent by the server that SPF names. */
const GENUINE = 'client_ip=192.0.2.1&helo=mail.example.com&mail_from=bounce@example.com';

const MESSAGE = { 'content-type': 'message/rfc822' };

let service: TestService;
let owner: Member;
let viewer: Member;

/** Submits a message and waits for its result. */
async function submitted(query: string, body = goodMessage()): Promise<Test> {
  const path = `/v1/tests/raw?${query}`;
  const { body: test } = await service.call<Test>('POST', path, { headers: MESSAGE, body });
  return service.getTest(test.id, '?wait=20');
}

/** The IDs of the tests that a list shows, in order. */
const listedIds = (html: string): string[] =>
  [...html.matchAll(/<input type="checkbox" name="id" value="([^"]+)"/g)].map(([, id]) => id!);

/** Sends the form of an upload. */
async function upload(member: Member, fields: Record<string, string | File>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const response = await fetch(`${service.url}/tests/new`, {
    method: 'POST',
    body: form,
    headers: { cookie: member.cookie, 'sec-fetch-site': 'same-origin' },
    redirect: 'manual',
  });
  const location = response.headers.get('location');
  return { status: response.status, location, html: await response.text() };
}

suite('Pages of tests', async (t) => {
  const it = (title: string, work: () => Promise<void>) => t.test(title, work);
  service = await startTestService(t, { zone: ZONE });
  owner = await memberOf(service, 'owner@example.com');
  viewer = await newMember(service, 'viewer');

  await it('offers a test address while there are no tests, but not to viewers', async () => {
    const { html } = await owner.get('/tests');
    assert.match(mainOf(html), /No tests yet.*Get a test address.*Upload a message/s);
    assert.match(html, /<form method="post" action="\/tests"/);
    const main = mainOf((await viewer.get('/tests')).html);
    assert.match(main, /No tests yet/);
    assert.doesNotMatch(main, /Get a test address|Create test/);
  });

  await it('lists each state in words, and filters by everything in the URL', async () => {
    const waiting = await service.createTest({ name: 'Waits', tags: ['release'] });
    const done = await submitted(`name=Done&tags=release,nightly&${GENUINE}`);
    const expired = await service.createTest({ name: 'Never sent' });
    await service.app.db
      .updateTable('tests')
      .set({ status: 'failed', failure_reason: 'not_received' })
      .where('id', '=', expired.id)
      .execute();
    const { html } = await owner.get('/tests');
    assert.deepEqual(listedIds(html), [expired.id, done.id, waiting.id]);
    const main = mainOf(html);
    assert.match(main, /3 tests/);
    assert.match(main, /Waiting for mail.*expires in/s);
    assert.match(main, /No message arrived/);
    assert.match(main, new RegExp(`${done.score}${done.grade}`));
    assert.match(html, new RegExp(`href="/tests/${done.id}"`));
    const filters: [string, string[]][] = [
      ['status=waiting', [waiting.id]],
      ['tag=Release', [done.id, waiting.id]],
      ['tag=nightly', [done.id]],
      ['q=never', [expired.id]],
      ['period=24h', [expired.id, done.id, waiting.id]],
      ['domain=example.com', [done.id]],
      ['domain=other.example', []],
      ['from_domain=example.com', [done.id]],
      ['domain_id=dom_unknown', []],
      ['score=70-89', [done.id]],
      ['score=90-100', []],
      ['score=below-70', []],
      // A choice of another version of the program.
      ['score=unknown&status=unknown&period=unknown', [expired.id, done.id, waiting.id]],
      ['q=&tag=&domain=', [expired.id, done.id, waiting.id]],
    ];
    for (const [query, expected] of filters) {
      const page = await owner.get(`/tests?${query}`);
      assert.equal(page.status, 200, query);
      assert.deepEqual(listedIds(page.html), expected, query);
      if (expected.length === 0) assert.match(mainOf(page.html), /No tests match.*Clear filters/s);
    }
    const exported = /href="(\/v1\/tests\/export[^"]*)"/.exec(
      (await owner.get('/tests?tag=nightly')).html,
    )![1]!;
    const csv = (await owner.get(exported.replaceAll('&amp;', '&'))).html;
    assert.deepEqual([csv.split('\r\n').length, csv.includes(done.id)], [3, true]);
  });

  await it('filters by a domain of the team with its subdomains', async () => {
    const test = await submitted('name=Sub', goodMessage({ From: 'a@mail.sub.example' }));
    const path = '/v1/domains';
    const { body: domain } = await service.call<{ id: string }>('POST', path, {
      json: { name: 'sub.example' },
    });
    await service.app.db
      .updateTable('tests')
      .set({ domain_id: domain.id })
      .where('id', '=', test.id)
      .execute();
    for (const query of ['domain=sub.example', `domain=${domain.id}`, `domain_id=${domain.id}`])
      assert.deepEqual(listedIds((await owner.get(`/tests?${query}`)).html), [test.id], query);
    const { html } = await owner.get(`/tests?domain_id=${domain.id}`);
    assert.equal(fieldOf(html, 'domain').value, 'sub.example');
    assert.match(mainOf(html), /sub\.example/);
  });

  await it('explains a filter that cannot be, and keeps it', async () => {
    const { status, html } = await owner.get('/tests?tag=a%2Cb&q=x');
    assert.equal(status, 422);
    assert.match(mainOf(html), /The tag must not contain commas\./);
    assert.deepEqual(
      [fieldOf(html, 'tag').value, fieldOf(html, 'tag')['aria-invalid'], fieldOf(html, 'q').value],
      ['a,b', 'true', 'x'],
    );
    const domain = await owner.get('/tests?domain=not%20a%20domain');
    assert.match(mainOf(domain.html), /The domain must be a domain name\./);
  });

  await it('has pages of 25, counts up to 1,000, and returns to the first page after a deletion', async () => {
    const row = await service.app.db.selectFrom('tests').selectAll().executeTakeFirstOrThrow();
    const rows = Array.from({ length: 1001 }, (_, index) => ({
      ...row,
      id: service.app.newId('test'),
      token: `many${index}`,
      name: `Many ${index}`,
      search: `many ${index}\n`,
    }));
    for (let start = 0; start < rows.length; start += 200)
      await service.app.db
        .insertInto('tests')
        .values(rows.slice(start, start + 200))
        .execute();
    const first = await owner.get('/tests?q=many');
    assert.match(mainOf(first.html), /More than 1,000 tests/);
    assert.equal(listedIds(first.html).length, 25);
    const next = /rel="next" href="([^"]+)"/.exec(first.html)![1]!.replaceAll('&amp;', '&');
    assert.match(next, /^\/tests\?q=many&starting_after=test_/);
    const second = await owner.get(next);
    assert.equal(listedIds(second.html)[0], rows.at(-26)!.id);
    assert.match(second.html, /rel="prev"/);
    const lost = await owner.get(`/tests?q=many&starting_after=${row.id}x`);
    assert.deepEqual([lost.status, lost.location], [303, '/tests?q=many']);
    await service.app.db.deleteFrom('tests').where('name', 'like', 'Many %').execute();
  });

  await it('shows hostile subjects and names as text, without changing the text around them', async () => {
    const subject = `<script>alert(1)</script>${'\u202e'}gnp.exe ${'long '.repeat(2000)}`;
    const test = await submitted('', goodMessage({ Subject: subject }));
    const { html } = await owner.get('/tests');
    assert.ok(listedIds(html).includes(test.id));
    assert.doesNotMatch(html, /<script>alert|\u202e/);
    assert.ok(html.length < 60_000, `${html.length} bytes`);
    const { html: compared } = await owner.get(`/tests/compare?b=${test.id}`);
    assert.doesNotMatch(compared, /<script>alert|\u202e/);
  });

  await it('asks before it deletes the selected tests, and returns to the list', async () => {
    const tests = [
      await service.createTest({ name: 'First to go' }),
      await service.createTest({ name: 'Second to go' }),
    ];
    const ids = tests.map(({ id }) => id);
    const back = '/tests?q=to+go&starting_after=test_x&done=select';
    const chosen = await owner.post('/tests/selection', { id: ids, action: 'delete', back });
    assert.equal(chosen.status, 303);
    const asked = await owner.get(chosen.location!);
    assert.match(mainOf(asked.html), /Delete 2 tests\?.*cannot be undone.*to go/s);
    assert.equal((await service.getTest(ids[0]!)).id, ids[0], 'nothing is deleted yet');
    // A member removed one of them in the meantime.
    await service.call('DELETE', `/v1/tests/${ids[0]}`);
    const deleted = await owner.post('/tests/delete', { ids: ids.join(','), back });
    assert.deepEqual([deleted.status, deleted.location], [303, '/tests?q=to+go&deleted=1']);
    assert.match(mainOf((await owner.get(deleted.location!)).html), /Test deleted\./);
    assert.equal((await service.call('GET', `/v1/tests/${ids[1]}`)).status, 404);
    const again = await owner.get(chosen.location!);
    assert.match(mainOf(again.html), /no longer exist/);
  });

  await it('leads from a selection to the comparison, the share and the export', async () => {
    const [a, b] = [await service.createTest(), await service.createTest()];
    const id = [b.id, a.id];
    const back = '/tests?status=waiting';
    const to = async (action: string, selected: string[], member = owner) =>
      (await member.post('/tests/selection', { id: selected, action, back })).location;
    assert.equal(await to('compare', id), `/tests/compare?a=${a.id}&b=${b.id}`, 'older first');
    assert.equal(await to('compare', [a.id]), '/tests?status=waiting&done=select-two');
    assert.equal(await to('share', []), '/tests?status=waiting&done=select');
    assert.match(mainOf((await owner.get('/tests?done=select')).html), /Select at least one test/);
    assert.equal(
      decodeURIComponent((await to('share', id))!),
      `/reports/shares/new?test_ids=${b.id},${a.id}`,
    );
    const csv = await viewer.get((await to('export', id, viewer))!);
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(csv.html.trim().split('\r\n').length, 3);
    for (const outside of ['https://evil.example/', '//evil.example', '/sign-out'])
      assert.equal(
        (await owner.post('/tests/selection', { action: 'share', back: outside })).location,
        '/tests?done=select',
        outside,
      );
  });

  await it('lets viewers compare and export, and nothing else', async () => {
    const { html } = await viewer.get('/tests');
    const actions = [...html.matchAll(/name="action" value="(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(actions, ['compare', 'export']);
    const { id } = await service.createTest({ name: 'Stays' });
    assert.equal((await viewer.post('/tests/delete', { ids: id })).status, 403);
    assert.equal((await viewer.get('/tests/new')).status, 403);
    assert.equal((await service.getTest(id)).id, id);
  });

  await it('creates a test address with its options, and keeps what was typed if they are wrong', async () => {
    const fields = {
      name: 'Spring',
      kind: 'marketing',
      tags: 'Release, nightly,, release',
      domain: 'SUB.example.',
      expires_in: '21600',
    };
    const created = await owner.post('/tests/new', fields);
    assert.equal(created.status, 303, mainOf(created.html));
    const test = await service.getTest(created.location!.replace('/tests/', ''));
    assert.deepEqual(
      [test.name, test.kind, test.tags, test.domain_id !== null],
      ['Spring', 'marketing', ['nightly', 'release'], true],
    );
    assert.equal(Date.parse(test.expires_at) - Date.parse(test.created_at), 21_600_000);
    const wrong = await owner.post('/tests/new', {
      ...fields,
      domain: 'unknown.example',
      tags: `ok,${'x'.repeat(51)}`,
    });
    assert.equal(wrong.status, 422);
    const main = mainOf(wrong.html);
    assert.match(main, /not one of your team's domains\./);
    assert.equal(fieldOf(wrong.html, 'domain').value, 'unknown.example');
    const tags = await owner.post('/tests/new', { ...fields, tags: `ok,${'x'.repeat(51)}` });
    assert.match(mainOf(tags.html), /The tag “x+” must have at most 50 characters\./);
    const like = await owner.get(`/tests/new?like=${test.id}`);
    assert.deepEqual(
      ['name', 'tags', 'domain'].map((name) => fieldOf(like.html, name).value),
      ['Spring', 'nightly, release', 'sub.example'],
    );
    assert.match(
      like.html,
      /<option selected value="marketing"|<option value="marketing" selected/,
    );
  });

  await it('tests an uploaded file with its envelope', async () => {
    const message = Buffer.from(goodMessage({ Subject: 'Uploaded' }).replaceAll('\n', '\r\n'));
    const answer = await upload(owner, {
      file: new File([message], 'a.eml', { type: 'message/rfc822' }),
      text: '',
      client_ip: ' 192.0.2.7 ',
      helo: 'mail.example.com',
      mail_from: 'bounce@example.com',
      message_name: 'From a file',
      message_tags: 'upload',
      message_kind: 'transactional',
    });
    assert.equal(answer.status, 303, mainOf(answer.html));
    const test = await service.getTest(answer.location!.replace('/tests/', ''), '?wait=20');
    assert.deepEqual(
      [test.subject, test.name, test.tags, test.kind, test.envelope?.client_ip],
      ['Uploaded', 'From a file', ['upload'], 'transactional', '192.0.2.7'],
    );
    const { text } = await service.call<string>('GET', `/v1/tests/${test.id}/source`);
    assert.equal(text, message.toString(), 'byte by byte');
  });

  await it('tests a pasted message, even after blank lines', async () => {
    const text = `\r\n\r\n${goodMessage({ Subject: 'Pasted' }).replaceAll('\n', '\r\n')}`;
    const answer = await upload(owner, { text });
    assert.equal(answer.status, 303, mainOf(answer.html));
    const test = await service.getTest(answer.location!.replace('/tests/', ''), '?wait=20');
    assert.equal(test.subject, 'Pasted');
  });

  await it('explains what is wrong with an upload, and keeps what was typed', async () => {
    const details = { client_ip: 'nowhere', message_name: 'Kept' };
    const cases: [Record<string, string | File>, number, RegExp][] = [
      [{}, 422, /Choose a file, or paste a message\./],
      [{ text: 'Dear Alex,\r\nsee below.', ...details }, 422, /The text is not an email message/],
      [{ file: new File(['%PDF-1.7'], 'a.pdf') }, 422, /The file is a PDF, not an email message/],
      [{ text: goodMessage(), ...details }, 422, /The address must be an IP address\./],
    ];
    for (const [fields, status, text] of cases) {
      const answer = await upload(owner, fields);
      assert.equal(answer.status, status);
      assert.match(mainOf(answer.html), text);
      for (const [name, value] of Object.entries(fields))
        if (typeof value === 'string' && name !== 'text')
          assert.equal(fieldOf(answer.html, name).value, value);
      if (fields.text) assert.match(answer.html, /<textarea[^>]*>\n+(Dear Alex|From:|.*\w)/s);
    }
  });

  await it('accepts no upload above the maximum size, and none that is malformed', async () => {
    const max = service.app.config.SMTP_MAX_SIZE;
    const large = await upload(owner, { file: new File([new Uint8Array(max)], 'a.eml') });
    assert.equal(large.status, 413);
    assert.match(large.html, /larger than/);
    const response = await fetch(`${service.url}/tests/new`, {
      method: 'POST',
      body: 'no parts',
      headers: {
        cookie: owner.cookie,
        'sec-fetch-site': 'same-origin',
        'content-type': 'multipart/form-data; boundary=x',
      },
    });
    assert.equal(response.status, 400);
    const other = await fetch(`${service.url}/tests/new`, {
      method: 'POST',
      body: new FormData(),
      headers: { cookie: owner.cookie, 'sec-fetch-site': 'cross-site' },
    });
    assert.equal(other.status, 403);
  });

  await it('compares two tests with points that add up', async () => {
    const [bad, good] = [
      await submitted(
        `name=Compared&${GENUINE.replace('192.0.2.1', '192.0.2.9')}`,
        goodMessage({ Date: null }),
      ),
      await submitted(`name=Compared&${GENUINE}`),
    ];
    const { status, html } = await viewer.get(`/tests/compare?a=${bad.id}&b=${good.id}`);
    assert.equal(status, 200);
    const main = mainOf(html);
    const difference = good.score! - bad.score!;
    assert.ok(difference > 0, `${bad.score} → ${good.score}`);
    assert.match(
      main,
      new RegExp(`The score rose by ${difference} points?, from ${bad.score} to ${good.score}\\.`),
    );
    assert.match(main, /Improved \(\d+\).*Authentication.*Provider rules.*checks are unchanged/s);
    const table = /id="points".*?<\/table>/s.exec(html)![0];
    const points = [...table.matchAll(/<td class="number[^>]*>([+−±])([\d.]+)</g)].map(
      ([, sign, figure]) => Math.round(Number(figure) * 10) * (sign === '−' ? -1 : 1),
    );
    const total = points.pop();
    assert.equal(total, difference * 10);
    assert.equal(
      points.reduce((sum, value) => sum + value, 0),
      total,
    );
    const back = await owner.get(`/tests/compare?a=${good.id}&b=${bad.id}`);
    assert.match(mainOf(back.html), /The score fell by.*Got worse/s);
  });

  await it('finds the previous test of the same name, else of the same sender', async () => {
    const other = { Subject: 'Another subject' };
    const first = await submitted('name=Series');
    await submitted('name=Series%202');
    await service.createTest({ name: 'Series' });
    const second = await submitted('name=Series', goodMessage(other));
    const hasPair = async (a: Test, b: Test) => {
      const { html } = await owner.get(`/tests/compare?b=${b.id}`);
      assert.match(html, new RegExp(`<h2><a href="/tests/${a.id}"`));
      assert.match(html, new RegExp(`<h2><a href="/tests/${b.id}"`));
    };
    await hasPair(first, second);
    const third = await submitted('', goodMessage(other));
    await hasPair(second, third);
    const lonely = await submitted('', goodMessage({ From: 'Lonely <lonely@other.example>' }));
    const { html } = await owner.get(`/tests/compare?b=${lonely.id}`);
    assert.match(mainOf(html), /No earlier test to compare with/);
  });

  await it('says why tests cannot be compared', async () => {
    const done = await submitted('name=Reason');
    const waiting = await service.createTest();
    const cases: [string, RegExp][] = [
      ['', /Select two tests to compare/],
      [`?b=test_unknown`, /no longer exists/],
      [`?a=test_unknown&b=${done.id}`, /no longer exists/],
      [`?a=${done.id}&b=${done.id}`, /same test/],
      [`?a=${done.id}&b=${waiting.id}`, /has no result yet/],
    ];
    for (const [query, text] of cases) {
      const { status, html } = await owner.get(`/tests/compare${query}`);
      assert.equal(status, 200, query);
      assert.match(mainOf(html), text, query);
    }
  });
});
