/** Renders the blocks of a document on pages: one function for each kind. None adds text. */

import {
  type Alignment,
  type Block,
  type CategoryScores,
  type Cell,
  type Entries,
  type Facts,
  type Finding,
  type Group,
  type Overview,
  type Part,
  type Path,
  plainText,
  type Section,
  type StateList,
  type StateSpan,
  type Table,
  type Text,
  type Verdict,
} from '../blocks.ts';
import {
  alignmentFigure,
  alignmentHeight,
  CHART_HEIGHT,
  chartFigure,
  RING_SIZE,
  scoreRing,
} from './figures.ts';
import {
  addOutlineEntry,
  drawLines,
  drawNotice,
  drawPairs,
  drawParagraph,
  drawRecordBox,
  drawRule,
  drawSection,
  drawSubheading,
  drawWithinPageLimit,
  heightOf,
  layOutText,
  recordHeight,
} from './layout.ts';
import type { TextStyle } from './lines.ts';
import type { Sheet } from './sheet.ts';
import { ABOVE, BODY, COLOR, HEADINGS, LABEL, MARKS, SMALL, SMALL_CODE } from './style.ts';
import { drawTable, tableStartHeight } from './table.ts';

/** Renders blocks in order, with spacing that depends on their kinds. Throws for a kind that PDFs do not show. */
export function renderBlocks(sheet: Sheet, blocks: Block[]): void {
  blocks.forEach((block, index) => {
    if (index > 0) sheet.skip(spaceAbove(block));
    paintBlock(sheet, block, blocks.slice(index + 1));
  });
}

function spaceAbove(block: Block): number {
  switch (block.kind) {
    case 'table':
    case 'chart':
    case 'fold':
      return 6;
    case 'paragraph':
      return block.style === 'small' ? 1.5 : 3;
    // These add their own space.
    case 'section':
    case 'heading':
    case 'findings':
      return 0;
    default:
      return 4;
  }
}

/** `following` are the next blocks: a heading is kept on one page with their beginning. */
function paintBlock(sheet: Sheet, block: Block, following: Block[]): void {
  if (!(block.kind in RENDERERS)) throw new Error(`A PDF cannot show ${block.kind}.`);
  RENDERERS[block.kind as PdfKind](sheet, block as never, following);
}

/** Kinds that only terminals, emails and pages use. */
type NotForPdf =
  | 'average'
  | 'bars'
  | 'choice'
  | 'front'
  | 'grades'
  | 'group'
  | 'inbox'
  | 'lines'
  | 'preview'
  | 'rows'
  | 'states'
  | 'tiles';
/** Kinds that occur only in other blocks, which paint them. */
type Nested = 'finding' | 'part';
type PdfKind = Exclude<Block['kind'], NotForPdf | Nested>;

type Renderers = {
  [K in PdfKind]: (sheet: Sheet, block: Extract<Block, { kind: K }>, following: Block[]) => void;
};

const RENDERERS: Renderers = {
  verdict: paintVerdict,
  section: paintSection,
  overview: paintOverview,
  heading(sheet, { rank, text }, following) {
    if (rank === 1) {
      sheet.ensureSpace(heightOf(sheet, text, HEADINGS[1]) + startHeight(sheet, following));
      drawParagraph(sheet, text, HEADINGS[1], 'H1');
    } else drawSubheading(sheet, text, startHeight(sheet, following), rank === 4 ? 4 : 3);
  },
  paragraph(sheet, { text, style = 'card', screenOnly }) {
    if (!screenOnly) drawParagraph(sheet, text, PARAGRAPHS[style]);
  },
  note: (sheet, { state, text }) =>
    drawNotice(sheet, text, MARKS[state].color, state === 'fail' ? COLOR.failTint : COLOR.tint),
  findings(sheet, { groups }) {
    for (const { title, findings } of groups) {
      if (title !== null) drawSubheading(sheet, [title], findingsHeight(sheet, findings));
      for (const finding of findings) paintFinding(sheet, finding);
    }
  },
  record: drawRecordBox,
  facts: paintFacts,
  table: paintTable,
  entries: (sheet, block) => paintTable(sheet, entriesTable(block)),
  alignment(sheet, block) {
    alignmentFigure(sheet, block);
    if (block.alt !== null) sheet.skip(8);
    paintTable(sheet, alignmentTable(block));
  },
  path(sheet, block) {
    paintTable(sheet, pathTable(block));
    sheet.skip(8);
    if (block.session) paintFacts(sheet, block.session);
  },
  fold(sheet, { title, state, count, blocks }) {
    const label = count === null ? title : `${title}  ${count}`;
    paintLabeled(sheet, [state === null ? label : { kind: 'state', state, word: label }], blocks);
  },
  verbatim(sheet, { lines }) {
    for (const line of lines) drawParagraph(sheet, [line], SMALL_CODE);
  },
  chart(sheet, { chart, title, caption }) {
    sheet.ensureSpace(HEADINGS[4].leading + CHART_HEIGHT);
    if (title !== null) drawParagraph(sheet, [title], HEADINGS[4]);
    chartFigure(sheet, chart);
    if (caption !== null) drawParagraph(sheet, [caption], SMALL);
  },
  list(sheet, { isOrdered, items }) {
    items.forEach(({ text, blocks = [] }, index) => {
      drawParagraph(sheet, [isOrdered ? `${index + 1}. ` : '• ', ...text]);
      sheet.inset(12, () => renderBlocks(sheet, blocks));
    });
  },
};

