/** The frame of every e-mail that the service sends: a written text part, and HTML that needs nothing from outside. */

import { escaped, plain, shown, wrap } from './plain-text.ts';

/** A paragraph, facts as pairs of a label and its value, what to do, or what has been made for both parts already. */
type MailBlock = string | { facts: [label: string, value: string][] } | MailSteps | MadeBlock;

/** The same said twice; `html` has escaped what it holds. */
export interface MadeBlock {
  text: string;
  html: string;
}

interface Link {
  label: string;
  /** http or https. */
  url: string;
}

export interface MailContent {
  /** None where it is no news of that kind. */
  badge?: MailBadge;
  /** The heading: what has happened, or what is to be done. */
  title: string;
  /** What mail programs show beside the subject; no repetition of it. */
  preheader: string;
  /** Plain text: whatever it holds is escaped. */
  blocks: MailBlock[];
  /** The one thing to do. */
  button?: Link;
  /** Why somebody gets this mail. */
  footer: string;
  /** The way out of further ones. */
  leave?: Link;
}

/** Both parts say the same. The text part is written out of the same words, never stripped from the HTML. */
export function mailFrame(content: MailContent): { text: string; html: string } {
  const written = { ...content, button: asHref(content.button), leave: asHref(content.leave) };
  return { text: writeText(written), html: writeHtml(written) };
}

/** Written out as browsers do it: a line end in an address would end it. */
const asHref = (link?: Link): Link | undefined =>
  link && { label: link.label, url: new URL(link.url).href };

function writeText({ badge, title, blocks, button, footer, leave }: MailContent): string {
  return `${[
    wrap(badge ? `${badge.word}: ${title}` : title),
    ...blocks.map(textOf),
    ...(button ? [linkText(button)] : []),
    // What follows the text itself is set apart so (RFC 3676 §4.3).
    `-- \n${wrap(footer)}`,
    ...(leave ? [linkText(leave)] : []),
  ].join('\n\n')}\n`;
}

function textOf(block: MailBlock): string {
  if (typeof block === 'string') return wrap(block);
  if ('text' in block) return block.text;
  if ('steps' in block) return stepsText(block);
  return block.facts.map(([label, value]) => wrap(`${label}: ${value}`)).join('\n');
}

const linkText = ({ label, url }: Link): string => `${wrap(`${label}:`)}\n${url}`;

function htmlOf(block: MailBlock): string {
  if (typeof block === 'string') return paragraph(block);
  if ('steps' in block) return stepsHtml(block);
  return 'html' in block ? block.html : factsTable(block.facts);
}

