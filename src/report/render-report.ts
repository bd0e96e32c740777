/** Renders stored reports as a page or PDF. Only render threads load this module. */

import { listImages } from './image-list.ts';
import { messageView } from './message-view.ts';
import { redactStoredReport } from './redact.ts';
import {
  type AppFrame,
  parseStoredReport,
  type RenderCommand,
  type Rendered,
  type Report,
  type ReportFormat,
  type StoredShare,
} from './report.ts';

export async function renderReport(command: RenderCommand): Promise<Rendered> {
  switch (command.kind) {
    case 'test':
      return renderTestReport(command.format, command.frame, {
        ...parseStoredReport(command.report),
        message: command.raw && (await messageView(command.raw)),
      });
    case 'shared':
      return renderSharedReport(command.format, command.shared);
    case 'summary': {
      const { summaryPdf } = await import('./pdf/pdf.ts');
      return { bytes: await summaryPdf(command.report), policy: null };
    }
    case 'images': {
      const images = await listImages(command.raw, command.checks);
      return { bytes: new TextEncoder().encode(JSON.stringify(images)), policy: null };
    }
  }
}

async function renderTestReport(
  format: ReportFormat,
  frame: AppFrame | undefined,
  report: Report,
): Promise<Rendered> {
  if (format === 'pdf') {
    const { reportPdf } = await import('./pdf/pdf.ts');
    return { bytes: await reportPdf(report), policy: null };
  }
  const { reportPage, reportPolicy } = await import('./html/report-page.tsx');
  return {
    bytes: new TextEncoder().encode(reportPage(report, frame)),
    policy: reportPolicy(report, frame),
  };
}

async function renderSharedReport(format: ReportFormat, stored: StoredShare): Promise<Rendered> {
  const share = { ...stored, reports: stored.reports.map(redactStoredReport) };
  if (format === 'pdf') {
    const { sharedPdf } = await import('./pdf/pdf.ts');
    return { bytes: await sharedPdf(share), policy: null };
  }
  const { REPORT_CSP, sharedPage } = await import('./html/report-page.tsx');
  return { bytes: new TextEncoder().encode(sharedPage(share)), policy: REPORT_CSP };
}
