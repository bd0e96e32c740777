/** The message that tells of an incident in Slack, as its incoming webhooks take it. */

import { printable } from '../lib/log.ts';
import type { Notice } from './notice.ts';

const HEADER_MAX = 150;
/** Of a text; Slack takes 3,000 and refuses the whole message beyond that. */
const TEXT_MAX = 2900;

interface SlackMessage {
  /** What is shown where blocks are not, as in notifications. */
  text: string;
  blocks: object[];
}

export function slackMessage({ title, paragraphs, facts, fixes, link }: Notice): SlackMessage {
  const [first = '', ...others] = paragraphs;
  return {
    text: escaped(`${title}: ${first}`, TEXT_MAX),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(plain(title), HEADER_MAX) } },
      section(escaped(first, TEXT_MAX)),
      {
        type: 'section',
        fields: facts.map(([label, value]) => markdown(`*${label}*\n${escaped(value, 300)}`)),
      },
      ...(fixes.length === 0 ? [] : [section('*What to do*')]),
      ...fixes.map((fix, i) => section(`${i + 1}. ${escaped(fix, 800)}`)),
      ...(others.length === 0 ? [] : [section(escaped(others.join(' '), TEXT_MAX))]),
      ...(link === null ? [] : [section(`<${addressOf(link.url)}|${escaped(link.label)}>`)]),
    ],
  };
}

/** `verbatim`: names and subjects are not searched for links and mentions. */
const markdown = (text: string): object => ({ type: 'mrkdwn', text, verbatim: true });
const section = (text: string): object => ({ type: 'section', text: markdown(text) });

const plain = (text: string): string => printable(text.replace(/\s+/g, ' ')).trim();

function cut(text: string, most: number): string {
  const all = [...text];
  return all.length <= most ? text : `${all.slice(0, most - 1).join('')}…`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The three signs that mean something to Slack; cut before, so that no entity is. */
function escaped(text: string, most = 200): string {
  // Each may become five: what is long is cut so that the whole stays within what Slack takes.
  const short = cut(plain(text), most);
  const whole = short.replace(/[&<>]/g, (sign) => ENTITIES[sign]!);
  return whole.length <= TEXT_MAX ? whole : escaped(short, Math.floor(most / 2));
}

const addressOf = (url: string): string => new URL(url).href.replaceAll('|', '%7C');
