/** How an e-mail of ours looks: its fonts, the colours of both themes, and the elements that mails share. */

import { escaped, shown } from './mail-text.ts';

export const SANS =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
export const MONO =
  "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";
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
export const DARK = `
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
export const title = (text: string, margin = '0'): string =>
  `<h1 class="ink" style="margin:${margin};font-size:20px;line-height:28px;font-weight:600;color:${INK.ink};${BREAKS}">${shown(text)}</h1>`;

export const heading = (text: string): string =>
  `<h2 class="ink" style="margin:32px 0 0;font-size:16px;line-height:24px;font-weight:600;color:${INK.ink};${BREAKS}">${shown(text)}</h2>`;

/** The same nearer to what stands above. */
export const smallHeading = (text: string): string =>
  `<h2 class="ink" style="margin:24px 0 0;font-size:16px;line-height:24px;font-weight:600;color:${INK.ink};${BREAKS}">${shown(text)}</h2>`;

export const paragraph = (text: string): string =>
  `<p class="ink" style="margin:16px 0 0;color:${INK.ink};${BREAKS}">${shown(text)}</p>`;

/** What is said beside the matter. */
export const note = (text: string): string =>
  `<p class="muted" style="margin:4px 0 0;${SMALL};color:${INK.muted};${BREAKS}">${shown(text)}</p>`;

/** Pairs of a label and its value. */
export function factsTable(facts: [string, string][]): string {
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
export interface MailBadge {
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
export function badge({ tone, word }: MailBadge): string {
  const { sign, behind } = BADGES[tone];
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td class="badge-${tone}" bgcolor="${behind}" style="padding:4px 12px;border-radius:8px;background-color:${behind};font-size:14px;line-height:20px;font-weight:600;color:${INK[tone]}">${sign}&nbsp;${shown(word)}</td></tr></table>`;
}

/** The button is a cell with a colour, which every program shows; its address stands below it for the others. */
export function button({ label, url }: { label: string; url: string }): string[] {
  const href = escaped(url);
  return [
    `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:24px 0 0"><tr><td class="button" bgcolor="#4338ca" style="border-radius:8px;background-color:#4338ca"><a href="${href}" style="display:inline-block;padding:12px 20px;font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${shown(label)}</a></td></tr></table>`,
    `<p class="muted" style="margin:24px 0 0;${SMALL};color:${INK.muted}">If the button does not work, open this address:<br><a href="${href}" class="accent" style="${MONO};color:${INK.accent};word-break:break-all">${href}</a></p>`,
  ];
}
