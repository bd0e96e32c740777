/** The frame of every e-mail that the service sends: a written text part, and HTML that needs nothing from outside. */

import {
  BREAKS,
  badge,
  button,
  DARK,
  factsTable,
  INK,
  type MailBadge,
  paragraph,
  SANS,
  title,
} from './mail-look.ts';
import { type MailSteps, stepsHtml, stepsText } from './mail-steps.ts';
import { escaped, shown, wrap } from './mail-text.ts';

/** A paragraph, facts as pairs of a label and its value, what to do, or what has been made for both parts already. */
export type MailBlock =
  | string
  | { facts: [label: string, value: string][] }
  | MailSteps
  | MadeBlock;

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
