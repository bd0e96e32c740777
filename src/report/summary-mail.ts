/** The e-mail of a scheduled report: the figures inside of it, or short where a PDF goes with it. */

import type { Grade } from '../analysis/result.ts';
import type { MailImage } from '../lib/mail.ts';
import {
  type Chart,
  chartInWords,
  chartPng,
  extremesOf,
  labelsOf,
  showsEach,
  valueInWords,
  valueText,
} from './charts.ts';
import {
  BREAKS,
  heading,
  INK,
  LINE,
  type MadeBlock,
  mailFrame,
  note,
  sheet,
  type Tone,
} from './mail-frame.ts';
import { cut, plain, shown, wrap } from './plain-text.ts';
import {
  alarmOf,
  averageOf,
  countOf,
  daysBeginAt,
  domainsInWords,
  gradesInWords,
  HEALTH,
  headlineOf,
  incidentTimes,
  incidentTitle,
  NAME_LENGTH,
  periodInWords,
  ratesOf,
  type ScheduledReport,
  type Summary,
  scoreComparison,
  type TrendChart,
  testsInWords,
  titleOf,
  trendCharts,
  withoutScore,
} from './summary.ts';

interface ReportMail {
  subject: string;
  text: string;
  html: string;
  /** Those that `html` asks for, each once. */
  images: MailImage[];
}

interface Reader {
  /** Where a click ends it for this reader; null where nobody reads it yet, as in a preview. */
  unsubscribeUrl: string | null;
  /** The figures are in a PDF that goes with it. */
  pdf: boolean;
}

/** The same for the same report. Every name and subject is text: nothing in it can break out. */
export function reportMail(report: ScheduledReport, { unsubscribeUrl, pdf }: Reader): ReportMail {
  const host = new URL(report.appUrl).host;
  const images = pdf ? [] : chartImages(report);
  const blocks = pdf ? shortBlocks(report) : longBlocks(report, images);
  const { text, html } = mailFrame({
    title: titleOf(report),
    preheader: preheaderOf(report),
    blocks: [subtitle([cut(report.name, NAME_LENGTH), periodInWords(report)]), ...blocks],
    button: { label: 'Open the service', url: report.appUrl },
    footer: `You get this mail because your address is among the readers of a ${report.frequency} report at ${host}: “${cut(report.name, NAME_LENGTH)}”. It is sent by the people who run the tests there.`,
    leave:
      unsubscribeUrl === null
        ? undefined
        : { label: 'Unsubscribe from this report', url: unsubscribeUrl },
  });
  return { subject: headlineOf(report), text, html, images };
}

function longBlocks(report: ScheduledReport, images: MailImage[]) {
  const { sections } = report;
  return [
    comparedBlock(report),
    ...(sections.includes('summary') ? summaryBlocks(report) : []),
    ...(sections.includes('trends') ? trendBlocks(report, images) : []),
    ...(sections.includes('alerts') ? alertBlocks(report) : []),
  ];
}

const shortBlocks = (report: ScheduledReport) => [
  comparedBlock(report),
  ...(report.sections.includes('alerts') ? [domainsInWords(report)] : []),
  'The whole report is in the PDF that is attached to this mail.',
];

/** What the subject does not say. */
function preheaderOf(report: ScheduledReport): string {
  const { total_tests, top_issues } = report.summary;
  if (total_tests === 0)
    return `Nothing was tested. ${report.sections.includes('alerts') && alarmOf(report) ? domainsInWords(report) : ''}`;
  const [issue] = top_issues;
  const most =
    issue && report.sections.includes('summary') ? ` Most often: ${cut(issue.issue, 90)}` : '';
  const without = averageOf(report.summary) ? '' : `${withoutScore(report.summary)} `;
  return `${countOf(total_tests, 'test')}. ${without}${scoreComparison(report)}${most}`;
}

