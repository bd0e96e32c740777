/** Realistic messages in many languages with the kind that a consultant would see. */

import type { KindConfidence } from '../../../src/analysis/check.ts';
import { goodMessage } from '../../helpers/good-message.ts';

/** `marketing` and `transactional` are expected with some confidence; `uncertain` says only that. */
export type Expected = 'marketing' | 'transactional' | 'uncertain';

export interface KindMail {
  name: string;
  expected: Expected;
  confidence?: KindConfidence;
  message: string;
}

type Fields = Record<string, string | null>;

const mail = (subject: string, body: string, fields: Fields = {}): string =>
  goodMessage(
    { Subject: encoded(subject), 'Content-Transfer-Encoding': '8bit', ...fields },
    `${body}\n`,
  );

const encoded = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;

const html = (subject: string, body: string, fields: Fields = {}): string =>
  mail(subject, `<html><body>${body}</body></html>`, {
    'Content-Type': 'text/html; charset=utf-8',
    ...fields,
  });

const button = (text: string, path = '/'): string =>
  `<table><tr><td><a href="https://www.example.com${path}">${text}</a></td></tr></table>`;

const SES: Fields = {
  'X-SES-Outgoing': '2026.11.21-192.0.2.1',
  'Feedback-ID': '1.eu:1.eu:AmazonSES',
};
const SENDGRID: Fields = { 'X-SG-EID': 'abc123' };

/** The body of a receipt with prices and links to the products. */
const receipt = (
  words: string,
): string => `<table><tr><td><img src="https://cdn.example.com/logo.png"
  alt="Example" width="120"></td></tr></table>${words}`;

