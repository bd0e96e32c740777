/** The e-mail of a scheduled report: the figures inside of it, or short where a PDF goes with it. */

import type { MailImage } from '../lib/mail-image.ts';
import { mailFrame } from './mail-frame.ts';
import { cut } from './mail-text.ts';
import { alertBlocks } from './report-mail-alerts.ts';
import { subtitle } from './report-mail-parts.ts';
import { comparedBlock, summaryBlocks } from './report-mail-summary.ts';
import { chartImages, trendBlocks } from './report-mail-trends.ts';
import type { ScheduledReport } from './summary.ts';
import {
  alarmOf,
  averageOf,
  countOf,
  domainsInWords,
  headlineOf,
  NAME_LENGTH,
  periodInWords,
  scoreComparison,
  titleOf,
  withoutScore,
} from './summary-words.ts';

export interface ReportMail {
  subject: string;
  text: string;
  html: string;
  /** Those that `html` asks for, each once. */
  images: MailImage[];
}

export interface Reader {
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
