/** What receivers publish, on the page of a domain and on the page of the accounts. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sumErrors } from '../../src/dashboard/receivers/delivery-errors.tsx';
import { isoTime } from '../../src/lib/clock.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { startDomainService } from '../domains/domain-service.ts';
import { newMember } from './member.ts';
import { mainOf } from './pages.ts';
import {
  ACCOUNTS_ENV,
  dayAgo,
  storeAddressDay,
  storeBlock,
  storeGmailDay,
  storeGmailDomain,
  storeRequirement,
  storeWorkingAccounts,
} from './published.ts';

const NAME = 'example.com';
const ADDRESS = '192.0.2.10';

/** The accounts work, and Google shows the domain; it has published nothing yet. */
async function startPages(t: TestContext, env: Record<string, string> = ACCOUNTS_ENV) {
  const service = await startDomainService(t, structuredClone(GOOD_ZONE), env);
  const { app } = service;
  const { id } = await service.add(NAME);
  await storeWorkingAccounts(app);
  const member = await newMember(service, 'member');
  return { service, app, id, member, path: `/domains/${id}` };
}

/** The card with this ID; tests fail if there is none. */
function cardOf(html: string, id: string): string {
  const [, card] = new RegExp(`(<section[^>]* id="${id}".*?</section>)`, 's').exec(html) ?? [];
  assert.ok(card, `the page has the card ${id}`);
  return card;
}
const textOf = (html: string): string => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

test('The spam rate of Gmail has a bar for each day with data, also for 0, and none for other days', async (t) => {
  const { app, member, path } = await startPages(t);
  await storeGmailDomain(app, NAME);
  const rates = { 12: 0, 8: 0.0009, 5: 0.0035, 3: 0.0012 };
  for (const [age, spam_rate] of Object.entries(rates))
    await storeGmailDay(app, NAME, Number(age), { spam_rate });
  await storeGmailDay(app, NAME, 4, { tls_rate: 1 });
  const card = cardOf((await member.get(path)).html, 'gmail');
  const [chart] = /<svg role="img" aria-label="Spam rate.*?<\/svg>/s.exec(card)!;
  const bars = [...chart.matchAll(/<rect class="(solid|warn|fail)"[^>]* height="([\d.]+)"/g)];
  assert.deepEqual(
    bars.map(([, state]) => state),
    ['solid', 'solid', 'fail', 'warn'],
  );
  assert.ok(bars.every(([, , height]) => Number(height) >= 2));
  assert.match(chart, /0\.3%.*0\.1%/s);
  const text = textOf(card);
  assert.match(text, /0\.12% on .* highest 0\.35% on/);
  assert.match(text, /4 of 30 days have data/);
  assert.match(text, /SPF No data in this period/);
});

test('Delivery errors are summed by reason, with what rejects mail first and what to do', async (t) => {
  const { app, member, path } = await startPages(t);
  await storeGmailDomain(app, NAME);
  const deferred = { type: 'temp_fail', reason: 'anomalous_traffic_pattern', rate: 0.2, count: 90 };
  const rejected = { type: 'reject', reason: 'low_ip_reputation', rate: 0.01, count: null };
  await storeGmailDay(app, NAME, 3, { errors: JSON.stringify([deferred, rejected]) });
  await storeGmailDay(app, NAME, 4, { errors: JSON.stringify([deferred]) });
  const text = textOf(cardOf((await member.get(path)).html, 'gmail'));
  assert.match(text, /Low IP reputation Rejected\. Send less.* Messages: – Highest rate: 1% /);
  assert.match(text, /Unusual traffic Deferred\. .* Messages: 180 Highest rate: 20% /);
  assert.ok(text.indexOf('Rejected.') < text.indexOf('Deferred.'));
  const nothing = [{ date: dayAgo(app, 3), errors: [{ ...rejected, rate: 0, count: 0 }] }];
  assert.deepEqual(sumErrors(nothing as never), []);
});

