/** All texts of a document in order: what each renderer must show. */

import { type Block, plainText, type ScoreFigure, type Text } from '../../src/report/blocks.ts';

/**
 * Omits what some media lack: the HTML of frames, the values of charts (tests of charts compare them),
 * text alternatives, and column titles of drawings. It also omits the labels of records, which the terminal
 * shows on one line.
 */
export function leavesOf(blocks: Block[]): string[] {
  return blocks.flatMap(leavesOfBlock).filter((text) => text.trim() !== '');
}

const scoreLeaf = ({ number }: ScoreFigure): string => number;
const textOf = (text: Text | null | undefined): string[] => (text ? [plainText(text)] : []);
const named = (text: string | null | undefined): string[] => (text ? [text] : []);

function leavesOfBlock(block: Block): string[] {
  switch (block.kind) {
    case 'verdict':
      return [
        ...named(block.above),
        scoreLeaf(block.score),
        ...named(block.testedName),
        plainText(block.title),
        ...block.lines.map(plainText),
        ...textOf(block.unknown),
        ...leavesOf(block.states ? [block.states] : []),
        ...(block.categories?.items ?? []).flatMap(({ name, value }) => [name, value]),
        ...leavesOf(block.facts ? [block.facts] : []),
        ...block.remarks.map(plainText),
      ];
    case 'section':
      return [block.title, ...textOf(block.note), ...leavesOf(block.blocks)];
    case 'overview':
      return [...named(block.above), ...leavesOf(block.blocks)];
    case 'part':
      return [plainText(block.title), ...named(block.subtitle), ...leavesOf(block.blocks)];
    case 'heading':
    case 'note':
      return [plainText(block.text)];
    case 'paragraph':
      return block.screenOnly ? [] : [plainText(block.text)];
    case 'findings':
      return block.groups.flatMap(({ title, findings }) => [
        ...named(title),
        ...leavesOf(findings),
      ]);
    case 'finding':
      return [
        ...named(block.gain?.text),
        plainText(block.title),
        ...(block.context ? [block.context.label, block.context.state.word] : []),
        ...leavesOf(block.groups),
      ];
    case 'group':
      return [...named(block.title), ...leavesOf(block.blocks)];
    case 'record':
      return [block.name.value, block.type.value, block.value.value];
    case 'facts':
      return block.rows.flatMap(({ name, value, blocks = [] }) => [
        plainText(name),
        plainText(value),
        ...leavesOf(blocks),
      ]);
    case 'table':
      return [
        ...block.columns.map(({ title }) => title),
        ...block.groups.flatMap(({ title, rows }) => [...named(title), ...rows.flatMap(cellsOf)]),
        ...block.foot.flatMap(cellsOf),
      ];
    case 'bars':
      return [...block.rows.flatMap(({ name, value }) => [name, value]), ...named(block.capNote)];
    case 'states':
      return block.items.flatMap(({ name, state }) => [name, state.word]);
    case 'lines':
      return block.items.flatMap(({ name, text }) => [name, plainText(text)]);
    case 'alignment':
      return [
        ...block.rows.flatMap(({ mechanism, result, domain, noDomainText, alignment, notes }) => [
          mechanism,
          result.word,
          domain ?? noDomainText,
          ...named(alignment?.word),
          notes,
        ]),
        block.outcome.mechanism,
        block.outcome.result.word,
        plainText(block.outcome.domain),
        plainText(block.outcome.below),
      ];
    case 'path':
      return [
        ...block.hops.flatMap(({ server, time, via, delay }) => [
          plainText(server),
          ...textOf(time),
          ...textOf(delay?.value),
          ...textOf(via),
        ]),
        ...leavesOf(block.session ? [block.session] : []),
      ];
    case 'front':
      return leavesOf([block.verdict, ...block.blocks]);
    case 'entries':
      return block.items.flatMap(({ state, label, title, lines, figure, more }) => [
        state.word,
        ...named(label),
        ...named(figure),
        plainText(title),
        ...lines.map(plainText),
        ...(more ? [more.title, ...leavesOf(more.blocks)] : []),
      ]);
    case 'rows':
      return block.items.flatMap(({ title, below, value }) => [value, title, ...named(below)]);
    case 'average':
      return [scoreLeaf(block.score), ...block.lines];
    case 'tiles':
      return block.items.flatMap(({ name, figure, isKnown, below }) => [
        name,
        ...(isKnown ? [figure] : []),
        below,
      ]);
    case 'grades':
      return block.items.map(({ grade, text }) => `${grade} ${text}`);
    case 'list':
      return block.items.flatMap(({ text, blocks = [] }) => [plainText(text), ...leavesOf(blocks)]);
    case 'fold':
      return [block.title, ...named(block.count), ...leavesOf(block.blocks)];
    case 'verbatim':
      return block.lines;
    case 'chart':
      return named(block.title);
    // Only pages have them.
    case 'inbox':
    case 'preview':
    case 'choice':
      return [];
  }
}

const cellsOf = ({ cells }: Extract<Block, { kind: 'table' }>['foot'][number]): string[] =>
  cells.flatMap(({ text, blocks = [], below, meter, score }) => [
    ...(score ? [scoreLeaf(score)] : [plainText(text)]),
    ...leavesOf(blocks),
    ...named(meter?.words),
    ...textOf(below),
  ]);

/** Removes line breaks, indents and icons. */
export const asRead = (text: string): string =>
  text
    .replace(/(?<!\S)[✓!✗i?] /gu, '')
    .replace(/\s+/g, ' ')
    .trim();

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}]+/gu;

/**
 * Also removes spaces, because a PDF may break words anywhere, and sorts the letters of right-to-left words,
 * which poppler returns in visual order.
 */
export const asReadOnPaper = (text: string): string =>
  asRead(text)
    .replaceAll(' ', '')
    .replace(RIGHT_TO_LEFT, (word) => [...word].sort().join(''));
