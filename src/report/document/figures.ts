/** Sections and tables of figures in summaries. */

import type { Block, Row, Section, Table } from '../blocks.ts';

/** A table is only for the PDF: an email has rows. */
export type Medium = 'mail' | 'pdf';

export const section = (id: string, title: string, blocks: Block[]): Section => ({
  kind: 'section',
  id,
  title,
  note: null,
  blocks,
});

export const table = (columns: Table['columns'], rows: Row[]): Table => ({
  kind: 'table',
  name: 'figures',
  label: columns.map(({ title }) => title).join(', '),
  columns,
  groups: [{ title: null, rows }],
  foot: [],
});

export const row = (...texts: string[]): Row => ({
  cells: texts.map((text) => ({ text: [text] })),
});
