/** What to put right, the greatest gain first: evidence, reason, rule, and what to change. */

import type { Fix } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { toFix } from '../../analysis/summary.ts';
import type { Report } from '../report.ts';
import { capSentence, categoryName, formatPoints, STATUS_WORDS } from '../report-words.ts';
import { BODY, CODE, notice, pairs, paragraph, SMALL, section } from './blocks.ts';
import { drawBlock } from './draw-lines.ts';
import { evidenceRows } from './evidence.ts';
import { layOut, type Text } from './lines.ts';
import { COLOR, MARKS, stateOf, TYPE } from './look.ts';
import { drawRecord, layOutRecord } from './record-box.ts';
import { ruleText } from './rule-text.ts';
import type { Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { mark } from './states.ts';

/** Room for the gain, left of a finding. */
const GUTTER = 52;
const LABEL = { ...SMALL, face: 'bold' } as const;

export function fixesSection(sheet: Sheet, { checks, cap, score }: Report): void {
  section(sheet, 'Fix these first', () => {
    const fixes = toFix(checks);
    if (fixes.length === 0)
      paragraph(
        sheet,
        score === null
          ? 'In what could be checked there is nothing to fix.'
          : mark('pass', 'There is nothing to fix.'),
      );
    else if (cap && score !== null) {
      const text = `${capSentence(cap)} (${cap.reference})`;
      notice(sheet, shown(text, 600), COLOR.fail, COLOR.failTint);
    }
    for (const check of fixes) finding(sheet, check);
  });
}

function finding(sheet: Sheet, check: CheckResult): void {
  sheet.skip(16);
  sheet.need(90);
  sheet.element('Sect', () => {
    gain(sheet, check);
    const title = { ...TYPE.sub, face: 'bold', color: COLOR.ink } as const;
    paragraph(sheet, shown(check.title, 400), { indent: GUTTER, tag: 'H3', style: title });
    const { color } = MARKS[stateOf(check.status)];
    const where = ` · ${shown(check.label, 80)} · ${categoryName(check.category)}`;
    const state = { text: STATUS_WORDS[check.status], face: 'bold', color } as const;
    paragraph(sheet, [state, { text: where }], { indent: GUTTER, style: SMALL });
    evidence(sheet, check);
    labelled(sheet, 'Why it matters', shown(check.detail, 1200));
    const rule = [{ text: 'Rule: ' }, ...ruleText(check.reference)];
    paragraph(sheet, rule, { indent: GUTTER, style: SMALL });
    if (check.fix) remedy(sheet, check.fix);
  });
}

/** What to change, on one page with the record to publish. */
function remedy(sheet: Sheet, { text, record }: Fix): void {
  const told = shown(text, 1500);
  const box = record && layOutRecord(sheet, record, GUTTER);
  if (box) {
    const { height } = layOut(told, sheet.width - GUTTER, BODY, sheet.fonts);
    sheet.need(SMALL.leading + height + box.height + 12);
  }
  labelled(sheet, 'What to change', told);
  if (!box) return;
  sheet.y += 6;
  drawRecord(sheet, box, GUTTER);
}

/** By how much the score rises, in the gutter; a mark where it would not. */
function gain(sheet: Sheet, { gain: points, status }: CheckResult): void {
  const { icon, color } = MARKS[stateOf(status)];
  const text = points > 0 ? `+${formatPoints(points)}` : icon;
  const { leading } = TYPE.sub;
  const style = { size: 12, leading, face: 'bold', color } as const;
  const block = layOut(text, GUTTER, style, sheet.fonts);
  sheet.element('P', () => drawBlock(sheet, block, sheet.left, sheet.y));
}

function labelled(sheet: Sheet, label: string, text: Text): void {
  sheet.y += 5;
  sheet.need(SMALL.leading + 2 * BODY.leading);
  paragraph(sheet, label, { indent: GUTTER, style: LABEL });
  paragraph(sheet, text, { indent: GUTTER });
}

function evidence(sheet: Sheet, check: CheckResult): void {
  const rows = evidenceRows(check.evidence);
  if (rows.length === 0) return;
  sheet.y += 5;
  sheet.need(SMALL.leading + CODE.leading);
  paragraph(sheet, 'What your message shows', { indent: GUTTER, style: LABEL });
  const style = { ...SMALL, color: COLOR.ink };
  const list = rows.map((row) => ({ ...row, style: { ...style, face: 'mono' as const } }));
  pairs(sheet, list, { indent: GUTTER, names: 92, style });
}
