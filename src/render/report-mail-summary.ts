/** The section of a report's e-mail on scores, grades, authentication and what went wrong most often. */

import type { Grade } from '../analysis/result.ts';
import type { MadeBlock } from './mail-frame.ts';
import { BREAKS, INK, LINE, type Tone } from './mail-look.ts';
import { cut, shown, wrap } from './mail-text.ts';
import { rows, titled } from './report-mail-parts.ts';
import type { ScheduledReport, Summary } from './summary.ts';
import {
  averageOf,
  countOf,
  gradesInWords,
  NAME_LENGTH,
  ratesOf,
  scoreComparison,
  testsInWords,
  withoutScore,
} from './summary-words.ts';

const TONES: Record<Grade, Tone> = { A: 'pass', B: 'pass', C: 'warn', D: 'warn', F: 'fail' };

/** The mean score and how it compares: the one thing that every report says. */
export function comparedBlock(report: ScheduledReport): MadeBlock {
  const average = averageOf(report.summary);
  if (average === null) return noScoreBlock(report);
  const { score, grade } = average;
  const [of, change] = [testsInWords(report), scoreComparison(report)];
  const tone = TONES[grade];
  return {
    text: `${wrap(`Score: ${score} of 100, grade ${grade}`)}\n${wrap(of)}\n${wrap(change)}`,
    html: `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:24px 0 0"><tr><td width="1" valign="middle" class="${tone}" style="padding:0 20px 0 0;font-size:48px;line-height:52px;font-weight:700;color:${INK[tone]};white-space:nowrap">${score}</td><td valign="middle" style="font-size:14px;line-height:21px;${BREAKS}"><span class="${tone}" style="font-weight:600;color:${INK[tone]}">Score of 100, grade ${grade}</span><br><span class="ink" style="color:${INK.ink}">${shown(change)}</span><br><span class="muted" style="color:${INK.muted}">${shown(of)}</span></td></tr></table>`,
  };
}

function noScoreBlock(report: ScheduledReport): MadeBlock {
  const { summary } = report;
  const said = [withoutScore(summary)];
  if (summary.total_tests > 0) said.push(testsInWords(report), scoreComparison(report));
  const html = (text: string, index: number) =>
    `<p class="ink" style="margin:${index === 0 ? 24 : 4}px 0 0;color:${INK.ink}">${shown(text)}</p>`;
  return { text: said.map((text) => wrap(text)).join('\n'), html: said.map(html).join('\n') };
}

export function summaryBlocks({ summary }: ScheduledReport): MadeBlock[] {
  if (summary.total_tests === 0) return [];
  const grades = gradesInWords(summary) === '' ? [] : [gradesBlock(summary)];
  return [ratesBlock(summary), ...grades, issuesBlock(summary)];
}

/** A figure each, side by side. */
function ratesBlock(summary: Summary): MadeBlock {
  const rates = ratesOf(summary);
  const width = `${Math.floor(100 / rates.length)}%`;
  const cells = rates.map(
    ({ label, share, of }) =>
      `<td width="${width}" valign="top" class="line" style="padding:12px 8px 12px 0;${LINE};font-size:14px;line-height:21px"><span class="muted" style="color:${INK.muted}">${shown(label)}</span><br><span class="ink" style="font-size:20px;line-height:28px;font-weight:600;color:${INK.ink};white-space:nowrap">${shown(share ?? '–')}</span><br><span class="muted" style="font-size:12px;line-height:18px;color:${INK.muted}">${shown(of)}</span></td>`,
  );
  return {
    text: rates
      .map(({ label, share, of }) => wrap(`${label}: ${share === null ? '' : `${share} `}${of}`))
      .join('\n'),
    html: `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:24px 0 0;table-layout:fixed"><tr>${cells.join('')}</tr></table>`,
  };
}

/** Seen on white and on black. */
const BAR_COLOURS: Record<Grade, string> = {
  A: '#2f9e5b',
  B: '#5aa06a',
  C: '#b8801f',
  D: '#d0694a',
  F: '#cf3a3a',
};

/** One bar, as long in each colour as the grade has tests; the letters and numbers stand below it. */
function gradesBlock(summary: Summary): MadeBlock {
  const words = gradesInWords(summary);
  const given = Object.entries(summary.grades).filter(([, count]) => count > 0) as [
    Grade,
    number,
  ][];
  const all = given.reduce((sum, [, count]) => sum + count, 0);
  const cells = given.map(
    ([grade, count]) =>
      `<td width="${((count / all) * 100).toFixed(2)}%" height="12" bgcolor="${BAR_COLOURS[grade]}" style="height:12px;font-size:1px;line-height:12px;background-color:${BAR_COLOURS[grade]}">&nbsp;</td>`,
  );
  const legend = given.map(
    ([grade, count]) =>
      `<span style="white-space:nowrap"><span style="color:${BAR_COLOURS[grade]}">&#9632;</span> <strong>${grade}</strong> ${countOf(count)}</span>`,
  );
  return titled('Grades', {
    text: words,
    html: `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:12px 0 0"><tr>${cells.join('')}</tr></table>
<p class="ink" style="margin:8px 0 0;font-size:14px;line-height:21px;color:${INK.ink}">${legend.join(' &nbsp; ')}</p>`,
  });
}

function issuesBlock({ top_issues }: Summary): MadeBlock {
  if (top_issues.length === 0)
    return titled('Most frequent issues', {
      text: 'No test found anything to mend.',
      html: `<p class="ink" style="margin:12px 0 0;color:${INK.ink}">No test found anything to mend.</p>`,
    });
  return titled(
    'Most frequent issues',
    rows(
      top_issues.map(({ issue, count }) => ({
        title: cut(issue, NAME_LENGTH * 2),
        value: countOf(count, 'test'),
      })),
    ),
  );
}