/** The HTML as a browser shows it by itself: with its images in it. */
export function previewOf({ html, images }: Pick<ReportMail, 'html' | 'images'>): string {
  return images.reduce(
    (filled, { cid, contentType, content }) =>
      filled.replaceAll(
        `src="cid:${cid}"`,
        `src="data:${contentType};base64,${Buffer.from(content).toString('base64')}"`,
      ),
    html,
  );
}

// The section of a report's e-mail on scores, grades, authentication and what went wrong most often.

const TONES: Record<Grade, Tone> = { A: 'pass', B: 'pass', C: 'warn', D: 'warn', F: 'fail' };

/** The mean score and how it compares: the one thing that every report says. */
function comparedBlock(report: ScheduledReport): MadeBlock {
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

function summaryBlocks({ summary }: ScheduledReport): MadeBlock[] {
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

// The section of a report's e-mail with its charts: bars as a picture, every word as text around it.

/** What a card of 600 px leaves. */
const SIZE = { width: 534, height: 96 };

/** Of the reports whose readers are being written to. */
const drawn = new WeakMap<ScheduledReport, MailImage[]>();

/** A picture for each chart, none where nothing is to be drawn; drawn once for all readers of a report. */
function chartImages(report: ScheduledReport): MailImage[] {
  const known = drawn.get(report);
  if (known) return known;
  const images = drawCharts(report);
  drawn.set(report, images);
  return images;
}

function drawCharts(report: ScheduledReport): MailImage[] {
  const { sections, appUrl, summary } = report;
  if (!sections.includes('trends') || summary.total_tests === 0) return [];
  const host = new URL(appUrl).hostname.replace(/[^\w.-]/g, '');
  return trendCharts(report).map((chart) => ({
    cid: `${chart.id}.${Date.parse(summary.to).toString(36)}@${host}`,
    filename: `${chart.id}.png`,
    contentType: 'image/png',
    content: chartPng(chart, SIZE),
  }));
}

/** Needs the pictures of `chartImages`, in their order. */
function trendBlocks(report: ScheduledReport, images: MailImage[]): MadeBlock[] {
  if (images.length === 0) return [];
  const begin = daysBeginAt(report);
  return trendCharts(report).map((chart, index) => {
    const parts = [chartBlock(chart, images[index]!)];
    if (begin && index === 0) parts.push(remark(begin));
    return titled(chart.title, ...parts);
  });
}

function chartBlock(chart: TrendChart, { cid }: MailImage): MadeBlock {
  const extremes = extremesOf(chart);
  const scale =
    chart.id === 'score'
      ? `The bars go from 0 to ${chart.format(chart.top)}.`
      : `The highest bar is ${chart.format(chart.top)}.`;
  const said = extremes ? `${extremes}.` : scale;
  return {
    text: chart.buckets
      .map((bucket) => wrap(`${bucket.name}: ${valueInWords(chart, bucket)}`))
      .join('\n'),
    html: `<p class="muted" style="margin:4px 0 12px;font-size:14px;line-height:21px;color:${INK.muted}">${shown(said)}</p>
<img src="cid:${cid}" alt="${shown(chartInWords(chart))}" width="${SIZE.width}" height="${SIZE.height}" style="display:block;width:100%;max-width:${SIZE.width}px;height:${SIZE.height}px;border:0;font-size:12px;line-height:18px">
${labelRow(chart)}`,
  };
}

/** Under each bar its value and name, or under a group of bars the name of its first. */
function labelRow(chart: Chart): string {
  const each = showsEach(chart);
  const all = chart.buckets.length;
  let at = 0;
  const cells = labelsOf(chart).map(({ label, span }) => {
    const value = each
      ? `<strong class="ink" style="color:${INK.ink}">${shown(valueText(chart, chart.buckets[at]!))}</strong><br>`
      : '';
    at += span;
    const width = `${((span / all) * 100).toFixed(2)}%`;
    return `<td width="${width}" align="${each ? 'center' : 'left'}" valign="top" class="muted" style="padding:4px 2px 0;font-size:12px;line-height:18px;color:${INK.muted}">${value}${shown(label)}</td>`;
  });
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:${SIZE.width}px;table-layout:fixed"><tr>${cells.join('')}</tr></table>`;
}

// The section of a report's e-mail on domains that need attention and on what alert rules found.

const alertBlocks = (report: ScheduledReport): MadeBlock[] => [
  domainsBlock(report),
  incidentsBlock(report),
];

function domainsBlock(report: ScheduledReport): MadeBlock {
  const { domains, domainsLeftOut } = report;
  const parts = [remark(domainsInWords(report))];
  if (domains.length > 0)
    parts.push(
      rows(
        domains.map(({ name, health, score }) => {
          const { word, state, icon } = HEALTH[health];
          const value = `${icon} ${word}${score === null ? '' : `, ${score}`}`;
          return { title: cut(name, NAME_LENGTH), value, tone: state };
        }),
      ),
    );
  if (domainsLeftOut > 0) parts.push(remark(`And ${countOf(domainsLeftOut)} more.`));
  return titled('Domains', ...parts);
}

function incidentsBlock({ incidents, incidentsLeftOut, timezone }: ScheduledReport): MadeBlock {
  if (incidents.length === 0)
    return titled('Alerts', remark('No alert rule found anything in this time.'));
  const list = incidents.map((incident) => {
    const open = incident.resolved_at === null;
    return {
      title: incidentTitle(incident),
      more: incidentTimes(incident, timezone),
      value: open ? '✗ Open' : '✓ Over',
      tone: open ? ('fail' as const) : ('pass' as const),
    };
  });
  const parts = [rows(list)];
  if (incidentsLeftOut > 0) parts.push(remark(`And ${countOf(incidentsLeftOut)} more.`));
  return titled('Alerts', ...parts);
}

// What the sections of a report's e-mail are made of, each piece in both of its parts.

/** Below the title, in lines of their own. */
const subtitle = (lines: string[]): MadeBlock => ({
  text: lines.map((line) => wrap(line)).join('\n'),
  html: lines.map((line) => note(line)).join('\n'),
});

/** A heading with a line below it, and what follows it. */
function titled(title: string, ...parts: MadeBlock[]): MadeBlock {
  const line = '-'.repeat([...plain(title)].length);
  return {
    text: [`${plain(title)}\n${line}`, ...parts.map(({ text }) => text)]
      .filter((text) => text !== '')
      .join('\n\n'),
    html: [heading(title), ...parts.map(({ html }) => html)].join('\n'),
  };
}

/** Said beside the matter. */
const remark = (text: string): MadeBlock => ({ text: wrap(text), html: note(text) });

interface Row {
  title: string;
  /** Below the title. */
  more?: string;
  /** To the right of it, short. */
  value: string;
  tone?: Tone;
}

/** A row for each, its value to the right; in the text part the value stands first. */
function rows(list: Row[]): MadeBlock {
  return {
    text: list
      .map(({ title, more, value }) =>
        [wrap(`- ${value}: ${title}`, '  '), ...(more ? [`  ${wrap(more, '  ')}`] : [])].join('\n'),
      )
      .join('\n'),
    html: sheet(list.map(rowHtml).join('')),
  };
}

function rowHtml({ title, more, value, tone = 'ink' }: Row): string {
  const below = more
    ? `<br><span class="muted" style="color:${INK.muted}">${shown(more)}</span>`
    : '';
  return `<tr><td valign="top" class="ink line" style="padding:8px 16px 8px 0;${LINE};color:${INK.ink};${BREAKS}"><bdi>${shown(title)}</bdi>${below}</td><td align="right" valign="top" class="${tone} line" style="padding:8px 0;${LINE};color:${INK[tone]};font-weight:600;white-space:nowrap">${shown(value)}</td></tr>`;
}
