/** Renders stored reports as a page or PDF. Only render threads load this module. */

import { messageView } from './message-view.ts';
import type { SystemFonts } from './pdf/fonts.ts';
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

/** PDFs use `systemFonts` for scripts that the executable has no font for. */
export async function renderReport(
  command: RenderCommand,
  systemFonts?: SystemFonts,
): Promise<Rendered> {
  switch (command.kind) {
    case 'test':
      return renderTestReport(
        command.format,
        command.frame,
        {
          ...parseStoredReport(command.report),
          message: command.raw && (await messageView(command.raw)),
        },
        systemFonts,
      );
    case 'shared':
      return renderSharedReport(command.format, command.shared, systemFonts);
    case 'summary': {
      const { summaryPdf } = await import('./pdf/pdf.ts');
      return { bytes: await summaryPdf(command.report, systemFonts), policy: null };
    }
  }
}

async function renderTestReport(
  format: ReportFormat,
  frame: AppFrame | undefined,
  report: Report,
  systemFonts: SystemFonts | undefined,
): Promise<Rendered> {
  if (format === 'pdf') {
    const { reportPdf } = await import('./pdf/pdf.ts');
    return { bytes: await reportPdf(report, systemFonts), policy: null };
  }
  const { reportPage, reportPolicy } = await import('./html/report-page.tsx');
  return {
    bytes: new TextEncoder().encode(reportPage(report, frame)),
    policy: reportPolicy(report, frame),
  };
}

async function renderSharedReport(
  format: ReportFormat,
  stored: StoredShare,
  systemFonts: SystemFonts | undefined,
): Promise<Rendered> {
  const share = { ...stored, reports: stored.reports.map(redactStoredReport) };
  if (format === 'pdf') {
    const { sharedPdf } = await import('./pdf/pdf.ts');
    return { bytes: await sharedPdf(share, systemFonts), policy: null };
  }
  const { REPORT_CSP, sharedPage } = await import('./html/report-page.tsx');
  return { bytes: new TextEncoder().encode(sharedPage(share)), policy: REPORT_CSP };
}
