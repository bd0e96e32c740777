/** Links that are never requested: those that seem to have an effect, and those with long tokens. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageLinks } from '../../../src/analysis/links/links.ts';
import { linkSkipReasons } from '../../../src/analysis/links/skip-reasons.ts';
import { looksRandom, maskTokens } from '../../../src/analysis/links/tokens.ts';
import phrases from '../../../src/analysis/links/unsubscribe-phrases.json' with { type: 'json' };
import { contextFor } from '../../helpers/analysis.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { goodMessage } from '../../helpers/good-message.ts';

/** Why each URL of the message must not be requested, in order; null if it may be. */
async function reasons(message: string): Promise<(string | null)[]> {
  const context = await contextFor({ message });
  const links = context.fact(messageLinks);
  assert.ok(links.length > 0);
  const caution = linkSkipReasons(context);
  return links.map((link) => caution.forLink(link));
}

const html = (body: string, changes = {}) =>
  goodMessage({ 'Content-Type': 'text/html; charset=utf-8', ...changes }, `${body}\n`);

const SKIPPED_URLS = [
  'https://example.com/unsubscribe',
  'https://example.com/Unsubscribe.aspx?u=1',
  'https://unsubscribe.example.com/1',
  'https://example.com/u?action=unsub',
  'https://example.com/userUnsubscribe',
  'https://example.com/UnSub',
  'https://example.com/opt-out',
  'https://example.com/optout/1',
  'https://example.com/OptOut',
  'https://example.com/opt_out',
  'https://example.com/email-preferences',
  'https://example.com/prefs',
  'https://example.com/confirm?x=1',
  'https://example.com/verify/1',
  'https://example.com/verification',
  'https://example.com/activate',
  'https://example.com/reset-password',
  'https://example.com/password',
  'https://example.com/login',
  'https://example.com/wp-login.php',
  'https://example.com/log-in',
  'https://example.com/sign%2Din',
  'https://example.com/signIn',
  'https://login.example.com/',
  'https://example.com/auth/start',
  'https://example.com/subscribe',
  'https://example.com/register',
  'https://example.com/delete/7',
  'https://example.com/approve/7',
  'https://example.com/cancel',
  'https://example.com/rsvp?a=yes',
  'https://example.com/x?token=1',
  'https://example.com/%75nsub%73cribe',
  'https://example.com/%2575nsubscribe',
  'https://example.com/unsub%73cribe%E4',
  'https://example.com/go?to=https%3A%2F%2Fexample.net%2Funsubscribe',
  'https://example.com/abmelden',
  'https://example.com/newsletter/abbestellen',
  'https://example.com/best%C3%A4tigen',
  'https://example.com/bestaetigung',
  'https://example.com/se-desabonner',
  'https://example.com/d%C3%A9sinscription',
  'https://example.com/darse-de-baja',
  'https://example.com/descadastrar',
  'https://example.com/disiscriviti',
  'https://example.com/uitschrijven',
  'https://example.com/wypisz',
  'https://example.com/отписаться',
  'https://example.com/配信停止',
  'https://example.com/退订',
  'https://example.com/수신거부',
];

const ALLOWED_URLS = [
  'https://example.com/',
  'https://example.com/blog/introducing-our-new-shop',
  'https://example.com/blog/in-depth',
  'https://example.com/author/jane',
  'https://example.com/design-inspiration',
  'https://example.com/designing-in-2026',
  'https://example.com/option/1',
  'https://example.com/campaign-info?utm_source=newsletter&utm_medium=email',
  'https://example.com/joint-offers?sessions=1',
  'https://example.com/granular-control',
  'https://example.com/products/plugin',
  'https://example.com/blockchain',
  'https://example.com/silver',
  'https://example.com/2026/11/21/how-to-bake-a-bread-that-keeps-for-a-whole-week',
  'https://example.com/p/1234567890',
  'https://www.youtube.com/watch?v=dQw4w9WgXcQ',
];

