/** The message that tells of an incident in Slack, as its incoming webhooks take it. */

import { printable } from '../lib/log.ts';
import type { Step } from './fixes.ts';
import type { Notice } from './notice.ts';

/** Slack takes 150, and counts a sign outside the first plane twice. */
const HEADER_MAX = 140;
/** Of a text; Slack takes 3,000 and refuses the whole message beyond that. */
const TEXT_MAX = 2900;

interface SlackMessage {
  /** What is shown where blocks are not, as in notifications. */
  text: string;
  blocks: object[];
}

/** A sign and a word: Slack has no colours for text. */
const SIGNS: Record<Notice['kind'], string> = { Alert: '🔴', Resolved: '✅', Sample: '⚪' };

export function slackMessage(notice: Notice): SlackMessage {
  const { kind, title, lead, facts, steps, after, link, rule, incident } = notice;
  const heading = `${SIGNS[kind]} ${kind}: ${plain(title)}`;
  const reference = `Rule ${rule}${incident === null ? '' : ` · incident ${incident}`}`;
  return {
    text: escaped(`${kind}: ${title}. ${lead}`, TEXT_MAX),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(heading, HEADER_MAX) } },
      section(escaped(lead, TEXT_MAX)),
      {
        type: 'section',
        fields: facts.map(([label, value]) => markdown(`*${label}*\n${escaped(value, 300)}`)),
      },
      ...(steps.length === 0 ? [] : [{ type: 'divider' }, section('*What to do*')]),
      ...steps.flatMap((step, index) =>
        stepSections(step, steps.length > 1 ? `${index + 1}. ` : ''),
      ),
      ...(link === null ? [] : [section(`*<${addressOf(link.url)}|${escaped(link.label)}>*`)]),
      ...(after === null ? [] : [context(escaped(after, TEXT_MAX))]),
      context(escaped(reference, TEXT_MAX)),
    ],
  };
}

function stepSections({ title, text, record }: Step, number: string): object[] {
  // A star would end the bold type in the middle.
  const first = title === '' ? '' : `*${escaped(title.replaceAll('*', '∗'), 300, 800)}* `;
  const step = section(`${number}${first}${escaped(text, 800, 2000)}`);
  if (!record) return [step];
  const code = `${coded(`${record.name} ${record.type}`, 800)}\n${coded(record.value, 2000)}`;
  return [step, section(`\`\`\`${code}\`\`\``)];
}

/** As it is copied; what would end the code has no place in a record. */
const coded = (text: string, room: number): string => escaped(text.replaceAll('`', ''), 500, room);

/** `verbatim`: names and subjects are not searched for links and mentions. */
const markdown = (text: string): object => ({ type: 'mrkdwn', text, verbatim: true });
const section = (text: string): object => ({ type: 'section', text: markdown(text) });
const context = (text: string): object => ({ type: 'context', elements: [markdown(text)] });

const plain = (text: string): string => printable(text.replace(/\s+/g, ' ')).trim();

function cut(text: string, most: number): string {
  const all = [...text];
  return all.length <= most ? text : `${all.slice(0, most - 1).join('')}…`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The three signs that mean something to Slack; cut before, so that no entity is. `room`: for all of it. */
function escaped(text: string, most = 200, room = TEXT_MAX): string {
  // Each may become five: what is long is cut so that the whole stays within what Slack takes.
  const short = cut(plain(text), most);
  const whole = short.replace(/[&<>]/g, (sign) => ENTITIES[sign]!);
  return whole.length <= room ? whole : escaped(short, Math.floor(most / 2), room);
}

const addressOf = (url: string): string => new URL(url).href.replaceAll('|', '%7C');