function writeHtml(content: MailContent): string {
  const parts = [
    ...(content.badge ? [badge(content.badge)] : []),
    title(content.title, content.badge && '12px 0 0'),
    ...content.blocks.map(htmlOf),
    ...(content.button ? button(content.button) : []),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${shown(content.title)}</title>
<style>${DARK}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#f6f6f9">
<div style="display:none;max-height:0;overflow:hidden">${shown(content.preheader)}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f6f6f9">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px;${SANS}">
<tr><td class="accent" style="padding:0 4px 12px;font-size:16px;line-height:24px;font-weight:600;color:${INK.accent}">Deliverability</td></tr>
<tr><td class="card" style="padding:32px;border:1px solid #dddee7;border-radius:8px;background-color:#ffffff;font-size:16px;line-height:24px">
${parts.join('\n')}
</td></tr>
<tr><td class="muted" style="padding:12px 4px 0;font-size:14px;line-height:21px;color:${INK.muted};${BREAKS}">${footerOf(content)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

function footerOf({ footer, leave }: MailContent): string {
  if (!leave) return shown(footer);
  return `${shown(footer)}<br><a href="${escaped(leave.url)}" class="accent" style="color:${INK.accent}">${shown(leave.label)}</a>`;
}

// What to do, as an e-mail of ours writes it: steps in their order, with the records to publish.

/** A thing to do: what is wrong (or nothing), what to do, and what to publish in the DNS for it. */
interface MailStep {
  title: string;
  text: string;
  record: { type: string; name: string; value: string } | null;
}

interface MailSteps {
  heading: string;
  steps: MailStep[];
}

/** Numbered where there are several, with what belongs to it below its first letter. */
function stepsText({ heading, steps }: MailSteps): string {
  const each = steps.map((step, index) => stepText(step, steps.length > 1 ? `${index + 1}. ` : ''));
  return [wrap(`${heading}:`), ...each].join('\n\n');
}

function stepText({ title, text, record }: MailStep, number: string): string {
  const indent = ' '.repeat(number.length);
  const said = wrap(`${number}${title} ${text}`, indent);
  if (!record) return said;
  const published = [`${plain(record.name)}  ${plain(record.type)}`, plain(record.value)];
  return [said, '', ...published.map((line) => `${indent}${line}`)].join('\n');
}

/** Numbers in a column of their own: lists are indented differently by each program. */
function stepsHtml({ heading, steps }: MailSteps): string {
  const rows = steps.map(({ title, text, record }, index) => {
    const first = title === '' ? '' : `<b>${shown(title)}</b> `;
    const number = `<td valign="top" class="muted" style="padding:12px 12px 0 0;color:${INK.muted}">${index + 1}.</td>`;
    return `<tr>${steps.length > 1 ? number : ''}<td valign="top" width="100%" class="ink" style="padding:12px 0 0;color:${INK.ink};${BREAKS}">${first}${shown(text)}${record ? recordOf(record) : ''}</td></tr>`;
  });
  return `${smallHeading(heading)}
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="font-size:14px;line-height:21px">${rows.join('')}</table>`;
}

/** Its value in a line of its own, so that it can be marked and copied. */
function recordOf({ type, name, value }: NonNullable<MailStep['record']>): string {
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 0"><tr><td class="sunken ink" bgcolor="#f3f3f8" style="padding:8px 12px;border:1px solid #dddee7;border-radius:8px;background-color:#f3f3f8;${MONO};font-size:13px;line-height:20px;color:${INK.ink};word-break:break-all">${shown(name)} <span class="muted" style="color:${INK.muted}">${shown(type)}</span><br>${shown(value)}</td></tr></table>`;
}

// How an e-mail of ours looks: its fonts, the colours of both themes, and the elements that mails share.

const SANS =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";
/** Long words and addresses must not widen the page of a phone. */
export const BREAKS = 'overflow-wrap:anywhere;word-break:break-word';

/** Of the light theme, inline; the class of the same name has that of the dark one. */
export const INK = {
  ink: '#1b1c26',
  muted: '#585a6b',
  accent: '#4338ca',
  pass: '#0f6b35',
  warn: '#855000',
  fail: '#b3201a',
  unknown: '#585a6b',
} as const;
export type Tone = keyof typeof INK;

/**
 * Colours are inline, for programs that drop styles; those of the dark theme are in a style that the
 * others may ignore: what such programs make of light colours by themselves stays readable.
 */
const DARK = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (max-width:480px){.card{padding:24px 20px!important}}
@media (prefers-color-scheme:dark){
.page{background-color:#0f1015!important}
.card{background-color:#17181f!important;border-color:#2e303b!important}
.ink{color:#e8e9f1!important}
.muted,.unknown{color:#a6a9ba!important}
.accent{color:#aab4ff!important}
.pass{color:#74d99b!important}
.warn{color:#f2bd62!important}
.fail{color:#ff9d95!important}
.line{border-color:#2e303b!important}
.button{background-color:#5a50e6!important}
.badge-fail{background-color:#351918!important;color:#ff9d95!important}
.badge-pass{background-color:#14291d!important;color:#74d99b!important}
.badge-unknown{background-color:#22242d!important;color:#a6a9ba!important}
.sunken{background-color:#101117!important;border-color:#2e303b!important}
}`;

export const LINE = 'border-top:1px solid #dddee7';
const SMALL = 'font-size:14px;line-height:21px';

/** `margin` in CSS. */
const title = (text: string, margin = '0'): string =>
  `<h1 class="ink" style="margin:${margin};font-size:20px;line-height:28px;font-weight:600;color:${INK.ink};${BREAKS}">${shown(text)}</h1>`;

export const heading = (text: string): string =>
  `<h2 class="ink" style="margin:32px 0 0;font-size:16px;line-height:24px;font-weight:600;color:${INK.ink};${BREAKS}">${shown(text)}</h2>`;

/** The same nearer to what stands above. */
const smallHeading = (text: string): string =>
  `<h2 class="ink" style="margin:24px 0 0;font-size:16px;line-height:24px;font-weight:600;color:${INK.ink};${BREAKS}">${shown(text)}</h2>`;

export const paragraph = (text: string): string =>
  `<p class="ink" style="margin:16px 0 0;color:${INK.ink};${BREAKS}">${shown(text)}</p>`;

/** What is said beside the matter. */
export const note = (text: string): string =>
  `<p class="muted" style="margin:4px 0 0;${SMALL};color:${INK.muted};${BREAKS}">${shown(text)}</p>`;

/** Pairs of a label and its value. */
function factsTable(facts: [string, string][]): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th scope="row" align="left" valign="top" class="muted line" style="padding:8px 16px 8px 0;${LINE};font-weight:normal;color:${INK.muted};white-space:nowrap">${shown(label)}</th><td valign="top" width="100%" class="ink line" style="padding:8px 0;${LINE};color:${INK.ink};${BREAKS}">${shown(value)}</td></tr>`,
  );
  return sheet(rows.join(''));
}

/** A table over the whole width; `rows` are HTML. */
export const sheet = (rows: string): string =>
  `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:16px 0 0;${SMALL}">${rows}</table>`;

/** What kind of news it is, by a sign, a word and a colour. */
interface MailBadge {
  tone: 'fail' | 'pass' | 'unknown';
  word: string;
}

/** As the report has them: the soft colour behind, the strong one for the words. */
const BADGES: Record<MailBadge['tone'], { sign: string; behind: string }> = {
  fail: { sign: '●', behind: '#fdeceb' },
  pass: { sign: '✓', behind: '#e7f5ec' },
  unknown: { sign: '○', behind: '#efeff4' },
};

/** A cell with a colour, which every program shows. */
function badge({ tone, word }: MailBadge): string {
  const { sign, behind } = BADGES[tone];
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td class="badge-${tone}" bgcolor="${behind}" style="padding:4px 12px;border-radius:8px;background-color:${behind};font-size:14px;line-height:20px;font-weight:600;color:${INK[tone]}">${sign}&nbsp;${shown(word)}</td></tr></table>`;
}

/** The button is a cell with a colour, which every program shows; its address stands below it for the others. */
function button({ label, url }: { label: string; url: string }): string[] {
  const href = escaped(url);
  return [
    `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:24px 0 0"><tr><td class="button" bgcolor="#4338ca" style="border-radius:8px;background-color:#4338ca"><a href="${href}" style="display:inline-block;padding:12px 20px;font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${shown(label)}</a></td></tr></table>`,
    `<p class="muted" style="margin:24px 0 0;${SMALL};color:${INK.muted}">If the button does not work, open this address:<br><a href="${href}" class="accent" style="${MONO};color:${INK.accent};word-break:break-all">${href}</a></p>`,
  ];
}