test('Link checks skip URLs that suggest an action', async () => {
  for (const address of SKIPPED_URLS) {
    const [reason] = await reasons(html(`<a href="${address}">Look</a>`));
    assert.match(String(reason), /^it looks like a link to /, address);
  }
});

test('Link checks request harmless URLs', async () => {
  for (const address of ALLOWED_URLS) {
    const [reason] = await reasons(html(`<a href="${address}">Look</a>`));
    assert.equal(reason, null, address);
  }
});

test('Link checks skip links by their text', async () => {
  const left = ['Unsubscribe', 'Abmelden', 'Confirm my address', 'Log in', 'Sign in now', 'Verify'];
  for (const text of [
    ...left,
    'Se désabonner',
    'Darse de baja',
    'Отписаться',
    '수신거부',
    'Opt out',
  ]) {
    const [reason] = await reasons(html(`<a href="https://example.com/x">${text}</a>`));
    assert.match(String(reason), /looks like/, text);
  }
  for (const text of ['Shop now', 'Read more', 'The blog in brief', 'Designs', '']) {
    const [reason] = await reasons(html(`<a href="https://example.com/x">${text}</a>`));
    assert.equal(reason, null, text);
  }
});

test('Link checks skip vague link text when the message mentions unsubscribing', async () => {
  const about = `<p>The shop is <a href="https://example.com/x">here</a>.${' word'.repeat(50)}`;
  const [here, shop] = await reasons(
    html(
      `${about} You can unsubscribe. ${'word '.repeat(50)}<a href="https://example.com/y">Shop</a>`,
    ),
  );
  assert.match(String(here), /is vague/);
  assert.equal(shop, null);
  const [other] = await reasons(html('<p>The shop is <a href="https://example.com/x">here</a>.'));
  assert.equal(other, null);
  const korean = '수신거부를 원하시면 <a href="https://example.com/x">여기</a>';
  assert.match(String((await reasons(html(korean)))[0]), /looks like/);
});

const X = 'https://example.com/x?u=7';

/** HTML with a link whose effect shows in the words around it or in its labels. */
const WORDS_AROUND = [
  `Unsubscribe: <a href="${X}">${X}</a>`,
  `Confirm your address: <a href="${X}">${X}</a>`,
  `Confirm your address: <a href="${X}">example.com/x</a>`,
  `To confirm your address <a href="${X}">click here</a>`,
  `To reset your password, <a href="${X}">click here</a>`,
  `To reset your password, <a href="${X}">please use this form</a>`,
  `Click <a href="${X}">here</a> to activate your account`,
  `Is this your address? Please confirm: <a href="${X}">Yes</a>`,
  `Activate your account: <a href="${X}"><img src="https://example.com/button.png"></a>`,
  `Wenn Sie diese Mails nicht mehr erhalten möchten, klicken Sie <a href="${X}">hier</a>`,
  `If you no longer wish to receive these mails, use <a href="${X}">this form</a>`,
  `<a href="${X}" title="Unsubscribe"><img src="a.png" alt=""></a>`,
  `<a href="${X}" aria-label="Unsubscribe">✕</a>`,
  `<a href="${X}"><img src="https://example.com/images/unsubscribe.png?v=1"></a>`,
  `<a href="${X}">See this <img src="a.png" alt="Unsubscribe"></a>`,
  `<a href="${X}"><span style="display:none">Unsubscribe</span>→</a>`,
  `<map><area href="${X}" title="Unsubscribe"></map>`,
  `<a href="${X}">U n s u b s c r i b e</a>`,
  `<a href="${X}">Ab&shy;mel&shy;den</a>`,
];

for (const body of WORDS_AROUND)
  test(`Link checks skip HTML link: ${body}`, async () => {
    const [reason] = await reasons(html(`<p>Hello.</p><p>${body}</p>`));
    assert.match(String(reason), /looks like|suggests|mentions/);
  });

