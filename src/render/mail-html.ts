/** The HTML part of an e-mail: tables and inline styles, as Gmail, Outlook and Apple Mail all show them. */

import { type MailContent, type MailStep, plain } from './mail-content.ts';

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
.fail{background-color:#351918!important;color:#ff9d95!important}
.pass{background-color:#14291d!important;color:#74d99b!important}
.unknown{background-color:#22242d!important;color:#a6a9ba!important}
.sunken{background-color:#101117!important;border-color:#2e303b!important}
}`;

export function writeHtml({
  badge,
  title,
  preheader,
  blocks,
  button,
  footer,
}: MailContent): string {
  const parts = [
    ...(badge ? [badgeOf(badge)] : []),
    `<h1 class="ink" style="margin:${badge ? '12px 0 0' : '0'};font-size:20px;line-height:28px;font-weight:600;color:#1b1c26;${BREAKS}">${shown(title)}</h1>`,
    ...blocks.map((block) => {
      if (typeof block === 'string') return paragraph(block);
      return 'steps' in block ? stepsHtml(block) : table(block.facts);
    }),
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

/** As the report has them: the soft colour behind, the strong one for the words. */
const TONES = {
  fail: { sign: '●', ink: '#b3201a', behind: '#fdeceb' },
  pass: { sign: '✓', ink: '#0f6b35', behind: '#e7f5ec' },
  unknown: { sign: '○', ink: '#585a6b', behind: '#efeff4' },
};

/** A cell with a colour, which every program shows. */
function badgeOf({ tone, word }: NonNullable<MailContent['badge']>): string {
  const { sign, ink, behind } = TONES[tone];
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td class="${tone}" bgcolor="${behind}" style="padding:4px 12px;border-radius:8px;background-color:${behind};font-size:14px;line-height:20px;font-weight:600;color:${ink}">${sign}&nbsp;${shown(word)}</td></tr></table>`;
}

const paragraph = (text: string): string =>
  `<p class="ink" style="margin:16px 0 0;color:#1b1c26;${BREAKS}">${shown(text)}</p>`;

function table(facts: [string, string][]): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th scope="row" align="left" valign="top" class="muted line" style="padding:8px 16px 8px 0;border-top:1px solid #dddee7;font-weight:normal;color:#585a6b;white-space:nowrap">${shown(label)}</th><td valign="top" width="100%" class="ink line" style="padding:8px 0;border-top:1px solid #dddee7;color:#1b1c26;${BREAKS}">${shown(value)}</td></tr>`,
  );
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:16px 0 0;font-size:14px;line-height:21px">${rows.join('')}</table>`;
}

/** Numbers in a column of their own: lists are indented differently by each program. */
function stepsHtml({ heading, steps }: { heading: string; steps: MailStep[] }): string {
  const rows = steps.map(({ title, text, record }, index) => {
    const first = title === '' ? '' : `<b>${shown(title)}</b> `;
    const number = `<td valign="top" class="muted" style="padding:12px 12px 0 0;color:#585a6b">${index + 1}.</td>`;
    return `<tr>${steps.length > 1 ? number : ''}<td valign="top" width="100%" class="ink" style="padding:12px 0 0;color:#1b1c26;${BREAKS}">${first}${shown(text)}${record ? recordOf(record) : ''}</td></tr>`;
  });
  return `<h2 class="ink" style="margin:24px 0 0;font-size:16px;line-height:24px;font-weight:600;color:#1b1c26;${BREAKS}">${shown(heading)}</h2>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="font-size:14px;line-height:21px">${rows.join('')}</table>`;
}

/** Its value in a line of its own, so that it can be marked and copied. */
function recordOf({ type, name, value }: NonNullable<MailStep['record']>): string {
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 0"><tr><td class="sunken ink" bgcolor="#f3f3f8" style="padding:8px 12px;border:1px solid #dddee7;border-radius:8px;background-color:#f3f3f8;${MONO};font-size:13px;line-height:20px;color:#1b1c26;word-break:break-all">${shown(name)} <span class="muted" style="color:#585a6b">${shown(type)}</span><br>${shown(value)}</td></tr></table>`;
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
