/** From what is stored to the page or the PDF; only render threads load this. */

import { messageView } from './message-view.ts';
import { redactStoredReport } from './redact.ts';
import {
  parseStoredReport,
  type RenderCommand,
  type Rendered,
  type Report,
  type ReportFormat,
  type StoredShare,
} from './report.ts';

export async function makeReport(command: RenderCommand): Promise<Rendered> {
  switch (command.kind) {
    case 'test':
      return makeTestReport(command.format, {
        ...parseStoredReport(command.report),
        message: command.raw && (await messageView(command.raw)),
      });
    case 'shared':
      return makeSharedReport(command.format, command.shared);
    case 'summary': {
      const { summaryPdf } = await import('./pdf/pdf.ts');
      return { bytes: await summaryPdf(command.report), policy: null };
    }
  }
}

async function makeTestReport(format: ReportFormat, report: Report): Promise<Rendered> {
  if (format === 'pdf') {
    const { reportPdf } = await import('./pdf/pdf.ts');
    return { bytes: await reportPdf(report), policy: null };
  }
  const { REPORT_CSP, reportPage } = await import('./html/report-page.tsx');
  return { bytes: new TextEncoder().encode(reportPage(report)), policy: REPORT_CSP };
}

async function makeSharedReport(format: ReportFormat, sealed: StoredShare): Promise<Rendered> {
  const share = { ...sealed, reports: sealed.reports.map(redactStoredReport) };
  if (format === 'pdf') {
    const { sharedPdf } = await import('./pdf/pdf.ts');
    return { bytes: await sharedPdf(share), policy: null };
  }
  const { REPORT_CSP, sharedPage } = await import('./html/report-page.tsx');
  return { bytes: new TextEncoder().encode(sharedPage(share)), policy: REPORT_CSP };
}