const RISKY_TEXTS = [
  'Stop receiving these',
  'Newsletter nicht mehr erhalten',
  'Ne plus recevoir nos e-mails',
  'Dejar de recibir',
  'Non ricevere più',
  'Deixar de receber',
  'Stop these emails',
  'Turn off notifications',
  'Yes, it was me',
  'No, it wasn’t me',
  'Das war ich',
  'Grant access',
  '受信を停止',
  '수신 거부',
  'ngừng nhận',
  'Keine weiteren E-Mails',
];

for (const text of RISKY_TEXTS)
  test(`Link checks skip link text: ${text}`, async () => {
    const [reason] = await reasons(html(`<a href="${X}">${text}</a>`));
    assert.match(String(reason), /looks like/);
  });

/** Text parts whose only URL has an effect. */
const WORDS_IN_TEXT = [
  `You can unsubscribe at any time by visiting the link\nbelow:\n${X}`,
  `You can unsubscribe at any time by visiting the\nlink below: ${X}`,
  `Unsubscribe [1]\n\nLinks:\n[1] ${X}`,
  `[1]Unsubscribe\n\n1. ${X}`,
  `If this was you, please confirm it.\n\nLink: ${X}`,
  `Visit\n${X}\nto unsubscribe.`,
  `Unsubscribe\n-----------\n${X}`,
];

for (const text of WORDS_IN_TEXT)
  test(`Link checks skip plain text link: ${JSON.stringify(text)}`, async () => {
    const [reason] = await reasons(goodMessage({}, `Hello,\n\n${text}\n`));
    assert.match(String(reason), /looks like/);
  });

test('Link checks ignore the text of other links and paragraphs', async () => {
  const read = `<a href="${X}">Read more</a>`;
  assert.deepEqual(await reasons(html(`<p>Confirm your address soon.</p>${read}`)), [null]);
  const far = `Unsubscribe whenever you like.${' word'.repeat(40)} <a href="${X}"><img src="a.png"></a>`;
  assert.deepEqual(await reasons(html(far)), [null]);
  const text = `You can confirm it later.\n\nOur shop: ${X}\n\nNews [2] ${X}2\n`;
  assert.deepEqual(await reasons(goodMessage({}, text)), [null, null]);
});

test('Link checks skip a URL everywhere once it is risky anywhere', async () => {
  const shop = '<a href="https://example.com/x?u=7#top">Our shop</a>';
  const again = '<a href="http://example.com/x?u=7">Unsubscribe</a>';
  const found = await reasons(html(`${shop} <a href="https://example.com/x">Shop</a> ${again}`));
  assert.deepEqual(
    found.map((reason) => reason === null),
    [false, true, false],
  );
});

test('Link checks do not follow redirects to a URL with risky text', async () => {
  const context = await contextFor({ message: html(`<a href="${X}">Unsubscribe</a>`) });
  const { forUrl: ofUrl } = linkSkipReasons(context);
  for (const url of [X, `${X}&utm_source=mail`, `${X}#a`])
    assert.match(String(ofUrl(new URL(url))), /looks like/);
  assert.equal(ofUrl(new URL('https://example.com/y')), null);
});

test('Link checks skip every unsubscribe phrase', async () => {
  for (const each of Object.values(phrases).flatMap((list) => Object.values(list).flat())) {
    const phrase = each.replace(/\*$/, '').replace(' … ', ' die ');
    const [reason] = await reasons(html(`<a href="${X}">${phrase}</a>`));
    assert.match(String(reason), /looks like/, phrase);
  }
});

test('Link checks skip plain text URLs by the words around them', async () => {
  const text = [
    'Our shop: https://example.com/shop',
    '',
    'Unsubscribe: https://example.com/1',
    '',
    'To confirm your address open',
    'https://example.com/2',
    '',
    'https://example.com/3 (log in)',
    '',
    'Nothing of the kind: https://example.com/4',
  ].join('\n');
  const found = await reasons(goodMessage({}, text));
  assert.deepEqual(
    found.map((reason) => reason === null),
    [true, false, false, false, true],
  );
});

