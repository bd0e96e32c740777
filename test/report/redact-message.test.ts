/** Puts a secret into every part of a message that its sender controls, and looks for it in the public report. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactReport } from '../../src/report/redact.ts';
import type { Report } from '../../src/report/report.ts';
import { analyzeWorld, cleanWorld, type World } from '../analysis/planted/world.ts';

const SECRET = 'zqsecretqz';

async function reportOf(plant: (world: World) => void): Promise<Report> {
  const world = cleanWorld();
  plant(world);
  return {
    ...(await analyzeWorld(world)),
    id: 'test_1',
    name: null,
    received_at: '2026-11-21T10:00:00.000Z',
    completed_at: '2026-11-21T10:00:02.000Z',
    envelope: world.envelope,
    placement: [],
    message: null,
    preview: null,
  };
}

/** The check IDs and report fields that contain the secret. */
function placesOf(report: Report): string[] {
  const { checks, ...rest } = report;
  const found = [...checks.map((check) => [check.id, check]), ...Object.entries(rest)].filter(
    ([, value]) => JSON.stringify(value).toLowerCase().includes(SECRET),
  );
  return found.map(([place]) => String(place)).sort();
}

const file = (name: string) =>
  `Content-Type: application/octet-stream; name="${name}"\nContent-Disposition: attachment; filename="${name}"\nContent-Transfer-Encoding: base64\n\nTVqQAAMAAAA=\n`;
const field = (name: string, value: string) => (world: World) => {
  world.fields[name] = value;
};
const line = (text: string) => (world: World) => {
  world.edit = (message) => message.replace(/^Date:/m, `${text}\nDate:`);
};
const html =
  (part: string, by: string, code = 200) =>
  (world: World) => {
    assert.ok(world.html.includes(part));
    world.html = world.html.replace(part, by);
    world.web = () => code;
  };
const files =
  (...names: string[]) =>
  (world: World) => {
    world.attachments = names.map(file);
  };

const HREF = 'https://example.com/bread"';

const HIDDEN: Record<string, (world: World) => void> = {
  'file name': files(`${SECRET}.exe`),
  'file name of words': files(`my ${SECRET} file.exe`, `other  ${SECRET}2.js`),
  'long file name': files(`${'a'.repeat(150)}${SECRET}${'b'.repeat(300)}.exe`),
  'file name with two extensions': files(`report.${SECRET}.exe`),
  'file name with control characters': files(`a\u202e${SECRET}\u0007.exe`),
  'file name in capitals': files(`${SECRET.toUpperCase()}.EXE`),
  'file name with quotes': files(`${SECRET}\\" is fine.exe`),
  'header line without colon': line(`${SECRET} line without colon`),
  'header line with quotes': line(`a" has no field name before a colon ${SECRET}`),
  'header line with control characters': line(`${SECRET} \x80\x00 line`),
  'field name with raw bytes in its value': line(`X-${SECRET}: \xff`),
  'name of a bulk field': line(`X-Campaign-${SECRET}: 1`),
  'name of a bulk field of transactional mail': (world) => {
    line(`X-Campaign-${SECRET}: 1`)(world);
    world.fields['List-Unsubscribe'] = null;
    world.fields['List-Unsubscribe-Post'] = null;
  },
  'unknown field': line(`X-${SECRET}: ${SECRET}`),
  'comment in a field': field('MIME-Version', `1.0 (${SECRET})`),
  'Feedback-ID with identifiers': field('Feedback-ID', `${SECRET}:b:c:sender`),
  'Feedback-ID of one part': field('Feedback-ID', SECRET),
  'long Feedback-ID': field('Feedback-ID', `a:${SECRET.repeat(40)}:mail:sender`),
  'name and mailbox in To': field('To', `${SECRET} <${SECRET}@example.net>`),
  'mailbox in Reply-To': field('Reply-To', `reply+${SECRET}@other.example`),
  'display name in From': field('From', `"${SECRET}@paypal.com" <news@example.com>`),
  'envelope sender': (world) => {
    world.envelope.mail_from = `bounce+${SECRET}@example.com`;
  },
  'envelope sender in an SPF macro': (world) => {
    world.envelope.mail_from = `bounce+${SECRET}@bounce.example.com`;
    world.zone['bounce.example.com']!.TXT = ['v=spf1 include:%{l}._spf.example.com -all'];
  },
  'Reply-To without an address': field('Reply-To', `${SECRET}a3k9x7m2v8n4w6t1b5c2q8`),
  'List-Unsubscribe': field(
    'List-Unsubscribe',
    `<https://example.com/u/${SECRET}>, <mailto:${SECRET}@example.com?subject=${SECRET}>`,
  ),
  'List-Unsubscribe without brackets': field('List-Unsubscribe', SECRET),
  'text between the addresses of List-Unsubscribe': field(
    'List-Unsubscribe',
    `<https://example.com/u/a> ${SECRET} <x>`,
  ),
  'hidden text': html(
    '<h1>',
    `<div style="display:none">${`${SECRET} word `.repeat(60)}</div><h1>`,
  ),
  'link text that looks like a host': html('Read on', `www.paypal.com ${SECRET}`),
  'link text that looks like a URL': html('Read on', `https://www.paypal.com/${SECRET}`),
  'password in a URL': html(HREF, `https://user:${SECRET}@example.com/bread"`),
  'javascript URL': html(HREF, `javascript:${SECRET}()"`),
  'relative URL': html(HREF, `/rel/${SECRET}"`),
  'relative word': html(HREF, `${SECRET}"`),
  'short URL': html(HREF, `https://bit.ly/${SECRET}"`),
  'dead link': html(HREF, `https://example.com/bread/${SECRET}"`, 404),
  'text of the unsubscribe link': html('>Unsubscribe<', `>Unsubscribe ${SECRET}<`),
  'tracking pixel': html(
    '</body>',
    `<img src="https://t.example/${SECRET}.gif?u=${SECRET}" width=1 height=1></body>`,
  ),
  'text of an image': html('alt="A loaf on a linen cloth"', `alt="${SECRET}.png"`),
  'attribute that looks like an event handler': html(
    '<h1>',
    `<h1 onload${SECRET}="x" on${SECRET}="x">`,
  ),
  'unknown element': html('<h1>', `<${SECRET}><script src="${SECRET}"></script><h1>`),
  'end tag without a start tag': html('</h1>', `</h1></${SECRET}><table><div></table>`),
  'comment in HTML': html('<h1>', `<!-- ${SECRET} --><h1>`),
  'style attribute': html(
    '<h1>',
    `<p style="display:none;x:${SECRET}">${'hid me '.repeat(100)}</p><h1>`,
  ),
  'text part': (world) => {
    world.text = `${SECRET} totally different words here `.repeat(20);
  },
};