const ROWS: [name: string, expected: Expected, message: string, confidence?: KindConfidence][] = [
  // English: marketing without any list field.
  [
    'en: 50 % off everything, plain text',
    'marketing',
    mail(
      '50 % off everything',
      'This week only: 50 % off everything in our shop.\nhttps://www.example.com/sale\n',
    ),
  ],
  [
    'en: Black Friday, one image',
    'marketing',
    html(
      'Black Friday starts now',
      '<a href="https://www.example.com/"><img src="https://cdn.example.com/bf.jpg" width="600" alt=""></a>',
    ),
  ],
  [
    'en: an image without a telling subject',
    'uncertain',
    html(
      'For you',
      '<a href="https://www.example.com/"><img src="https://cdn.example.com/x.jpg" width="600" alt=""></a>',
    ),
  ],
  [
    'en: product announcement through SendGrid',
    'marketing',
    html(
      'Introducing the Example Lamp',
      `<h1>The new lamp is here</h1><p>Twelve hours of light on one charge.</p>${button('Shop now', '/products/lamp?utm_source=mail&utm_campaign=lamp')}<a href="https://www.example.com/u?id=1">Unsubscribe</a>`,
      SENDGRID,
    ),
  ],
  [
    'en: webinar invitation',
    'marketing',
    html(
      'Join us for a webinar on soil health',
      `<p>Our experts answer your questions on 3 December.</p>${button('Save your seat', '/webinar?utm_medium=email')}`,
      SES,
    ),
  ],
  [
    'en: abandoned cart',
    'marketing',
    html(
      'You left something in your cart',
      `<p>Your walking boots are still here: € 89.00.</p>${button('Return to cart')}`,
      SES,
    ),
  ],
  [
    'en: cold outreach in plain text',
    'marketing',
    mail(
      'Quick question about Example Ltd',
      'Hi Anna,\n\nI came across Example Ltd and loved your site. We help companies like yours to find more customers. Would you be open to a quick call next week?\n\nBest,\nTom',
    ),
  ],
  [
    'en: survey with an unsubscribe link',
    'marketing',
    html(
      'A short survey for you',
      `<p>Two minutes, five questions.</p>${button('Start', '/s/1')}<a href="https://www.example.com/unsubscribe">Unsubscribe</a>`,
      SES,
    ),
  ],
  [
    'en: newsletter with all list fields',
    'marketing',
    html(
      'Garden notes, issue 12',
      '<p>What to plant in November.</p><a href="https://www.example.com/read">Read more</a> <a href="https://www.example.com/u">Unsubscribe</a>',
      {
        'List-Unsubscribe': '<https://www.example.com/u>',
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        'List-Id': '<garden.example.com>',
      },
    ),
    'certain',
  ],
  [
    'en: campaign of Mailchimp',
    'marketing',
    html('News from the bakery', '<p>Our opening hours at Christmas.</p>', {
      'X-MC-User': '1a2b',
      'List-Unsubscribe': '<https://example.us1.list-manage.com/unsubscribe?u=1>',
    }),
    'certain',
  ],
  [
    'en: newsletter with its tracking links and footer only',
    'marketing',
    html(
      'Hello from the hills',
      '<p><a href="https://www.example.com/w">View in browser</a></p><p>It has snowed.</p><p><a href="https://click.example.com/1?utm_source=news">The story</a></p><p>You are receiving this because you signed up.</p>',
    ),
  ],

  // English: transactional.
  [
    'en: password reset through SES',
    'transactional',
    html(
      'Reset your password',
      `<p>Someone asked to reset the password of your account. The link works for an hour.</p>${button('Reset password', '/reset?token=abc')}`,
      SES,
    ),
    'likely',
  ],
  [
    'en: receipt with prices and links to products',
    'transactional',
    html(
      'Your receipt from Example (order #104233)',
      receipt(
        '<p>Thank you for your order 104233.</p><table><tr><td><a href="https://www.example.com/products/boots">Boots</a></td><td>€ 89.00</td></tr><tr><td><a href="https://www.example.com/products/socks">Socks</a></td><td>€ 12.00</td></tr><tr><td><a href="https://www.example.com/products/wax">Wax</a></td><td>€ 6.00</td></tr><tr><td>Subtotal</td><td>€ 107.00</td></tr><tr><td>VAT 19 %</td><td>€ 17.08</td></tr></table>',
      ),
      SENDGRID,
    ),
    'likely',
  ],
  [
    'en: receipt with a line for a discount',
    'transactional',
    html(
      'Order confirmation 104233',
      receipt(
        '<p>Thank you for your order.</p><p>Subtotal € 107.00</p><p>Discount 10 %: –€ 10.70</p><p>Shipping € 4.90</p>',
      ),
    ),
  ],
  [
    'en: receipt with a promotion under it',
    'uncertain',
    html(
      'Order confirmation 104233',
      receipt(
        `<p>Thank you for your order.</p><p>Subtotal € 107.00, shipping € 4.90</p><hr><h2>Enjoy 10% off your next order</h2><p>Discount code THANKS10</p>${button('Shop now', '/shop')}`,
      ),
    ),
  ],
  [
    'en: receipt with a large promotion under it',
    'uncertain',
    html(
      'Your order 104233',
      receipt(
        `<p>Order 104233: € 107.00</p><h1>Black Friday: 50 % off</h1><p>Best deals of the year, this weekend only.</p>${button('Shop now', '/products/a')}${button('Buy now', '/products/b')}${button('Shop the sale', '/products/c?utm_campaign=bf')}`,
      ),
    ),
  ],
  [
    'en: shipping notice',
    'transactional',
    html(
      'Your order has shipped',
      `<p>Tracking number 1Z999AA10123456784.</p>${button('Track your package', '/t/1')}`,
      SES,
    ),
  ],
  [
    'en: invoice',
    'transactional',
    mail(
      'Invoice INV-2026-0042',
      'Dear customer,\nplease find your invoice attached. Amount due: 1,250.00 EUR, payable within 30 days.',
    ),
  ],
  [
    'en: sign-in from a new device',
    'transactional',
    html(
      'New sign-in to your account',
      '<p>We noticed a sign-in from a new device in Oslo.</p>',
      SES,
    ),
  ],
  [
    'en: code to sign in',
    'transactional',
    mail('Your verification code', 'Your verification code is 493021. It expires in ten minutes.'),
  ],
  [
    'en: booking',
    'transactional',
    html(
      'Your booking is confirmed: reservation 88431',
      '<p>Room 12, two nights. Check-in from 3 pm.</p>',
      SES,
    ),
  ],
  [
    'en: payment that failed',
    'transactional',
    html('Payment failed', `<p>We could not charge your card.</p>${button('Update card')}`, SES),
  ],
  [
    'en: trial that ends',
    'uncertain',
    html(
      'Your trial ends in 3 days',
      `<p>Upgrade to keep your projects.</p>${button('Upgrade now')}`,
      SES,
    ),
  ],
  [
    'en: digest of a social network',
    'uncertain',
    html(
      '3 people viewed your profile',
      `<p>See who viewed your profile this week.</p>${button('See all')}`,
      SES,
    ),
  ],
  [
    'en: personal mail',
    'transactional',
    mail(
      'Dinner on Friday?',
      'Hi Anna,\n\nshall we meet at seven? The new place has great deals on pasta, says Tom.\n\nEva',
      { 'User-Agent': 'Mozilla Thunderbird' },
    ),
    'likely',
  ],
  [
    'en: reply of support',
    'transactional',
    mail(
      'Re: [#48213] Printer does not start',
      'Hello Anna,\n\nplease install the driver from https://www.example.com/drivers and try again.',
      { 'In-Reply-To': '<a@example.net>', References: '<a@example.net>' },
    ),
    'likely',
  ],
  [
    'en: calendar invitation',
    'transactional',
    goodMessage(
      { Subject: 'Invitation: Planning', 'Content-Type': 'multipart/alternative; boundary=b' },
      '--b\nContent-Type: text/plain\n\nPlanning, Monday 10:00\n--b\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nEND:VCALENDAR\n--b--\n',
    ),
    'likely',
  ],
  [
    'en: output of cron',
    'transactional',
    mail('Cron <root@web1> /usr/local/bin/backup', 'backup: 12 files, 3 errors', {
      'Auto-Submitted': 'auto-generated',
      'X-Cron-Env': '<SHELL=/bin/sh>',
    }),
  ],
  [
    'en: alert of a monitor',
    'transactional',
    mail('[FIRING] web1 is down', 'HTTP check failed three times.', {
      'Auto-Submitted': 'auto-generated',
      Precedence: 'bulk',
    }),
  ],
  [
    'en: post to a Mailman list',
    'transactional',
    mail(
      '[dev] Release plan',
      'I would ship on Friday.\n\nOn sale is a different topic.\n_______________\nTo unsubscribe: https://lists.example.com/options',
      {
        'List-Id': '<dev.lists.example.com>',
        'List-Post': '<mailto:dev@lists.example.com>',
        'List-Unsubscribe': '<https://lists.example.com/options>',
        Precedence: 'list',
        'X-Mailman-Version': '3.3',
      },
    ),
    'likely',
  ],
  [
    'en: announcement list to which nobody may post',
    'marketing',
    mail('Autumn programme', 'Our concerts this autumn.', {
      'List-Id': '<news.lists.example.com>',
      'List-Post': 'NO',
      'List-Unsubscribe': '<https://lists.example.com/options>',
    }),
    'certain',
  ],

  // German
  [
    'de: Rabatt',
    'marketing',
    mail(
      '-30 % auf alles',
      'Nur heute: 30 % Rabatt auf das ganze Sortiment.\nhttps://www.example.com/angebote',
    ),
  ],
  [
    'de: Newsletter ohne Listenfelder',
    'marketing',
    html(
      'Neue Kollektion für den Herbst',
      `<p>Entdecken Sie warme Farben.</p>${button('Jetzt shoppen')}<p>Sie erhalten diesen Newsletter, weil Sie sich angemeldet haben. <a href="https://www.example.com/x">Newsletter abbestellen</a></p>`,
    ),
  ],
  [
    'de: Passwort',
    'transactional',
    html(
      'Passwort zurücksetzen',
      `<p>Klicken Sie, um Ihr Passwort zurückzusetzen.</p>${button('Passwort zurücksetzen')}`,
      SES,
    ),
  ],
  [
    'de: Rechnung',
    'transactional',
    mail(
      'Ihre Rechnung Nr. 2026-4711',
      'Guten Tag,\nanbei Ihre Rechnung. Gesamtbetrag 119,00 €, darin 19 % MwSt.',
    ),
  ],
  [
    'de: Testphase',
    'uncertain',
    html('Ihre Testphase endet bald', `<p>Noch drei Tage.</p>${button('Jetzt upgraden')}`),
  ],

  // French
  [
    'fr: soldes',
    'marketing',
    html('Soldes : jusqu’à -50 % sur tout le site', button("J'en profite", '/soldes')),
  ],
  [
    'fr: vente privée, texte',
    'marketing',
    mail(
      'Vente privée',
      'Dernière chance : 20 % de remise avec le code promo HIVER.\nhttps://www.example.com',
    ),
  ],
  [
    'fr: commande',
    'transactional',
    html(
      'Confirmation de commande n° 558123',
      '<p>Merci pour votre commande. Sous-total 45,00 €, TVA 20 %.</p>',
    ),
  ],
  [
    'fr: code',
    'transactional',
    mail('Votre code de vérification', 'Votre code de vérification est 882914.'),
  ],

  // Spanish
  [
    'es: rebajas',
    'marketing',
    html('Rebajas: hasta 40% de descuento', `<p>Solo hoy.</p>${button('Comprar ahora')}`),
  ],
  [
    'es: boletín',
    'marketing',
    html(
      'Novedades de noviembre',
      '<p><a href="https://www.example.com/w">Ver en el navegador</a></p><p>Te presentamos tres libros.</p><p>Recibes este correo porque te suscribiste. <a href="https://www.example.com/baja">Darse de baja</a></p>',
    ),
  ],
  [
    'es: contraseña',
    'transactional',
    html(
      'Restablecer tu contraseña',
      `<p>Has pedido una contraseña nueva.</p>${button('Continuar')}`,
      SENDGRID,
    ),
  ],
  [
    'es: pedido',
    'transactional',
    mail('Tu pedido 99120 ha sido enviado', 'Número de seguimiento 4451 2290. Llega el martes.'),
  ],

  // Italian
  [
    'it: saldi',
    'marketing',
    html('Saldi invernali: fino al 60% di sconto', button('Acquista ora')),
  ],
  [
    'it: ordine',
    'transactional',
    html('Conferma ordine 77231', '<p>Grazie per il tuo ordine. Totale 32,50 €, IVA inclusa.</p>'),
  ],
  [
    'it: nuovo accesso',
    'transactional',
    mail('Nuovo accesso al tuo account', 'Abbiamo rilevato un nuovo accesso da Torino.'),
  ],

  // Dutch
  [
    'nl: uitverkoop',
    'marketing',
    html('Uitverkoop! Tot 70% korting', `<p>Op is op.</p>${button('Shop nu')}`),
  ],
  [
    'nl: bestelling',
    'transactional',
    mail('Je bestelling 450012 is onderweg', 'De bezorger komt morgen tussen 10 en 12 uur.'),
  ],
  [
    'nl: wachtwoord',
    'transactional',
    html('Wachtwoord opnieuw instellen', button('Nieuw wachtwoord'), SES),
  ],

  // Portuguese
  [
    'pt: promoção',
    'marketing',
    html('Só hoje: 25% de desconto', `<p>Aproveite a promoção.</p>${button('Compre agora')}`),
  ],
  [
    'pt: encomenda',
    'transactional',
    mail('Seu pedido 300458 foi enviado', 'Código de rastreio: BR 1234 5678.'),
  ],
  [
    'pt: código',
    'transactional',
    mail('Código de verificação', 'Seu código de verificação: 118 204'),
  ],

  // Polish
  [
    'pl: wyprzedaż',
    'marketing',
    html('Wyprzedaż: rabat do 50%', `<p>Tylko dziś.</p>${button('Kup teraz')}`),
  ],
  [
    'pl: zamówienie',
    'transactional',
    mail('Potwierdzenie zamówienia nr 60021', 'Dziękujemy za zamówienie. Razem 129,00 zł.'),
  ],
  ['pl: hasło', 'transactional', html('Resetowanie hasła', button('Zresetuj hasło'), SENDGRID)],

  // Japanese, Chinese
  ['ja: セール', 'marketing', html('【本日限り】全品30％オフのセール', button('今すぐ購入'))],
  [
    'ja: 注文',
    'transactional',
    mail(
      'ご注文の確認（注文番号 250-118822）',
      'ご注文ありがとうございます。小計 3,200円、消費税 320円、合計 3,520円',
    ),
  ],
  ['ja: 認証コード', 'transactional', mail('認証コードのお知らせ', '認証コード：551203')],
  [
    'zh: 优惠',
    'marketing',
    html('双十一大促：全场5折', `<p>限时抢购，优惠券已到账。</p>${button('立即购买')}`),
  ],
  [
    'zh: 订单',
    'transactional',
    mail('您的订单已发货', '订单号 20261121001，运单号 SF1020304050。'),
  ],
  ['zh: 验证码', 'transactional', mail('验证码', '您的验证码是 620415，十分钟内有效。')],
];

export const KIND_MAILS: KindMail[] = ROWS.map(([name, expected, message, confidence]) => ({
  name,
  expected,
  message,
  confidence,
}));