test('Link checks skip List-Unsubscribe URLs everywhere', async () => {
  const changes = {
    'List-Unsubscribe':
      '<mailto:u@example.com>, <https://example.com/q/1?u=2>, <https://example.net/?q=1>',
  };
  const [same, other, elsewhere, root, withQuery] = await reasons(
    html(
      [
        'example.com/q/1?u=2',
        'example.com/q/1?u=3#x',
        'example.com/q/2',
        'example.net/',
        'example.net/?q=1',
      ]
        .map((place) => `<a href="https://${place}">Look</a>`)
        .join(''),
      changes,
    ),
  );
  for (const reason of [same, other, withQuery])
    assert.match(String(reason), /List-Unsubscribe|unsubscribe/);
  for (const reason of [elsewhere, root]) assert.equal(reason, null);
});

test('Link checks skip URLs with long tokens and very long URLs', async () => {
  const token = '9fK2mQ7xR4tZ8vB1nC5w';
  for (const place of [`a/${token}`, `a?b=${token}`, `a?${token}`, `a;s=${token}`, `${token}/b`]) {
    const [reason] = await reasons(html(`<a href="https://example.com/${place}">Look</a>`));
    assert.match(String(reason), /long token/, place);
  }
  const [long] = await reasons(html(`<a href="https://example.com/${'a/'.repeat(1000)}">Look</a>`));
  assert.match(String(long), /very long/);
});

test('Link checks skip host names with long tokens', async () => {
  const [reason] = await reasons(
    html('<a href="https://9fk2mq7xr4tz8vb1nc5w.example.com/">Look</a>'),
  );
  assert.match(String(reason), /long token/);
});

test('Random tokens are distinguished from words', () => {
  const random = [
    '550e8400-e29b-41d4-a716-446655440000',
    'd41d8cd98f00b204e9800998ecf8427e',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
    'aHR0cHM6Ly9leGFtcGxlLmNvbS9hYmM',
    '00000000000000000000000001',
    'QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
    'Zk3-9aQx_71LmPq-R2v0Tb',
    'kqjzxvwpmbtrnhgdlfcsyakqjzxvwp',
  ];
  for (const value of random) assert.ok(looksRandom(value), value);
  const words = [
    '',
    'dQw4w9WgXcQ',
    'how-to-bake-a-bread-that-keeps',
    'SummerSaleForEverybodyInTown',
    'newsletter_2026-11-21_edition',
    'iphone15-case-black-2pcs-new',
    'ein-sehr-langer-deutscher-titel',
    'https://example.com/a/b/c?d=e',
    'これはとても長い日本語のタイトルなので二十文字を超えます',
    'CATEGORY-SHOES-WOMEN-SALE',
    '2026-11-21T10:00:00.000Z',
  ];
  for (const value of words) assert.ok(!looksRandom(value), value);
});

test('Tokens in URLs are masked, the rest is kept', () => {
  const cases: [string, string][] = [
    [
      'https://example.com/a-title-of-several-words/x',
      'https://example.com/a-title-of-several-words/x',
    ],
    [
      'https://example.com/d41d8cd98f00b204e9800998ecf8427e/x?y=1',
      'https://example.com/d41d…/x?y=1',
    ],
    [
      'https://example.com/x?t=d41d8cd98f00b204e9800998ecf8427e&y=1',
      'https://example.com/x?t=d41d…&y=1',
    ],
  ];
  for (const [href, shown] of cases) assert.equal(maskTokens(href), shown);
});

test('Link skip reasons for a message full of links take little time', async () => {
  const many = Array.from(
    { length: 1000 },
    (_, i) =>
      `<a href="https://example.com/${i}?${'a%20'.repeat(450)}">${'so and so '.repeat(200)}</a>`,
  );
  const context = await contextFor({
    message: html(`${many.join('\n')}${'word '.repeat(100_000)}`),
  });
  const links = context.fact(messageLinks);
  const start = cpuTime();
  const caution = linkSkipReasons(context);
  for (const link of links) caution.forLink(link);
  assert.ok(cpuTime() - start < 3000);
});