const PARAGRAPHS: Record<'small' | 'card' | 'lead', TextStyle> = {
  small: SMALL,
  card: BODY,
  lead: HEADINGS[3],
};

function paintVerdict(sheet: Sheet, block: Verdict): void {
  const { above, score, testedName, title, lines, states, facts, unknown, remarks, contents } =
    block;
  const { categories } = block;
  // The ring is never split, and a heading is kept with the text below it.
  sheet.ensureSpace(RING_SIZE + (above === null ? 0 : ABOVE.leading + 8));
  if (contents) addOutlineEntry(sheet, contents);
  if (above !== null) {
    drawParagraph(sheet, [above], { ...ABOVE, color: sheet.accent });
    sheet.y += 8;
  }
  const top = sheet.y;
  const firstPage = sheet.doc.page;
  scoreRing(sheet, score);
  sheet.inset(RING_SIZE + 26, () => {
    if (testedName !== null) drawParagraph(sheet, [testedName], SMALL);
    drawParagraph(sheet, title, HEADINGS[1], 'H1');
    sheet.y += 3;
    if (unknown) drawParagraph(sheet, unknown, SMALL);
    sheet.y += 3;
    for (const text of lines) drawParagraph(sheet, text);
    sheet.y += 2;
    if (states) drawParagraph(sheet, statesText(states));
    if (categories) drawParagraph(sheet, categoriesText(categories));
    sheet.y += 4;
    if (facts) drawPairs(sheet, facts.rows, { ...BODY, size: 7.5, leading: 10.5 });
    for (const text of remarks) drawParagraph(sheet, text, SMALL);
  });
  if (sheet.doc.page === firstPage) sheet.y = Math.max(sheet.y, top + RING_SIZE);
}

const statesText = ({ items }: StateList): Text =>
  items.flatMap(({ name, state }, index) => [`${index === 0 ? '' : '     '}${name} `, state]);

const CATEGORIES_PER_LINE = 3;

const categoriesText = ({ items }: CategoryScores): Text =>
  items.flatMap(({ name, state, value }, index) => [
    index === 0 ? '' : index % CATEGORIES_PER_LINE === 0 ? '\n' : '     ',
    `${name} `.replaceAll(' ', NO_BREAK_SPACE),
    { kind: 'state', state, word: value.replaceAll(' ', NO_BREAK_SPACE) } as const,
  ]);

const NO_BREAK_SPACE = '\u00a0';

function paintSection(sheet: Sheet, { title, note, blocks }: Section): void {
  const followingHeight = (note ? heightOf(sheet, note, BODY) : 0) + startHeight(sheet, blocks);
  drawSection(sheet, title, followingHeight, () => {
    if (note) {
      drawParagraph(sheet, note);
      sheet.y += 6;
    }
    renderBlocks(sheet, blocks);
  });
}

function paintOverview(sheet: Sheet, { title, above, blocks }: Overview): void {
  if (title !== null) addOutlineEntry(sheet, title);
  if (above !== null) {
    drawParagraph(sheet, [above], { ...ABOVE, color: sheet.accent });
    sheet.y += 8;
  }
  renderBlocks(sheet, blocks);
  sheet.skip(14);
}

/** The width of the column left of a finding, with its gain and the titles of its groups. */
const GAIN_WIDTH = 70;
/** The least height that stays together at the beginning of a finding. */
const FINDING_START = 60;
const FINDING_GAP = 9;

