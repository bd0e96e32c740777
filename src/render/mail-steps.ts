/** What to do, as an e-mail of ours writes it: steps in their order, with the records to publish. */

import { BREAKS, INK, MONO, smallHeading } from './mail-look.ts';
import { plain, shown, wrap } from './mail-text.ts';

/** A thing to do: what is wrong (or nothing), what to do, and what to publish in the DNS for it. */
export interface MailStep {
  title: string;
  text: string;
  record: { type: string; name: string; value: string } | null;
}

export interface MailSteps {
  heading: string;
  steps: MailStep[];
}

/** Numbered where there are several, with what belongs to it below its first letter. */
export function stepsText({ heading, steps }: MailSteps): string {
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
export function stepsHtml({ heading, steps }: MailSteps): string {
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
