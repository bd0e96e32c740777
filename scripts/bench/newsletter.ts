/** The messages that `bench message` sends: plain text, and newsletters of two sizes as services make them. */

const STYLE = `
body { margin: 0; padding: 0; background-color: #f4f4f4; }
table { border-collapse: collapse; }
img { border: 0; display: block; max-width: 100%; }
a { color: #0a5ea8; text-decoration: underline; }
.title { font: bold 22px/28px Arial, Helvetica, sans-serif; color: #222222; }
.text { font: 15px/22px Arial, Helvetica, sans-serif; color: #333333; }
@media (max-width: 620px) { .column { width: 100% !important; display: block !important; } }
@media (prefers-color-scheme: dark) { .text { color: #dddddd !important; } }`;

const TOPICS = [
  ['A new way to plan your week', 'Most plans fail on Tuesday, when the first surprise arrives.'],
  [
    'What we learned from 200 gardens',
    'Water early, cut late, and leave the leaves where they fall.',
  ],
  ['Three recipes for a cold evening', 'Soup keeps for two days and tastes better on the second.'],
  [
    'The museum opens its archive',
    'For the first time, visitors see the drawings behind the models.',
  ],
  ['Trains that run at night', 'Five new lines connect the coast with the mountains from May.'],
] as const;

/** An article with a picture and two links. */
function article(index: number, padding: string): string {
  const [title, text] = TOPICS[index % TOPICS.length]!;
  const url = `https://www.example.com/stories/${index}?utm_source=newsletter&amp;utm_medium=email`;
  return `<tr><td class="column" style="padding: 16px 24px; border-bottom: 1px solid #eeeeee;">
<a href="${url}"><img src="https://img.example.com/stories/${index}.jpg" width="552" height="180" alt="${title}"></a>
<p class="title" style="margin: 12px 0 4px;">${title}</p>
<p class="text" style="margin: 0;">${text}${padding} <a href="${url}&amp;from=text">Read the story</a></p>
</td></tr>`;
}

const TEXT_ONLY = (count: number): string =>
  Array.from({ length: count }, (_, index) => {
    const [title, text] = TOPICS[index % TOPICS.length]!;
    return `${title}\r\n${text}\r\nhttps://www.example.com/stories/${index}\r\n`;
  }).join('\r\n');

/** The fields and body of a newsletter with two links for each article. */
export function newsletter(articles: number, padding = ''): string {
  const rows = Array.from({ length: articles }, (_, index) => article(index, padding)).join('\n');
  const html = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>The weekly letter</title><style>${STYLE}</style></head>
<body><div style="display: none; max-height: 0; overflow: hidden;">Five stories for a quiet weekend.</div>
<table role="presentation" width="100%"><tr><td align="center">
<table role="presentation" width="600" style="background-color: #ffffff;">
${rows}
<tr><td class="text" style="padding: 24px; font-size: 12px;">Example Ltd, 1 High Street, London N1 1AA, United Kingdom.<br>
You get this letter because you signed up on our website. <a href="https://www.example.com/unsubscribe?id=42">Unsubscribe</a>
</td></tr></table></td></tr></table></body></html>`;
  return [
    ...HEADER('The weekly letter'),
    'List-Unsubscribe: <https://www.example.com/unsubscribe?id=42>, <mailto:leave@example.com>',
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    TEXT_ONLY(articles),
    '--b',
    'Content-Type: text/html; charset=utf-8',
    '',
    ...html.split('\n'),
    '--b--',
    '',
  ].join('\r\n');
}

export function plainMessage(): string {
  return [
    ...HEADER('Your order has shipped'),
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Hello,',
    '',
    'your order 4711 is on its way and arrives on Thursday. You need not be at home.',
    'Questions? Answer this message.',
    '',
    'Example Ltd, 1 High Street, London N1 1AA',
    '',
  ].join('\r\n');
}

const HEADER = (subject: string): string[] => [
  'From: Example Letters <letters@example.com>',
  'To: other@example.net',
  `Subject: ${subject}`,
  'Date: Sat, 21 Nov 2026 10:00:00 +0000',
  'Message-ID: <1@example.com>',
  'MIME-Version: 1.0',
];
