/** Where nothing is heard from any mail server, further ones are not waited for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sparingShutPort } from '../../src/net/shut-port.ts';
import type { MailTls } from '../../src/net/smtp-probe.ts';
import { testClock } from '../helpers/clock.ts';

const SILENT: MailTls = { status: 'unreachable', silent: true, detail: 'no answer came in time' };
const REFUSED: MailTls = { status: 'unreachable', silent: false, detail: 'it refused' };
const MINUTE = 60_000;

function start(answers: () => MailTls) {
  const clock = testClock();
  const asked: string[] = [];
  const probe = sparingShutPort(async (host) => {
    asked.push(host);
    return answers();
  }, clock);
  return { clock, asked, probe };
}

test('after five silent servers, others are not asked for ten minutes, and then one', async () => {
  const { clock, asked, probe } = start(() => SILENT);
  for (let n = 0; n < 8; n++) assert.equal((await probe(`mx${n}.example`)).status, 'unreachable');
  assert.equal(asked.length, 5);
  const spared = await probe('mx9.example');
  assert.match('detail' in spared ? spared.detail : '', /port 25 seems to be shut/);
  clock.advance(10 * MINUTE);
  await probe('mx10.example');
  await probe('mx11.example');
  assert.deepEqual(asked.slice(5), ['mx10.example']);
});

test('one silent server asked again and again proves nothing, nor do some between others', async () => {
  const { asked, probe } = start(() => SILENT);
  for (let n = 0; n < 12; n++) await probe('mx.example');
  assert.equal(asked.length, 12);
  let n = 0;
  const mixed = start(() => (++n % 4 === 0 ? REFUSED : SILENT));
  for (let i = 0; i < 12; i++) await mixed.probe(`mx${i}.example`);
  assert.equal(mixed.asked.length, 12);
});

test('it opens with the first that is heard; a clock that is set back does not keep it shut', async () => {
  let answer: MailTls = SILENT;
  const { clock, asked, probe } = start(() => answer);
  for (let n = 0; n < 6; n++) await probe(`mx${n}.example`);
  clock.advance(-MINUTE);
  answer = { status: 'no_starttls' };
  assert.equal((await probe('mx6.example')).status, 'no_starttls');
  answer = SILENT;
  await probe('mx7.example');
  await probe('mx8.example');
  assert.deepEqual(asked.slice(5), ['mx6.example', 'mx7.example', 'mx8.example']);
});
