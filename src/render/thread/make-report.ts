/** From a stored report and its message to the page or the PDF; only render threads load this. */

import { messageView } from '../message-view.ts';
import type { Report } from '../report.ts';
import type { RenderCommand, Rendered } from './job.ts';

export async function makeReport({ format, report, raw }: RenderCommand): Promise<Rendered> {
  const whole: Report = {
    ...report,
    checks: JSON.parse(report.checks),
    providers: JSON.parse(report.providers),
    message: raw && (await messageView(raw)),
  };
  if (format === 'pdf') {
    const { reportPdf } = await import('../pdf/report-pdf.ts');
    return { bytes: await reportPdf(whole), policy: null };
  }
  const { REPORT_CSP, reportPage } = await import('../page/report-page.tsx');
  return { bytes: new TextEncoder().encode(reportPage(whole)), policy: REPORT_CSP };
}
