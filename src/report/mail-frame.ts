/** The layout of every email that the service sends: a text part, and HTML that loads nothing external. */

import { escapeHtml, singleLine, toHtmlText, wrap } from '../lib/format/plain-text.ts';
import { type Brand, type BrandColors, CHECKED_WITH, fitLogo } from './brand.ts';

/** A paragraph, labels with values, steps, or a block already rendered for both parts. */
type MailBlock = string | { facts: [label: string, value: string][] } | MailSteps | RenderedBlock;

/** The same content in both forms; `html` must be escaped. */
export interface RenderedBlock {
  text: string;
  html: string;
}

interface Link {
  label: string;
  /** `http` or `https`. */
  url: string;
}

export interface MailContent {
  /** Of the team, for people outside it; null or absent for ours. The logo is an image of the email, with this ID. */
  brand?: (Brand & { logoCid: string }) | null;
  badge?: MailBadge;
  /** The heading: what happened, or what to do. */
  title: string;
  /** Mail clients show it next to the subject, which it must not repeat. */
  preheader: string;
  /** Plain text; it is escaped here. */
  blocks: MailBlock[];
  /** The main action. */
  button?: Link;
  /** Why the recipient receives this email. */
  footer: string;
  /** The unsubscribe link. */
  unsubscribe?: Link;
}

/** Both parts have the same content. The text part is built from the blocks, not from the HTML. */
export function mailFrame(content: MailContent): { text: string; html: string } {
  const normalized = {
    ...content,
    button: withNormalizedUrl(content.button),
    unsubscribe: withNormalizedUrl(content.unsubscribe),
  };
  return { text: renderText(normalized), html: renderHtml(normalized) };
}

/** Normalizing also removes line breaks from the URL. */
const withNormalizedUrl = (link?: Link): Link | undefined =>
  link && { label: link.label, url: new URL(link.url).href };

