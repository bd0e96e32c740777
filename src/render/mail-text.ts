/** The text part of an e-mail: lines that are short, but for what is copied whole. */

import { type MailContent, type MailStep, plain } from './mail-content.ts';

/** Lines of the text part, but for addresses and records, which are never broken. */
const WIDTH = 72;

export function writeText({ badge, title, blocks, button, footer }: MailContent): string {
  return `${[
    wrap(badge ? `${badge.word}: ${title}` : title),
    ...blocks.map((block) => {
      if (typeof block === 'string') return wrap(block);
      if ('steps' in block)
        return [wrap(`${block.heading}:`), ...block.steps.map(stepText(block.steps.length))].join(
          '\n\n',
        );
      return block.facts.map(([label, value]) => wrap(`${label}: ${value}`)).join('\n');
    }),
    ...(button ? [`${wrap(`${button.label}:`)}\n${button.url}`] : []),
    // What follows the text itself is set apart so (RFC 3676 §4.3).
    `-- \n${wrap(footer)}`,
  ].join('\n\n')}\n`;
}

/** Numbered where there are several, with what belongs to it below its first letter. */
const stepText = (count: number) => (step: MailStep, index: number) =>
  numbered(step, count > 1 ? `${index + 1}. ` : '');

function numbered({ title, text, record }: MailStep, number: string): string {
  const indent = ' '.repeat(number.length);
  const said = [title, text].filter((part) => part !== '').join(' ');
  const lines = wrap(said, WIDTH - indent.length).split('\n');
  const published = record
    ? ['', `${plain(record.name)}  ${plain(record.type)}`, plain(record.value)]
    : [];
  return [...lines, ...published]
    .map((line, at) => (line === '' ? '' : `${at === 0 ? number : indent}${line}`))
    .join('\n');
}

function wrap(text: string, width = WIDTH): string {
  const lines: string[] = [];
  let line = '';
  for (const word of plain(text).split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join('\n');
}
