/** A service with the data of a small team, for pictures of its pages. */

import type { TestContext } from 'node:test';
import { isoTime } from '../src/lib/clock.ts';
import { countTest } from '../src/mailtests/tally.ts';
import type { TestRow } from '../src/store/tables.generated.ts';
import { startTestService, type TestService } from '../test/helpers/app.ts';
import { goodMessage } from '../test/helpers/good-message.ts';
import { seededRandom } from '../test/helpers/random.ts';

const DAY_MS = 86_400_000;
const DAYS = 14;
const MAILS = [
  ['Order confirmation', 'orders@harbor-coffee.example', 96],
  ['Spring newsletter', 'news@harbor-coffee.example', 82],
  ['Password reset', 'accounts@harbor-coffee.example', 93],
  ['Winter sale', 'offers@shop.harbor-coffee.example', 58],
] as const;

/** It stops with the context. */
export async function startSampleTeam(t: TestContext): Promise<TestService> {
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_BASE_URL: 'https://deliverability.example.com',
      DELIVERABILITY_INBOX_DOMAIN: 'inbox.example.com',
    },
  });
  const { app, call } = service;
  await app.db.updateTable('members').set({ name: 'Ann Lee' }).execute();
  await service.makeMember('member');
  for (const name of ['harbor-coffee.example', 'shop.harbor-coffee.example', 'harbor.example'])
    await call('POST', '/v1/domains', { json: { name } });
  await call('POST', '/v1/alerts', {
    json: { name: 'Low score', condition: 'score_below', threshold: 60, channels: ['email'] },
  });
  const { body } = await call<{ id: string }>('POST', '/v1/tests/raw?client_ip=192.0.2.25', {
    body: goodMessage({ From: 'Harbor Coffee <offers@shop.harbor-coffee.example>' }),
    headers: { 'content-type': 'message/rfc822' },
  });
  await service.getTest(body.id, '?wait=30');
  await setDomainStates(service);
  await addTests(service, body.id);
  return service;
}

async function setDomainStates({ app }: TestService): Promise<void> {
  const now = isoTime(app.clock.now());
  const states = { 'harbor-coffee.example': 'healthy', 'shop.harbor-coffee.example': 'critical' };
  for (const [name, health_status] of Object.entries(states))
    await app.db
      .updateTable('domains')
      .set({
        status: 'verified',
        health_status: health_status as 'healthy',
        health_score: health_status === 'healthy' ? 97 : 41,
        verified_at: now,
        health_checked_at: now,
      })
      .where('name', '=', name)
      .execute();
}

/** Four mails a day, whose scores rise. */
async function addTests({ app }: TestService, id: string): Promise<void> {
  const random = seededRandom(7);
  const model = await app.db
    .selectFrom('tests')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const domains = await app.db.selectFrom('domains').select(['id', 'name']).execute();
  for (let day = DAYS; day > 0; day--)
    for (const [name, from_address, goal] of MAILS) {
      const at = isoTime(app.clock.now() - day * DAY_MS + (20 + random.below(3)) * 3_600_000);
      const score = Math.min(100, Math.max(20, goal - Math.round(day * 1.6) + random.below(7)));
      const from_domain = from_address.slice(from_address.indexOf('@') + 1);
      const row: TestRow = {
        ...model,
        id: app.newId('test'),
        token: `${day}${name.replace(/\W/g, '').toLowerCase()}`,
        name,
        from_address,
        from_domain,
        subject: name,
        score,
        grade: score >= 90 ? 'A' : score >= 80 ? 'B' : score >= 70 ? 'C' : score >= 55 ? 'D' : 'F',
        spf: 'pass',
        dkim: from_domain.startsWith('shop.') && day > 3 ? 'fail' : 'pass',
        dmarc: from_domain.startsWith('shop.') && day > 3 ? 'fail' : 'pass',
        created_at: at,
        received_at: at,
        completed_at: at,
        domain_id: domains.find((domain) => domain.name === from_domain)?.id ?? null,
      };
      await app.db.transaction().execute(async (tx) => {
        await tx.insertInto('tests').values(row).execute();
        await countTest(tx, row, 1, score >= 90 ? [] : ISSUES.slice(0, 1 + random.below(4)));
      });
    }
  await app.db.deleteFrom('tests').where('id', '=', id).execute();
}

const ISSUES = ['dkim_alignment', 'one_click', 'image_alt', 'dmarc_policy'];
