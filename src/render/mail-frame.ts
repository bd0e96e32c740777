/** The frame of every e-mail that the service sends: a written text part, and HTML that needs nothing from outside. */

import { printable } from '../lib/log.ts';

/** A paragraph, or facts as pairs of a label and its value. */
type MailBlock = string | { facts: [label: string, value: string][] };

export interface MailContent {
  /** The heading: what has happened, or what is to be done. */
  title: string;
  /** What mail programs show beside the subject; no repetition of it. */
  preheader: string;
  /** Plain text: whatever it holds is escaped. */
  blocks: MailBlock[];
  /** The one thing to do; `url` is http or https. */
  button?: { label: string; url: string };
  /** Why somebody gets this mail. */
  footer: string;
}

/** One line of visible characters: names and subjects come from strangers. */
const plain = (text: string): string => printable(text.replace(/\s+/g, ' ')).trim();

/** Lines of the text part, but for addresses, which are never broken. */
const WIDTH = 72;

/** Both parts say the same. The text part is written out of the same words, never stripped from the HTML. */
export function mailFrame(content: MailContent): { text: string; html: string } {
  const { button, ...rest } = content;
  // Written out as browsers do it: a line end in it would end it.
  const written = button && { label: button.label, url: new URL(button.url).href };
  return {
    text: writeText({ ...rest, button: written }),
    html: writeHtml({ ...rest, button: written }),
  };
}

function writeText({ title, blocks, button, footer }: MailContent): string {
  return `${[
    wrap(title),
    ...blocks.map((block) =>
      typeof block === 'string'
        ? wrap(block)
        : block.facts.map(([label, value]) => wrap(`${label}: ${value}`)).join('\n'),
    ),
    ...(button ? [`${wrap(`${button.label}:`)}\n${button.url}`] : []),
    // What follows the text itself is set apart so (RFC 3676 §4.3).
    `-- \n${wrap(footer)}`,
  ].join('\n\n')}\n`;
}

function wrap(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of plain(text).split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join('\n');
}

const SANS =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";
/** Long words and addresses must not widen the page of a phone. */
const BREAKS = 'overflow-wrap:anywhere;word-break:break-word';

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
.muted{color:#a6a9ba!important}
.accent{color:#aab4ff!important}
.line{border-color:#2e303b!important}
.button{background-color:#5a50e6!important}
}`;

function writeHtml({ title, preheader, blocks, button, footer }: MailContent): string {
  const parts = [
    `<h1 class="ink" style="margin:0;font-size:20px;line-height:28px;font-weight:600;color:#1b1c26;${BREAKS}">${shown(title)}</h1>`,
    ...blocks.map((block) => (typeof block === 'string' ? paragraph(block) : table(block.facts))),
    ...(button ? buttonOf(button) : []),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${shown(title)}</title>
<style>${DARK}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#f6f6f9">
<div style="display:none;max-height:0;overflow:hidden">${shown(preheader)}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f6f6f9">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px;${SANS}">
<tr><td class="accent" style="padding:0 4px 12px;font-size:16px;line-height:24px;font-weight:600;color:#4338ca">Deliverability</td></tr>
<tr><td class="card" style="padding:32px;border:1px solid #dddee7;border-radius:8px;background-color:#ffffff;font-size:16px;line-height:24px">
${parts.join('\n')}
</td></tr>
<tr><td class="muted" style="padding:12px 4px 0;font-size:14px;line-height:21px;color:#585a6b;${BREAKS}">${shown(footer)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

const paragraph = (text: string): string =>
  `<p class="ink" style="margin:16px 0 0;color:#1b1c26;${BREAKS}">${shown(text)}</p>`;

function table(facts: [string, string][]): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th scope="row" align="left" valign="top" class="muted line" style="padding:8px 16px 8px 0;border-top:1px solid #dddee7;font-weight:normal;color:#585a6b;white-space:nowrap">${shown(label)}</th><td valign="top" class="ink line" style="padding:8px 0;border-top:1px solid #dddee7;color:#1b1c26;${BREAKS}">${shown(value)}</td></tr>`,
  );
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:16px 0 0;font-size:14px;line-height:21px">${rows.join('')}</table>`;
}

/** The button is a cell with a colour, which every program shows; its address stands below it for the others. */
function buttonOf({ label, url }: { label: string; url: string }): string[] {
  const href = escaped(url);
  return [
    `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:24px 0 0"><tr><td class="button" bgcolor="#4338ca" style="border-radius:8px;background-color:#4338ca"><a href="${href}" style="display:inline-block;padding:12px 20px;font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${shown(label)}</a></td></tr></table>`,
    `<p class="muted" style="margin:24px 0 0;font-size:14px;line-height:21px;color:#585a6b">If the button does not work, open this address:<br><a href="${href}" class="accent" style="${MONO};color:#4338ca;word-break:break-all">${href}</a></p>`,
  ];
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char]!);
const shown = (text: string): string => escaped(plain(text));