/** Values that public reports show because findings are about them, with the checks that show them. */
const SHOWN: Record<string, [(world: World) => void, string[]]> = {
  'the value that Precedence has': [field('Precedence', SECRET), ['precedence']],
  'a Date that cannot be read': [field('Date', SECRET), ['date']],
  'the comment in Date': [field('Date', `Sat, 21 Nov 2026 09:59:58 +0000 (${SECRET})`), ['date']],
  'the sender in Feedback-ID': [field('Feedback-ID', `a:b:${SECRET}`), ['feedback_id']],
  'the host in Message-ID': [field('Message-ID', `<a@${SECRET}>`), ['message_id']],
  'the host of a link': [html(HREF, `http://${SECRET} x/"`), ['link_host', 'link_scheme']],
  'the scheme of a link': [html(HREF, `${SECRET}:foo"`), ['link_scheme']],
  'a value that one-click unsubscribe must not have': [
    field('List-Unsubscribe-Post', SECRET),
    ['one_click'],
  ],
  'the name of the server': [
    (world) => {
      world.envelope.helo = SECRET;
    },
    ['helo'],
  ],
};

for (const [place, plant] of Object.entries(HIDDEN))
  test(`Public report hides a secret in: ${place}`, async () => {
    assert.deepEqual(placesOf(redactReport(await reportOf(plant), [])), []);
  });

test('Team report shows the planted secrets', async () => {
  const found = new Set<string>();
  for (const plant of Object.values(HIDDEN))
    for (const place of placesOf(await reportOf(plant))) found.add(place);
  for (const id of ['attachments', 'encoding', 'feedback_id', 'judged_kind'])
    assert.ok(found.has(id), id);
});

for (const [place, [plant, shownBy]] of Object.entries(SHOWN))
  test(`Public report shows ${place}`, async () => {
    const cut = redactReport(await reportOf(plant), []);
    const places = placesOf(cut).filter((each) => each !== 'summary' && each !== 'providers');
    assert.deepEqual(places, shownBy);
  });

test('Public sentences do not depend on words in an SPF explanation or List-Unsubscribe', async () => {
  const titles = async (value: string, explanation: string) => {
    const report = await reportOf((world) => {
      world.fields['List-Unsubscribe'] = value;
      world.zone['bounce.example.com']!.TXT = ['v=spf1 -all exp=e.example.com'];
      world.zone['e.example.com'] = { TXT: [explanation] };
    });
    const cut = redactReport(report, []).checks;
    return ['spf', 'list_unsubscribe'].map((id) => {
      const { title, detail, fix } = cut.find((check) => check.id === id)!;
      return { title, detail, fix };
    });
  };
  assert.deepEqual(await titles('List-Unsubscribe', "doesn't allow"), await titles('zzzz', 'zzzz'));
});

test('Public sentences keep words that are also the URL of a link or image', async () => {
  for (const word of ['link', 'here', 'scheme', 'address', 'image']) {
    const report = await reportOf((world) => {
      world.html = world.html
        .replace(HREF, `${word}"`)
        .replace('<body', `<body><img src="${word}"`);
    });
    const publicTexts = redactReport(report, []).checks.map(({ id, title, detail }) => [
      id,
      title,
      detail,
    ]);
    const mangled = publicTexts.filter(([id, ...texts]) =>
      texts.some((text) => text?.includes('…') && /link|image/.test(id!)),
    );
    assert.deepEqual(mangled, [], word);
  }
});
