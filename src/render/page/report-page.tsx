/** The report as a page: one complete document that needs nothing but itself. */

import type { Report } from '../report.ts';
import { verdictOf } from '../report-words.ts';
import { PAGE_CSP, renderPage } from './frame.tsx';
import { Contents, ReportBody, ReportFoot } from './report-body.tsx';
import { REPORT_STYLE } from './report-style.ts';
import { SECTIONS_STYLE } from './sections-style.ts';
import { oneLine } from './shown-values.tsx';

/** To be sent as Content-Security-Policy with the page; the page itself holds it but for the last part. */
export const REPORT_CSP = `${PAGE_CSP}; frame-ancestors 'none'`;

/** Everything of the message in it is escaped, bounded, and no link. */
export function reportPage(report: Report): string {
  return renderPage({
    title: titleOf(report),
    skip: 'Skip to the report',
    style: REPORT_STYLE + SECTIONS_STYLE,
    aside: <Contents />,
    main: <ReportBody report={report} />,
    foot: <ReportFoot report={report} />,
  });
}

/** `87 B · Order confirmation`. */
export function titleOf({ score, grade, name, subject, summary }: Report): string {
  const what = name ?? subject ?? verdictOf(summary);
  return `${score === null ? 'No score' : `${score} ${grade}`} · ${oneLine(what, 80)}`;
}
