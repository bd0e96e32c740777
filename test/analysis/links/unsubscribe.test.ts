/** Unsubscribe words in many languages, and words that only look similar. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUnsubscribeUrl, mentionsUnsubscribe } from '../../../src/analysis/links/unsubscribe.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const OFFERS = [
  'Unsubscribe',
  'UNSUBSCRIBE HERE',
  'Manage your unsubscription',
  'opt out',
  'Opt-out',
  'opt\u2011out',
  'Click to stop receiving these',
  'If you no longer wish to receive this',
  'Abmelden',
  'Zur Abmeldung',
  'Newsletter abbestellen',
  'Hier melden Sie sich ab',
  'Se désabonner',
  'Se désabonner'.normalize('NFD'),
  'Désinscription',
  'desabonnement',
  'Darse de baja',
  'Cancelar suscripción',
  'Cancelar la suscripción',
  'Cancelar tu suscripción',
  'Descadastrar',
  'Cancelar inscrição',
  'Cancelar a minha assinatura',
  'Disiscriviti',
  'Annulla iscrizione',
  'Annulla l’iscrizione',
  'Afmelden',
  'Uitschrijven',
  'Schrijf je hier uit',
  'Avregistrera',
  'Avsluta prenumeration',
  'Meld deg av',
  'Afmeld nyhedsbrev',
  'Peruuta tilaus',
  'Wypisz się',
  'Odhlásit se',
  'Leiratkozás',
  'Odjava',
  'Отписаться от рассылки',
  'Відписатися',
  'Διαγραφή',
  'Abonelikten çık',
  'Berhenti berlangganan',
  'Hủy đăng ký',
  'メールの配信停止はこちら',
  '退订',
  '取消訂閱',
  '수신거부',
  'إلغاء الاشتراك',
  'להסרה מרשימת התפוצה',
  'ยกเลิกการรับข่าวสาร',
  'To be removed from this list',
  'Keine weiteren E-Mails erhalten',
  'Un\u00adsub\u200bscribe',
];

const OTHERS = [
  'Subscribe',
  'Adopt outdoor cats',
  'opt outside',
  'Read our privacy policy',
  'View in browser',
  'Manage preferences',
  'Grabmeldung',
  'Suscripción',
  'Nieuwsbrief',
  'unsubstantiated',
  '',
];

for (const text of OFFERS)
  test(`Text is recognized as an unsubscribe offer: ${text}`, () =>
    assert.ok(mentionsUnsubscribe(text)));
for (const text of OTHERS)
  test(`Text is not recognized as an unsubscribe offer: ${text}`, () =>
    assert.ok(!mentionsUnsubscribe(text)));

const ADDRESSES: [string, boolean][] = [
  ['https://example.com/unsubscribe?id=1', true],
  ['https://unsubscribe.example.com/1', true],
  ['https://example.com/u?do=opt-out', true],
  ['https://example.com/OptOut.aspx', true],
  ['https://example.com/unsub/1', true],
  ['https://example.com/newsletter_abmelden', true],
  ['https://example.com/d%C3%A9sabonnement', true],
  ['https://example.com/baja?id=1', true],
  ['mailto:unsubscribe@example.com', true],
  ['mailto:list@example.com?subject=Unsubscribe', true],
  ['https://example.com/%E9%80%80%E8%AE%A2', true],
  ['https://example.com/%zz/unsubscribe', true],
  ['https://example.com/subscribe', false],
  ['https://example.com/click/abc', false],
  ['https://example.com/baja', true],
  ['https://example.com/x?do=baja&id=1', true],
  ['mailto:baja@example.com', true],
  ['https://example.com/baja-california/', false],
  ['https://example.com/x?do=baja-sur', false],
  ['https://baja.com/', false],
  ['https://bajaj.example/', false],
  ['', false],
];

for (const [href, expected] of ADDRESSES)
  test(`URL is ${expected ? '' : 'not '}recognized as an unsubscribe URL: ${href}`, () =>
    assert.equal(isUnsubscribeUrl(href), expected));

test('Unsubscribe detection handles long near-matches quickly', () => {
  const started = cpuTime();
  for (const text of ['cancelar ', 'melden sie sich ', 'a-', 'é', '%E9', ' - '])
    for (const matches of [mentionsUnsubscribe, isUnsubscribeUrl]) {
      assert.ok(!matches(text.repeat(5_000_000 / text.length)));
    }
  assert.ok(cpuTime() - started < 1000);
});