/** The height that stays together at the beginning of a finding. */
function findingHeight(
  sheet: Sheet,
  { title, context, groups }: Pick<Finding, 'title' | 'context' | 'groups'>,
): number {
  const heading = heightOf(sheet, title, HEADINGS[3]) + (context ? SMALL.leading : 0);
  return Math.max(FINDING_START, heading + 2 + startHeight(sheet, groups[0]?.blocks ?? []));
}

function findingsHeight(sheet: Sheet, [first]: Finding[]): number {
  let height = 0;
  if (first)
    sheet.inset(GAIN_WIDTH, () => {
      height = FINDING_GAP + findingHeight(sheet, first);
    });
  return height;
}

function paintFinding(sheet: Sheet, { gain, state, title, context, groups }: Finding): void {
  sheet.skip(FINDING_GAP);
  sheet.inset(GAIN_WIDTH, () => {
    sheet.ensureSpace(findingHeight(sheet, { title, context, groups }));
  });
  const { icon, color } = MARKS[state];
  const { leading } = HEADINGS[3];
  sheet.element('Sect', () => {
    const hasGain = gain === null || gain.points > 0;
    const style = hasGain
      ? ({ size: 12, leading, face: 'bold', color } as const)
      : { ...SMALL, leading: leading / 2 + 2 };
    const marker = layOutText(sheet, [gain?.text ?? icon], GAIN_WIDTH, style);
    sheet.element('P', () => drawLines(sheet, marker, sheet.left, sheet.y));
    sheet.inset(GAIN_WIDTH, () => {
      drawParagraph(sheet, title, HEADINGS[3], 'H3');
      if (context) {
        const checkInfo = ` · ${context.label} · ${context.category}`;
        drawParagraph(sheet, [context.state, checkInfo], SMALL);
      }
      for (const group of groups) paintGroup(sheet, group);
    });
  });
}

/** The title is beside the group, in the column of the gain. */
function paintGroup(sheet: Sheet, { title, blocks }: Group): void {
  sheet.skip(2);
  sheet.ensureSpace(startHeight(sheet, blocks));
  if (title !== null) {
    const label = layOutText(sheet, [title], GAIN_WIDTH - 4, LABEL);
    sheet.element('P', () => drawLines(sheet, label, sheet.left - GAIN_WIDTH, sheet.y));
  }
  renderBlocks(sheet, blocks);
}

function paintLabeled(sheet: Sheet, label: Text, blocks: Block[]): void {
  sheet.skip(5);
  sheet.ensureSpace(LABEL.leading + startHeight(sheet, blocks));
  drawParagraph(sheet, label, LABEL);
  renderBlocks(sheet, blocks);
}

function paintFacts(sheet: Sheet, { rows, style }: Facts): void {
  drawPairs(sheet, rows, style === undefined ? BODY : SMALL, ({ blocks = [] }) =>
    renderBlocks(sheet, blocks),
  );
}

function paintTable(sheet: Sheet, block: Table): void {
  drawTable(sheet, block, (blocks) => renderBlocks(sheet, blocks));
}

/** The height in points that a page must have left for these blocks to begin on it. */
function startHeight(sheet: Sheet, [block, ...following]: Block[]): number {
  switch (block?.kind) {
    case undefined:
      return 0;
    case 'paragraph': {
      const height = heightOf(sheet, block.text, PARAGRAPHS[block.style ?? 'card']);
      // A fix stays with its record, and a short paragraph with the block that it introduces.
      const isKeptWithNext = following[0]?.kind === 'record' || height <= 2 * BODY.leading;
      return isKeptWithNext ? height + 6 + startHeight(sheet, following) : 2 * BODY.leading;
    }
    case 'record':
      return recordHeight(sheet, block);
    case 'heading':
      return HEADINGS[3].leading + 13 + startHeight(sheet, following);
    case 'fold':
      return HEADINGS[3].leading + 13 + startHeight(sheet, block.blocks);
    case 'note':
      return heightOf(sheet, block.text, BODY) + 14 + startHeight(sheet, following);
    case 'table':
      return tableStartHeight(sheet, block);
    case 'entries':
      return tableStartHeight(sheet, entriesTable(block));
    case 'path':
      return tableStartHeight(sheet, pathTable(block));
    case 'alignment':
      return alignmentHeight(block) || tableStartHeight(sheet, alignmentTable(block));
    case 'chart':
      return HEADINGS[4].leading + CHART_HEIGHT;
    case 'findings': {
      const [group] = block.groups;
      const title = group?.title ? HEADINGS[3].leading + 10 : 0;
      return group ? title + findingsHeight(sheet, group.findings) : 0;
    }
    default:
      return 3 * BODY.leading;
  }
}