function renderText({
  brand,
  badge,
  title,
  blocks,
  button,
  footer,
  unsubscribe,
}: MailContent): string {
  return `${[
    ...(brand ? [wrap(brand.name)] : []),
    wrap(badge ? `${badge.word}: ${title}` : title),
    ...blocks.map(textOf),
    ...(button ? [linkText(button)] : []),
    // The signature separator of RFC 3676 §4.3.
    `-- \n${wrap(footer)}`,
    ...(unsubscribe ? [linkText(unsubscribe)] : []),
    ...(brand ? [CHECKED_WITH] : []),
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

function renderHtml(content: MailContent): string {
  const parts = [
    ...(content.badge ? [badge(content.badge)] : []),
    title(content.title, content.badge && '12px 0 0'),
    ...content.blocks.map(htmlOf),
    ...(content.button ? button(content.button, accentOf(content)) : []),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${toHtmlText(content.title)}</title>
<style>${DARK}${content.brand?.colors ? darkAccent(content.brand.colors) : ''}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#f6f6f9">
<div style="display:none;max-height:0;overflow:hidden">${toHtmlText(content.preheader)}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f6f6f9">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px;${SANS}">
<tr><td class="accent" style="padding:0 4px 12px;font-size:16px;line-height:24px;font-weight:600;color:${accentOf(content)}">${headOf(content)}</td></tr>
<tr><td class="card" style="padding:32px;border:1px solid #dddee7;border-radius:8px;background-color:#ffffff;font-size:16px;line-height:24px">
${parts.join('\n')}
</td></tr>
<tr><td class="muted" style="padding:12px 4px 0;font-size:14px;line-height:21px;color:${COLORS.muted};${BREAK_WORDS}">${footerOf(content)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

const accentOf = ({ brand }: MailContent): string => brand?.colors?.light ?? COLORS.accent;

const LOGO_SIZE = { width: 160, height: 40 };

/** The logo has a light background in both themes. */
function headOf({ brand }: MailContent): string {
  if (!brand) return 'Deliverability';
  if (!brand.logo) return toHtmlText(brand.name);
  const { width, height } = fitLogo(brand.logo, LOGO_SIZE);
  return `<img src="cid:${brand.logoCid}" alt="" width="${width}" height="${height}" style="vertical-align:middle;padding:4px;border:0;border-radius:4px;background-color:#ffffff">&nbsp; ${toHtmlText(brand.name)}`;
}

const darkAccent = ({ light, dark }: BrandColors): string =>
  `\n@media (prefers-color-scheme:dark){\n.accent{color:${dark}!important}\n.button{background-color:${light}!important}\n}`;

function footerOf(content: MailContent): string {
  const { brand, footer, unsubscribe } = content;
  const lines = [toHtmlText(footer)];
  if (unsubscribe)
    lines.push(
      `<a href="${escapeHtml(unsubscribe.url)}" class="accent" style="color:${accentOf(content)}">${toHtmlText(unsubscribe.label)}</a>`,
    );
  if (brand) lines.push(CHECKED_WITH);
  return lines.join('<br>');
}

// Steps in order, with the DNS records to publish.

interface MailStep {
  /** What is wrong; may be empty. */
  title: string;
  /** What to do. */
  text: string;
  /** What to publish in DNS. */
  record: { type: string; name: string; value: string } | null;
}

interface MailSteps {
  heading: string;
  steps: MailStep[];
}

/** Numbered if there are several. */
function stepsText({ heading, steps }: MailSteps): string {
  const stepTexts = steps.map((step, index) =>
    stepText(step, steps.length > 1 ? `${index + 1}. ` : ''),
  );
  return [wrap(`${heading}:`), ...stepTexts].join('\n\n');
}

function stepText({ title, text, record }: MailStep, number: string): string {
  const indent = ' '.repeat(number.length);
  const instruction = wrap(`${number}${title} ${text}`, indent);
  if (!record) return instruction;
  const recordLines = [
    `${singleLine(record.name)}  ${singleLine(record.type)}`,
    singleLine(record.value),
  ];
  return [instruction, '', ...recordLines.map((line) => `${indent}${line}`)].join('\n');
}

/** A table with a number column: mail clients indent lists differently. */
function stepsHtml({ heading, steps }: MailSteps): string {
  const rows = steps.map(({ title, text, record }, index) => {
    const titleHtml = title === '' ? '' : `<b>${toHtmlText(title)}</b> `;
    const number = `<td valign="top" class="muted" style="padding:12px 12px 0 0;color:${COLORS.muted}">${index + 1}.</td>`;
    return `<tr>${steps.length > 1 ? number : ''}<td valign="top" width="100%" class="ink" style="padding:12px 0 0;color:${COLORS.ink};${BREAK_WORDS}">${titleHtml}${toHtmlText(text)}${record ? recordHtml(record) : ''}</td></tr>`;
  });
  return `${smallHeading(heading)}
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="font-size:14px;line-height:21px">${rows.join('')}</table>`;
}

/** The value has its own line, so that it can be selected and copied. */
function recordHtml({ type, name, value }: NonNullable<MailStep['record']>): string {
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 0"><tr><td class="sunken ink" bgcolor="#f3f3f8" style="padding:8px 12px;border:1px solid #dddee7;border-radius:8px;background-color:#f3f3f8;${MONO};font-size:13px;line-height:20px;color:${COLORS.ink};word-break:break-all">${toHtmlText(name)} <span class="muted" style="color:${COLORS.muted}">${toHtmlText(type)}</span><br>${toHtmlText(value)}</td></tr></table>`;
}

// Styles: fonts, the colors of both themes, and shared elements.

const SANS =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";
/** Long words and addresses must not make the email wider than a phone screen. */
export const BREAK_WORDS = 'overflow-wrap:anywhere;word-break:break-word';

/** Inline colors of the light theme; the class of the same name sets the dark one. */
export const COLORS = {
  ink: '#1b1c26',
  muted: '#585a6b',
  accent: '#4338ca',
  pass: '#0f6b35',
  warn: '#855000',
  fail: '#b3201a',
  unknown: '#585a6b',
} as const;
export type Tone = keyof typeof COLORS;

