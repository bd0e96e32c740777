/** Notices with a promotion below: the subject and the beginning decide (16 CFR 316.3). And what counts as a layout. */

// @one-database: about words of messages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import { mailFacts } from '../../../src/analysis/kind/mail-facts.ts';
import { classifyMessage } from '../../../src/analysis/kind.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { SENDER_ZONE, signed } from '../../e2e/sender.ts';
import { contextFor, ENVELOPE, RECEIVED_AT } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

const htmlMail = (subject: string, body: string, fields: Record<string, string> = {}): string =>
  goodMessage(
    {
      Subject: `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Transfer-Encoding': '8bit',
      ...fields,
    },
    `<html><body>${body}</body></html>\n`,
  );

const link = (text: string, path: string): string =>
  `<a href="https://www.example.com${path}">${text}</a>`;

const NOTICES: Record<string, string> = {
  'receipt with a coupon': htmlMail(
    'Your receipt from Example',
    `<table><tr><td><h1>Thank you for your order</h1><p>Watering can × 1: $24.00</p><p>Shipping: $4.00</p>
    <p>Total: $28.00</p></td></tr></table><hr><h2>10% off your next order</h2>
    <p>Use the code THANKS10 at checkout. ${link('Shop now', '/shop')}</p>`,
  ),
  'Bestellung mit Gutschein': htmlMail(
    'Bestellbestätigung 48213',
    `<table><tr><td><h1>Vielen Dank für Ihre Bestellung</h1><p>1 Gießkanne: 24,00 €</p><p>Versand: 4,90 €</p>
    <p>Gesamtsumme: 28,90 €</p></td></tr></table><p>Ihr Geschenk: 15 % Rabatt auf die nächste Bestellung mit dem
    Gutscheincode DANKE15. ${link('Jetzt einkaufen', '/angebote')}</p>`,
  ),
  'facture avec une offre': htmlMail(
    'Votre facture 2026-1187',
    `<table><tr><td><h1>Votre facture est disponible</h1><p>Montant : 28,90 €</p></td></tr></table>
    <h2>Offre spéciale</h2><p>-20 % sur toute la boutique avec le code promo MERCI20.
    ${link('J’en profite', '/offres')}</p>`,
  ),
  'receipt of a ride': htmlMail(
    'Your receipt for Tuesday evening',
    `<table><tr><td><h1>Your receipt</h1><p>Trip fare 11.20</p><p>Total £11.20</p><p>Paid with card ending 4242</p>
    </td></tr></table><p>Refer a friend and get £10 when they take their first ride. ${link('Invite friends', '/refer')}</p>`,
  ),
  'invitation to a shared folder': htmlMail(
    'Tom invited you to the folder “Plans”',
    `<table><tr><td><h1>Tom invited you to “Plans”</h1><p>Open it to see the drawings.</p>${link('Open folder', '/f/1')}</td></tr></table>
    <p>New: get 100 GB of space, 30% off until Sunday. ${link('Upgrade now', '/plans')}</p>`,
  ),
  'Einladung in ein Team': htmlMail(
    'Tom hat Sie eingeladen',
    `<table><tr><td><h1>Tom hat Sie eingeladen, im Team mitzuarbeiten</h1>${link('Einladung annehmen', '/i/1')}</td></tr></table>
    <p>Jetzt neu: 20 % Rabatt auf den Jahrestarif. ${link('Jetzt sichern', '/tarife')}</p>`,
  ),
  'invitación a un tablero': htmlMail(
    'Ana te ha invitado a un tablero',
    `<table><tr><td><h1>Ana te ha invitado al tablero “Huerto”</h1>${link('Ver tablero', '/t/1')}</td></tr></table>
    <p>Oferta: 25 % de descuento en el plan anual. ${link('Comprar ahora', '/ofertas')}</p>`,
  ),
  'password mail with a banner': htmlMail(
    'Reset your password',
    `<table><tr><td><h1>Reset your password</h1><p>Click the button below. The link expires in one hour.</p>
    ${link('Set a new password', '/reset')}</td></tr></table><p>Black Friday: 50% off all plans. ${link('Shop now', '/sale')}</p>`,
  ),
  'Passwort mit Werbung': htmlMail(
    'Passwort zurücksetzen',
    `<table><tr><td><h1>Neues Passwort</h1><p>Klicken Sie auf den Link, um Ihr Passwort zurückzusetzen.</p>
    ${link('Passwort zurücksetzen', '/p')}</td></tr></table><p>Nur diese Woche: 30 % Rabatt auf alles. ${link('Jetzt einkaufen', '/sale')}</p>`,
  ),
  'redefinir a senha com promoção': htmlMail(
    'Redefinir a sua senha',
    `<table><tr><td><h1>Redefinir a sua senha</h1><p>Clique no botão para escolher uma nova senha.</p>
    ${link('Redefinir senha', '/senha')}</td></tr></table><p>Só hoje: 40% de desconto em toda a loja. ${link('Comprar agora', '/loja')}</p>`,
  ),
  'shipping notice with products': htmlMail(
    'Your package is on its way',
    `<table><tr><td><h1>Your package is on its way</h1><p>Tracking number: JD0146000093</p>${link('Track your package', '/t')}</td></tr></table>
    <h2>You may also like</h2><p>${link('Gloves', '/products/1')} ${link('Boots', '/products/2')} ${link('Spade', '/products/3')}</p>
    <p>Free shipping and 20% off until Sunday. ${link('Shop now', '/sale')}</p>`,
  ),
  'spedizione con offerta': htmlMail(
    'Il tuo pacco è in consegna',
    `<table><tr><td><h1>Il tuo pacco è in consegna</h1><p>Numero di tracciamento: IT48213777</p></td></tr></table>
    <p>Solo per te: 20% di sconto con il codice sconto GRAZIE20. ${link('Acquista ora', '/offerte')}</p>`,
  ),
  発送のお知らせとクーポン: htmlMail(
    '【発送のお知らせ】ご注文番号 48213',
    `<table><tr><td><h1>商品を発送いたしました</h1><p>お問い合わせ番号：1234-5678-9012</p></td></tr></table>
    <p>次回使える10％オフクーポンをプレゼント。${link('今すぐ購入', '/sale')}</p>`,
  ),
};

for (const [name, message] of Object.entries(NOTICES))
  test(`${name}: transactional, with the other score if uncertain`, async () => {
    const result = await analyze(
      {
        raw: await signed({ message }),
        envelope: ENVELOPE,
        receivedAt: RECEIVED_AT,
        kind: 'auto',
      },
      { resolver: zoneResolver(SENDER_ZONE) },
    );
    const { kind, confidence, reasons } = result.judged_kind;
    assert.equal(kind, 'transactional', reasons.join('\n'));
    assert.equal(result.alternative === null, confidence !== 'uncertain');
    assert.ok(result.score! > 75, `${result.score}: ${result.summary}`);
  });

test('A notice whose promotion comes first in the subject is marketing', async () => {
  for (const subject of [
    '50% off your next order: open your receipt',
    'Black Friday: your order is on us',
    'Rabatt auf Ihre Bestellung: nur bis Sonntag 20 %',
  ]) {
    const context = await contextFor({
      message: htmlMail(subject, `<h1>50% off everything</h1>${link('Shop now', '/sale')}`),
    });
    assert.equal(context.fact(classifyMessage).kind, 'marketing', subject);
  }
});

const NEWS: Record<string, string> = {
  'letter of a potter': htmlMail(
    'The potter’s letter, November',
    `<table><tr><td><h1>The potter’s letter</h1><p>In this issue: a new kiln, and why glazes crack. Read more on our site.</p></td></tr></table>`,
  ),
  'letter with headings only': htmlMail(
    'What we read in November',
    `<h2>In this issue</h2><p>Three books about rivers, and one about bread.</p><h2>Also</h2><p>${link('Read more', '/a')}</p>`,
  ),
  'Rundbrief mit Knopf': htmlMail(
    'Der Gartenbrief im November',
    `<p>In dieser Ausgabe: Rosen schneiden und Beete abdecken.</p><button>Weiterlesen</button>`,
  ),
  'referral in a table': htmlMail(
    'Refer a friend and get £10',
    `<table><tr><td><p>Give £10, get £10: share your link with friends.</p></td></tr></table>`,
  ),
};

for (const [name, message] of Object.entries(NEWS))
  test(`${name}: marketing, since its layout is not that of a personal mail`, async () => {
    const context = await contextFor({ message });
    assert.equal(context.fact(mailFacts).hasLayout, true);
    const { kind, reasons } = context.fact(classifyMessage);
    assert.equal(kind, 'marketing', reasons.join('\n'));
    assert.doesNotMatch(reasons.join(' '), /personal mail/);
  });
