/** SPF, each DKIM signature and DMARC: the result, the domain that it speaks for, and whether that is yours. */

import { authenticationOf, type Identifier } from '../content.ts';
import type { Report } from '../report.ts';
import { BODY, type Cell, CODE, drawBlock, paragraph, SMALL, section, table } from './blocks.ts';
import { layOut, type Text, widthOf } from './lines.ts';
import type { Sheet } from './sheet.ts';
import { authMark, COLOR, MARKS, mark, type State, shown } from './style.ts';

export function authenticationSection(sheet: Sheet, report: Report): void {
  const { fromDomain, identifiers, dmarc, ignored } = authenticationOf(report);
  section(sheet, 'Authentication', () => {
    paragraph(
      sheet,
      'DMARC passes where SPF or a DKIM signature passes for a domain that belongs to the one in From: that is alignment.',
    );
    sheet.y += 8;
    alignmentFigure(sheet, fromDomain, identifiers);
    const outcome: Cell[] = [
      'DMARC',
      authMark(dmarc.result),
      told(fromDomain ?? 'From names no one domain', [
        ...(dmarc.policy ? [`policy ${dmarc.policy}`] : []),
        dmarc.record ? `record ${dmarc.record}` : 'no record',
        ...(dmarc.at ? [`at ${dmarc.at}`] : []),
      ]),
      '',
    ];
    table(
      sheet,
      [
        { title: 'Mechanism', share: 13 },
        { title: 'Result', share: 18 },
        { title: 'Domain', share: 45 },
        { title: 'With the From domain', share: 24 },
      ],
      [...identifiers.map(identifierRow), outcome],
    );
    if (ignored === 0) return;
    sheet.y += 4;
    paragraph(sheet, `${ignored} more DKIM signatures were not looked at.`, { style: SMALL });
  });
}

function identifierRow(identifier: Identifier): Cell[] {
  const { mechanism, result, domain, notes } = identifier;
  const { state, word } = joint(identifier);
  return [
    mechanism,
    authMark(result),
    told(domain ?? 'no domain', notes),
    domain === null ? '–' : mark(state, word),
  ];
}

const told = (value: string, notes: string[]): Cell => ({
  parts: [
    { text: shown(value, 255), style: BODY },
    ...(notes.length > 0 ? [{ text: shown(notes.join(' · '), 500), style: SMALL }] : []),
  ],
});

// Alignment drawn: the From domain, and how each domain that was authenticated stands to it.

const MAX_ROWS = 5;
const ROW = 44;
const CHIP = { width: 158, height: 34, padding: 7 };
/** Where a line leaves the From domain upwards or downwards. */
const STEM = 14;

/** A domain that was not authenticated counts for nothing, aligned or not. */
function joint({ aligned, result }: Identifier): { state: State; word: string } {
  if (aligned === null) return { state: 'unknown', word: 'not compared' };
  if (!aligned) return { state: 'fail', word: 'not aligned' };
  return result === 'pass'
    ? { state: 'pass', word: 'aligned' }
    : { state: 'unknown', word: 'aligned, not authenticated' };
}

function alignmentFigure(sheet: Sheet, fromDomain: string | null, identifiers: Identifier[]): void {
  const drawn = identifiers.filter(({ domain }) => domain !== null).slice(0, MAX_ROWS);
  if (fromDomain === null || drawn.length === 0) return;
  const height = drawn.length * ROW;
  sheet.need(height + 8);
  const top = sheet.y;
  const draw = () => {
    const middle = top + height / 2;
    chip(sheet, sheet.left, middle, 'From', fromDomain);
    drawn.forEach((identifier, index) => {
      const y = top + (index + 0.5) * ROW;
      const label = [{ text: `${identifier.mechanism} ` }, ...authMark(identifier.result)];
      connection(sheet, identifier, middle, y);
      chip(sheet, sheet.left + sheet.width - CHIP.width, y, label, identifier.domain!);
    });
  };
  const alt = shown(drawn.map((identifier) => sentence(identifier, fromDomain)).join(' '), 1000);
  const bbox = [sheet.left, top, sheet.left + sheet.width, top + height];
  sheet.element('Figure', draw, { alt, bbox });
  sheet.y += height + 8;
}

function sentence(identifier: Identifier, from: string): string {
  const { mechanism, result, domain } = identifier;
  return `${mechanism} ${result ?? 'not asked'} for ${domain}, with ${from}: ${joint(identifier).word}.`;
}

/** A domain with a word above it, centred on `y`. */
function chip(sheet: Sheet, x: number, y: number, label: Text, domain: string): void {
  const { width, height, padding } = CHIP;
  const top = y - height / 2;
  sheet.artifact(({ doc }) =>
    doc.lineWidth(0.6).roundedRect(x, top, width, height, 4).fillAndStroke(COLOR.tint, COLOR.line),
  );
  const room = width - 2 * padding;
  drawBlock(sheet, layOut(label, room, SMALL, sheet.fonts), x + padding, top + 5);
  drawBlock(sheet, endOf(sheet, domain, room), x + padding, top + 16);
}

/** As much of a name as one line has room for: of a long one its end, which tells whose it is. */
function endOf({ fonts }: Sheet, domain: string, room: number) {
  const most = Math.floor(room / (fonts.width('mono', '0')! * CODE.size));
  const chars = [...shown(domain, 255)];
  const text = chars.length > most ? `…${chars.slice(1 - most).join('')}` : chars.join('');
  const block = layOut(text, room, CODE, fonts);
  return { ...block, lines: block.lines.slice(0, 1) };
}

/** Whole where it counts, broken where it does not. */
function connection(sheet: Sheet, identifier: Identifier, from: number, to: number): void {
  const [start, end] = [sheet.left + CHIP.width, sheet.left + sheet.width - CHIP.width];
  const { state, word } = joint(identifier);
  sheet.artifact(({ doc }) => {
    doc.save().lineWidth(1.2).strokeColor(MARKS[state].color);
    if (state !== 'pass') doc.dash(3, { space: 3 });
    doc.moveTo(start, from).lineTo(start + STEM, from);
    doc
      .lineTo(start + STEM, to)
      .lineTo(end, to)
      .stroke();
    doc.restore();
  });
  const block = layOut(mark(state, word), end - start - STEM, SMALL, sheet.fonts);
  const x = (start + STEM + end - widthOf(block.lines[0]!)) / 2;
  drawBlock(sheet, block, x, to - SMALL.leading - 1);
}