/**
 * The dark theme. Mail clients that drop style sheets use the inline colors, which stay readable if the
 * client inverts them.
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

export const BORDER_TOP = 'border-top:1px solid #dddee7';
const SMALL = 'font-size:14px;line-height:21px';

/** `margin` in CSS. */
const title = (text: string, margin = '0'): string =>
  `<h1 class="ink" style="margin:${margin};font-size:20px;line-height:28px;font-weight:600;color:${COLORS.ink};${BREAK_WORDS}">${toHtmlText(text)}</h1>`;

export const heading = (text: string): string =>
  `<h2 class="ink" style="margin:32px 0 0;font-size:16px;line-height:24px;font-weight:600;color:${COLORS.ink};${BREAK_WORDS}">${toHtmlText(text)}</h2>`;

/** A heading with less space above. */
const smallHeading = (text: string): string =>
  `<h2 class="ink" style="margin:24px 0 0;font-size:16px;line-height:24px;font-weight:600;color:${COLORS.ink};${BREAK_WORDS}">${toHtmlText(text)}</h2>`;

export const paragraph = (text: string): string =>
  `<p class="ink" style="margin:16px 0 0;color:${COLORS.ink};${BREAK_WORDS}">${toHtmlText(text)}</p>`;

/** A paragraph in small print. */
export const smallParagraph = (text: string): string =>
  `<p class="muted" style="margin:4px 0 0;${SMALL};color:${COLORS.muted};${BREAK_WORDS}">${toHtmlText(text)}</p>`;

function factsTable(facts: [string, string][]): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th scope="row" align="left" valign="top" class="muted line" style="padding:8px 16px 8px 0;${BORDER_TOP};font-weight:normal;color:${COLORS.muted};white-space:nowrap">${toHtmlText(label)}</th><td valign="top" width="100%" class="ink line" style="padding:8px 0;${BORDER_TOP};color:${COLORS.ink};${BREAK_WORDS}">${toHtmlText(value)}</td></tr>`,
  );
  return fullWidthTable(rows.join(''));
}

/** A table of full width; `rows` are HTML. */
export const fullWidthTable = (rows: string): string =>
  `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:16px 0 0;${SMALL}">${rows}</table>`;

/** The kind of notification, shown with a sign, a word and a color. */
interface MailBadge {
  tone: 'fail' | 'pass' | 'unknown';
  word: string;
}

const BADGES: Record<MailBadge['tone'], { sign: string; background: string }> = {
  fail: { sign: '●', background: '#fdeceb' },
  pass: { sign: '✓', background: '#e7f5ec' },
  unknown: { sign: '○', background: '#efeff4' },
};

/** A table cell with `bgcolor`, which every mail client shows. */
function badge({ tone, word }: MailBadge): string {
  const { sign, background } = BADGES[tone];
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td class="badge-${tone}" bgcolor="${background}" style="padding:4px 12px;border-radius:8px;background-color:${background};font-size:14px;line-height:20px;font-weight:600;color:${COLORS[tone]}">${sign}&nbsp;${toHtmlText(word)}</td></tr></table>`;
}

/** A table cell with `bgcolor`, which every mail client shows, and the URL below it. */
function button({ label, url }: Link, color: string): string[] {
  const href = escapeHtml(url);
  return [
    `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:24px 0 0"><tr><td class="button" bgcolor="${color}" style="border-radius:8px;background-color:${color}"><a href="${href}" style="display:inline-block;padding:12px 20px;font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${toHtmlText(label)}</a></td></tr></table>`,
    `<p class="muted" style="margin:24px 0 0;${SMALL};color:${COLORS.muted}">If the button doesn't work, open this link:<br><a href="${href}" class="accent" style="${MONO};color:${color};word-break:break-all">${href}</a></p>`,
  ];
}
