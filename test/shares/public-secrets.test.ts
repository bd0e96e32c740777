/** Public reports contain no message content, no test address and no notes of the team. */

// @one-database: about pages; the queries of shared links run on both in another test.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { zip } from '../helpers/archives.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfText, pdfWords } from '../helpers/pdf.ts';
import { sendMail } from '../helpers/send.ts';
import { startSharing } from './sharing.ts';

/** Words that occur only in the message or in the team's data. */
const WORDS = {
  text: 'quagmirefern',
  html: 'velvetotter',
  hidden: 'murkylantern',
  header: 'copperheron',
  mailbox: 'reader.tulipbark',
  verp: 'bounce+gossamer',
  unsubscribe: 'opaltoken7731',
  link: 'resetmarble9917',
  confirm: 'confirmbasalt4402',
  pixel: 'pixelmoss2218',
  password: 'passthistle6643',
  encoded: 'encodedlarch5150',
  reader: 'curlew.sedge',
  return: 'returnplover',
  mailer: 'mailerfinch3307',
  attachment: 'ledgerwalnut',
  program: 'setupwarbler',
  member: 'memberdunlin',
  metadata: 'buildpigeon',
};

/** A message that contains its recipient in every possible place. */
const messageTo = (address: string) =>
  goodMessage(
    {
      To: `Tulip <${WORDS.mailbox}@example.net>, ${address}`,
      'Reply-To': `<reply+${address.replace('@', '=')}@example.com>`,
      'X-Inner': WORDS.header,
      'X-Mailer-Id': `https://example.com/campaign/${WORDS.mailer}`,
      'Feedback-ID': `${WORDS.mailer}:list:shop`,
      'Message-ID': `<${WORDS.mailer}.${WORDS.mailbox}@example.com>`,
      'List-Unsubscribe': `<https://example.com/u/${WORDS.unsubscribe}?for=${encodeURIComponent(address)}>, <http://example.com/u/${WORDS.unsubscribe}>, <mailto:u+${WORDS.unsubscribe}@example.com?subject=${WORDS.unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'Content-Type': 'multipart/mixed; boundary=m',
    },
    [
      '--m',
      'Content-Type: multipart/alternative; boundary=a',
      '',
      '--a',
      'Content-Type: text/plain; charset=utf-8',
      '',
      `Dear ${address}, ${WORDS.text}: your order is on its way.`,
      '--a',
      'Content-Type: text/html; charset=utf-8',
      '',
      `<p>${WORDS.html} for ${address}, free money</p>`,
      `<p style="display:none">${WORDS.hidden} ${WORDS.hidden} ${WORDS.hidden}</p>`,
      `<p><a href="https://example.com/password?token=${WORDS.link}">Set a password</a></p>`,
      `<p><a href="https://example.com/unsubscribe/${WORDS.unsubscribe}">Unsubscribe</a></p>`,
      `<p><a href="http://example.com/confirm/${WORDS.confirm}#${WORDS.confirm}">Confirm</a></p>`,
      `<p><a href="https://bit.ly/${WORDS.confirm}?to=${WORDS.reader}%40example.net">example.org/${WORDS.confirm}</a></p>`,
      `<p><a href="//example.com/login?mail=${WORDS.reader}@example.net">Sign in</a></p>`,
      `<p><a href="/account/${WORDS.confirm}">Account</a> <a href="ftp://example.com/${WORDS.confirm}">Files</a></p>`,
      `<p><a href="http://me:${WORDS.password}@example.com/in">In</a> <a href="https://203.0.114.9/${WORDS.confirm}">Out</a></p>`,
      `<p><a href="https%3A%2F%2Fexample.com%2Freset%2F${WORDS.encoded}">Reset</a></p>`,
      `<p><img src="https://example.com/i/${WORDS.pixel}.png?to=${WORDS.reader}@example.net" width="600" height="400"></p>`,
      `<img src="http://example.com/o/${WORDS.pixel}.gif" width="1" height="1" alt="">`,
      '--a--',
      '--m',
      `Content-Type: application/octet-stream; name="${WORDS.program}.exe"`,
      `Content-Disposition: attachment; filename="${WORDS.program}.exe"`,
      '',
      'nothing',
      '--m',
      'Content-Type: application/zip; name="papers.zip"',
      'Content-Disposition: attachment; filename="papers.zip"',
      'Content-Transfer-Encoding: base64',
      '',
      zip({ name: `${WORDS.member}.exe` }).toString('base64'),
      '--m',
      `Content-Type: application/pdf; name="${WORDS.attachment}.pdf"`,
      `Content-Disposition: attachment; filename="${WORDS.attachment}.pdf"`,
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('%PDF-1.4 nothing').toString('base64'),
      '--m--',
      '',
    ].join('\n'),
  );

async function sharedForms(
  t: TestContext,
  { withPdf = true, preview = 'none' }: { withPdf?: boolean; preview?: string } = {},
) {
  const { service, share, read } = await startSharing(t);
  const { createTest, getTest, smtp, url } = service;
  const made = await createTest({ metadata: { commit: WORDS.metadata } });
  await sendMail({
    port: smtp.port,
    to: made.address,
    raw: messageTo(made.address),
    mailFrom: `${WORDS.verp}+${WORDS.return}=example.net@example.com`,
  });
  const done = await getTest(made.id, '?wait=50');
  assert.equal(done.status, 'completed');
  const { token } = await share({ test_ids: [made.id], preview });
  const path = `/reports/public/${token}`;
  const forms: Record<string, string> = {
    page: (await read(path)).text,
    JSON: (await read(path, 'application/json')).text,
  };
  if (withPdf) {
    const pdf = new Uint8Array(await (await fetch(`${url}${path}.pdf`)).arrayBuffer());
    forms.PDF = `${pdfText(pdf)}\n${pdfWords(pdf)}`;
  }
  const own = await fetch(`${url}/v1/tests/${made.id}/report.html`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  return { service, done, forms, token, own: await own.text() };
}

test('Public reports contain no message content, recipient or test address', {
  skip: skipUnlessInstalled('pdftotext'),
}, async (t) => {
  const { done, forms, token, own } = await sharedForms(t);
  const secrets = {
    ...WORDS,
    'local part': done.token,
    address: done.address,
    'in a URL': encodeURIComponent(done.address),
    'in an address': done.address.replace('@', '='),
    'token of the link': token,
  };
  const { metadata: _, ...shownToTeam } = { ...WORDS, token: done.token };
  for (const word of Object.values(shownToTeam))
    assert.ok(own.includes(word), `${word} is there to be left out`);
  for (const [form, text] of Object.entries(forms)) {
    assert.ok(text.length > 2000, form);
    assert.ok(text.includes('Your order has shipped'), `${form} tells of the test`);
    const flat = text.toLowerCase().replace(/\s+/g, '');
    for (const [what, word] of Object.entries(secrets))
      assert.ok(!flat.includes(word.toLowerCase()), `${what} is in the ${form}`);
  }
});

test('Public report page has no forms, scripts or links except to rule references', async (t) => {
  const { forms, token } = await sharedForms(t, { withPdf: false });
  const page = forms.page!;
  assert.doesNotMatch(page, /<(form|iframe|object|embed|base)\b/i);
  assert.ok(!page.includes(token));
  const addresses = [...page.matchAll(/\s(?:src|href|action)="([^"]*)"/g)].map(([, url]) => url!);
  assert.ok(addresses.length > 10);
  for (const url of addresses)
    assert.match(url, /^(#|\?format=pdf$|data:,$|data:image\/|https:\/\/(?!example\.com))/, url);
});

/** What recipients read in the message, which a preview shows. */
const READ = ['text', 'html', 'hidden'];

test('The preview in a shared report shows what is read, but no link, address or recipient', async (t) => {
  const { done, forms, token } = await sharedForms(t, {
    withPdf: false,
    preview: 'without_images',
  });
  const page = forms.page!.toLowerCase();
  assert.match(page, /<iframe[^>]* sandbox(?:=""| )/);
  assert.ok(page.includes(WORDS.html), 'the message is shown');
  const { metadata, ...words } = WORDS;
  const secrets = Object.entries({
    ...words,
    metadata,
    'local part': done.token,
    address: done.address,
    'in an address': done.address.replace('@', '='),
    'token of the link': token,
  }).filter(([what]) => !READ.includes(what));
  for (const [what, word] of secrets)
    assert.ok(!page.replace(/\s+/g, '').includes(word.toLowerCase()), `${what} is in the page`);
  assert.doesNotMatch(page, /<(form|object|embed|base)\b/);
});