test('A requirement that needs work stands beside our own finding, and those that are met are folded', async (t) => {
  const { service, app, id, member, path } = await startPages(t);
  service.publish(await service.get(id));
  await service.call('POST', `/v1/domains/${id}/verify`);
  await service.call('GET', `/v1/domains/${id}/health`);
  await storeGmailDomain(app, NAME);
  await storeRequirement(app, NAME, {
    requirement: 'SPF',
    status: 'NEEDS_WORK',
    previous: 'COMPLIANT',
  });
  await storeRequirement(app, NAME, { requirement: 'ENCRYPTION', status: 'COMPLIANT' });
  const { html } = await member.get(path);
  const card = cardOf(html, 'gmail');
  const [open, folded] = card.split('<details class="fold">') as [string, string];
  assert.match(
    textOf(open),
    /SPF Google and our checks disagree Google: Needs work Since .* Our checks: Passed .* Health check/,
  );
  assert.match(textOf(folded), /1 requirement met .*TLS encryption Google: Met/);
  const head = textOf(cardOf(html, 'picture'));
  assert.match(head, /Google’s requirement is not met: SPF/);
  assert.match(textOf(cardOf(html, 'problems')), /The sources disagree/);
});

test('Without figures, the page says why, and never that all is well', async (t) => {
  const { app, member, path } = await startPages(t);
  const reasonAt = async (card: string) => textOf(cardOf((await member.get(path)).html, card));
  assert.match(await reasonAt('gmail'), /doesn’t have example\.com/);
  await storeGmailDomain(app, NAME, {
    problem: 'no_permission',
    problem_detail: 'The account may not read example.com.',
  });
  assert.match(await reasonAt('gmail'), /No data\. The account may not read example\.com\./);
  await app.db.updateTable('receiver_domains').set({ problem: null }).execute();
  assert.match(await reasonAt('gmail'), /only for days with enough mail/);
  assert.match(await reasonAt('outlook'), /No address is known to send for this domain/);
  await app.db
    .updateTable('receivers')
    .set({ problem: 'refused', problem_detail: 'SNDS does not accept the key.' })
    .where('id', '=', 'microsoft_snds')
    .execute();
  assert.match(await reasonAt('outlook'), /SNDS does not accept the key\./);
  for (const card of ['gmail', 'outlook'])
    assert.doesNotMatch(cardOf((await member.get(path)).html, card), /state pass/);
});

test('Without accounts, Gmail and Outlook are not set up, and the page of receivers says how', async (t) => {
  const { service, member, path } = await startPages(t, {});
  const { html } = await member.get(path);
  for (const card of ['gmail', 'outlook'])
    assert.match(textOf(cardOf(html, card)), /Not set up\..* is not set up\. Add/);
  const viewer = await newMember(service, 'viewer');
  const page = await viewer.get('/receivers');
  assert.equal(page.status, 200);
  for (const text of ['DELIVERABILITY_RECEIVERS=', 'deliverability receivers sign-in'])
    assert.ok(mainOf(page.html).includes(text), text);
});

test('Outlook shows the addresses that send for the domain, and no others', async (t) => {
  const { app, id, member, path } = await startPages(t);
  const quiet = Array.from({ length: 25 }, (_, i) => `192.0.2.${100 + i}`);
  for (const [i, address] of [ADDRESS, ...quiet].entries())
    await app.db
      .insertInto('feedback_addresses')
      .values({
        id: `${id} ${address}`,
        domain_id: id,
        address,
        messages: 90,
        passed: 90 - i,
        first_day: dayAgo(app, 9),
        last_day: dayAgo(app, 2),
        look_up_at: isoTime(app.clock.now() + 1e9),
      })
      .execute();
  await storeBlock(app, quiet[24]!, 'Blocked due to user complaints');
  await storeAddressDay(app, ADDRESS, 2, {
    filter_result: 'YELLOW',
    complaint_rate: 0.003,
    is_below_rate: 0,
  });
  await storeAddressDay(app, '198.51.100.7', 2, { filter_result: 'RED' });
  const card = cardOf((await member.get(path)).html, 'outlook');
  assert.match(textOf(card), /figures for 1 of 26 IP addresses that send for example\.com/);
  assert.match(textOf(card), /192\.0\.2\.10 Yellow .* 0\.3% /);
  // The headline names it, although it has no activity.
  assert.match(textOf(card), /192\.0\.2\.124 Blocked Blocked due to user complaints/);
  assert.doesNotMatch(card, /198\.51\.100\.7/);
});

