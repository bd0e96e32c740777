/** A form that was opened before somebody else changed the same object. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Member, startWithOwner } from './member.ts';
import { mainOf } from './pages.ts';

/** The fields of the form that posts to `action`, with their values. */
function fieldsOf(html: string, action: string): Record<string, string | string[]> {
  const form = new RegExp(`<form method="post" action="${action}"[^>]*>(.*?)</form>`, 's').exec(
    html,
  )![1]!;
  const fields: Record<string, string[]> = {};
  const add = (name: string, value: string) => {
    const text = value.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
    fields[name] = [...(fields[name] ?? []), text];
  };
  for (const [tag, name] of form.matchAll(/<input[^>]* name="([^"]+)"[^>]*>/g)) {
    const isOff = /type="(radio|checkbox)"/.test(tag) && !/ checked/.test(tag);
    if (!isOff) add(name!, / value="([^"]*)"/.exec(tag)?.[1] ?? '');
  }
  for (const [, name, text] of form.matchAll(
    /<textarea[^>]* name="([^"]+)"[^>]*>\n?(.*?)<\/textarea>/gs,
  ))
    add(name!, text!);
  for (const [, name, options] of form.matchAll(
    /<select[^>]* name="([^"]+)"[^>]*>(.*?)<\/select>/gs,
  ))
    add(
      name!,
      /<option[^>]*selected[^>]* value="([^"]*)"/.exec(options!)?.[1] ?? selected(options!),
    );
  return fields;
}

const selected = (options: string): string =>
  (/<option[^>]* value="([^"]*)"[^>]* selected/.exec(options) ??
    /<option[^>]* value="([^"]*)"/.exec(options))![1]!;

interface Edited {
  /** The page with the form. */
  page: string;
  action: string;
  /** The object in the API, and a change of it. */
  object: string;
}

async function objects(call: Awaited<ReturnType<typeof startWithOwner>>['service']['call']) {
  const create = async (path: string, json: object) =>
    (await call<{ id: string }>('POST', path, { json })).body.id;
  const test = await create('/v1/tests', { name: 'Old', tags: ['a'], metadata: { k: 'v' } });
  const alert = await create('/v1/alerts', {
    name: 'Old',
    condition: 'score_below',
    threshold: 50,
    channels: ['email', 'slack'],
    slack_webhook_url: 'https://hooks.slack.com/services/x',
  });
  const endpoint = await create('/v1/webhooks/endpoints', {
    url: 'https://example.com/hook',
    events: ['*'],
    description: 'Old',
  });
  const schedule = await create('/v1/reports/schedules', {
    name: 'Old',
    frequency: 'weekly',
    recipients: ['a@example.com'],
  });
  const domain = await create('/v1/domains', { name: 'example.com' });
  const monitor = await create('/v1/monitors', {
    name: 'Old',
    type: 'domain_health',
    domain_id: domain,
    frequency: 'daily',
  });
  const edited: Edited[] = [
    { page: `/tests/${test}/edit`, action: `/tests/${test}/edit`, object: `/v1/tests/${test}` },
    { page: `/alerts/${alert}`, action: `/alerts/${alert}`, object: `/v1/alerts/${alert}` },
    {
      page: `/webhooks/${endpoint}`,
      action: `/webhooks/${endpoint}`,
      object: `/v1/webhooks/endpoints/${endpoint}`,
    },
    {
      page: `/reports/schedules/${schedule}/edit`,
      action: `/reports/schedules/${schedule}`,
      object: `/v1/reports/schedules/${schedule}`,
    },
    {
      page: `/monitors/${monitor}`,
      action: `/monitors/${monitor}`,
      object: `/v1/monitors/${monitor}`,
    },
  ];
  return edited;
}

const typed = ({ page }: Edited, text: string): Record<string, string> =>
  page.startsWith('/webhooks') ? { description: text } : { name: text };

test('A form never overwrites a change that was made after it was opened', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const { id } = await service.makeMember('viewer');
  const member = { page: `/team/members/${id}`, action: `/team/members/${id}` };
  const edited = [
    ...(await objects(service.call)),
    { ...member, object: `/v1/team/members/${id}` },
  ];
  for (const each of edited) {
    const opened = fieldsOf((await owner.get(each.page)).html, each.action);
    assert.equal((await owner.post(each.action, opened)).status, 303, `${each.page} unchanged`);
    const json = typed(each, 'Changed by somebody');
    assert.equal((await service.call('PATCH', each.object, { json })).status, 200);
    const refused = await owner.post(each.action, { ...opened, ...typed(each, 'Mine') });
    assert.equal(refused.status, 412, each.page);
    assert.match(mainOf(refused.html), /has changed since you opened the form/);
    assert.match(refused.html, /value="Mine"/);
    const kept = JSON.stringify((await service.call('GET', each.object)).body);
    assert.match(kept, /Changed by somebody/);
    await saveAgain(owner, each, refused.html);
    const saved = JSON.stringify((await service.call('GET', each.object)).body);
    assert.match(saved, /"Mine"/);
  }
});

/** The page with the error shows the new version, so the second attempt is deliberate. */
async function saveAgain(owner: Member, { action }: Edited, html: string): Promise<void> {
  const { status } = await owner.post(action, fieldsOf(html, action));
  assert.equal(status, 303, action);
}