// Blocks that are drawn as tables.

const table = (label: string, columns: Table['columns'], rows: Table['foot']): Table => ({
  kind: 'table',
  name: 'plain',
  label,
  columns,
  groups: [{ title: null, rows }],
  foot: [],
});

/** The table has no head if the block has no column titles. */
function entriesTable({ columns, items, isCompact = false }: Entries): Table {
  const rows = items.map(({ state, label, title, lines, figure, more }) => {
    const firstCell = entryCell(state, label, isCompact && lines.length === 0);
    const below = lines.flatMap((line, index): Text => (index === 0 ? line : ['\n', ...line]));
    const blocks: Block[] = more ? [{ kind: 'fold', ...FOLD, ...more }] : [];
    const cells = [firstCell, { text: title, ...(lines.length > 0 ? { below } : {}), blocks }];
    return { cells: columns ? [...cells, { text: [figure ?? ''] }] : cells };
  });
  if (columns === null)
    return table(
      '',
      [
        { title: '', share: 16 },
        { title: '', share: 84 },
      ],
      rows,
    );
  const [first, second, third] = isCompact ? [25, 65, 10] : [29, 59, 12];
  return {
    ...table(
      columns.label,
      [
        { title: columns.label, share: first, style: 'small' },
        { title: columns.text, share: second, style: isCompact ? 'small' : undefined },
        { title: columns.figure, share: third, isNumber: true, style: 'small' },
      ],
      rows,
    ),
    name: isCompact ? 'checks' : 'plain',
  };
}

/** On one line, the icon stands for the word of the state. */
function entryCell(state: StateSpan, label: string | null, isOneLine: boolean): Cell {
  if (label === null) return { text: [state] };
  if (isOneLine) return { text: [{ ...state, word: label }] };
  return { text: [label], below: [state] };
}

const FOLD = { state: null, count: null, open: true, style: 'plain' } as const;

function alignmentTable({ columns, rows, outcome }: Alignment): Table {
  return table(
    columns.lane,
    [
      { title: columns.mechanism, share: 13 },
      { title: columns.result, share: 18 },
      { title: columns.domain, share: 45 },
      { title: columns.alignment, share: 24 },
    ],
    [
      ...rows.map(({ mechanism, result, domain, noDomainText, alignment, notes }) => ({
        cells: [
          { text: [mechanism] },
          { text: [result] },
          { text: [domain ?? noDomainText], ...(notes === '' ? {} : { below: [notes] }) },
          { text: [alignment ?? '–'] },
        ],
      })),
      {
        cells: [
          { text: [outcome.mechanism] },
          { text: [outcome.result] },
          { text: outcome.domain, below: outcome.below },
        ],
      },
    ],
  );
}

function pathTable({ columns, hops }: Path): Table {
  return table(
    columns.server,
    [
      { title: columns.server, share: 50 },
      { title: columns.time, share: 30 },
      { title: columns.delay, share: 20, isNumber: true },
    ],
    hops.map(({ server, time, via, delay }) => ({
      cells: [
        { text: server, ...(via ? { below: via } : {}) },
        { text: time ?? ['–'] },
        { text: delay?.value ?? ['–'] },
      ],
    })),
  );
}

/** The space that a report needs on the page on which another one ends: its verdict and first findings. */
const PART_START = 250;
const PART_SEPARATION = 32;

/** Renders a whole report, on a new page unless enough of the current one is free. Its sections are below it in the outline and in heading rank. */
export function renderPart(
  sheet: Sheet,
  { id, title, blocks }: Part,
  pages: number,
  truncationNote: string,
): void {
  if (!sheet.startPart(pages, PART_SEPARATION + PART_START)) {
    sheet.y += PART_SEPARATION / 2;
    sheet.artifact(() => drawRule(sheet, sheet.y, COLOR.muted, 1.2));
    sheet.y += PART_SEPARATION / 2;
  }
  const { outline, depth } = sheet;
  sheet.outline = addOutlineEntry(sheet, plainText(title));
  sheet.depth = depth + 1;
  sheet.doc.addNamedDestination(id, 'XYZ', sheet.left, sheet.y - 6, null as never);
  sheet.element('Sect', () =>
    drawWithinPageLimit(sheet, () => renderBlocks(sheet, blocks), truncationNote),
  );
  Object.assign(sheet, { outline, depth });
}