test('Access that ends soon is a warning on the page, with what to do', async (t) => {
  const { app, member } = await startPages(t);
  await app.db
    .updateTable('receivers')
    .set({ access_since: isoTime(app.clock.now() - 26 * 86_400_000) })
    .where('id', '=', 'microsoft_snds')
    .execute();
  const card = cardOf((await member.get('/receivers')).html, 'account-microsoft_snds');
  assert.match(card, /class="[^"]*warn/);
  assert.match(
    textOf(card),
    /Access ends soon .*The key has been in use for 26 days\. .*Access confirmed /,
  );
});

test('The page of receivers shows accounts, their domains, addresses by day and blocks, the worst first', async (t) => {
  const { service, app, id, member } = await startPages(t);
  await storeGmailDomain(app, NAME);
  await storeGmailDomain(app, 'other.example', {
    permission: 'NONE',
    problem: 'no_permission',
    problem_detail: 'Verify other.example.',
  });
  await app.db
    .updateTable('receivers')
    .set({ problem: 'sign_in_expired', problem_detail: 'The sign-in has expired.' })
    .where('id', '=', 'google_postmaster')
    .execute();
  for (const age of [2, 3, 4]) await storeAddressDay(app, '198.51.100.7', age);
  await storeAddressDay(app, ADDRESS, 2, { filter_result: 'RED', is_below_rate: 0 });
  await storeBlock(app, ADDRESS, 'Blocked due to user complaints');
  const { html } = await member.get('/receivers');
  const google = textOf(cardOf(html, 'account-google_postmaster'));
  assert.match(google, /Not signed in .*The sign-in has expired\..*sign-in google_postmaster/);
  assert.match(google, new RegExp(`${NAME} Fetched .*other\\.example Not fetched: add the domain`));
  assert.match(html, new RegExp(`href="/domains/${id}#gmail"`));
  const addresses = cardOf(html, 'addresses');
  const text = textOf(addresses);
  assert.ok(text.indexOf(ADDRESS) < text.indexOf('198.51.100.7'));
  assert.match(text, /192\.0\.2\.10 Blocked Blocked due to user complaints Since .* Red on/);
  assert.match(text, /&lt;0\.1%/);
  assert.equal([...addresses.matchAll(/<rect class="pass"/g)].length, 3);
  assert.equal([...addresses.matchAll(/<rect class="fail"/g)].length, 1);
  assert.match(textOf(cardOf(html, 'blocks')), /192\.0\.2\.10 Blocked/);
  const viewer = await newMember(service, 'viewer');
  assert.doesNotMatch((await viewer.get('/receivers')).html, /Fetch now/);
});

test('A member fetches now; a second time within a minute is refused with words', async (t) => {
  const { app, member } = await startPages(t);
  const fetchNow = () => member.post('/receivers/google_postmaster/fetch');
  const first = await fetchNow();
  assert.deepEqual([first.status, first.location], [303, '/receivers?done=fetch']);
  const row = await app.db
    .selectFrom('receivers')
    .select('next_fetch_at')
    .where('id', '=', 'google_postmaster')
    .executeTakeFirstOrThrow();
  assert.equal(row.next_fetch_at, null);
  await app.db
    .updateTable('receivers')
    .set({ attempted_at: isoTime(app.clock.now()) })
    .execute();
  const second = await fetchNow();
  assert.equal(second.status, 429);
  assert.match(mainOf(second.html), /less than a minute ago/);
  assert.equal((await member.post('/receivers/nobody/fetch')).status, 404);
});
