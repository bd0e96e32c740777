/** Renders stored reports as a page or PDF. Only render threads load this module. */

import { parseMessage } from '../analysis/mime/parse-message.ts';
import { shownTemplate } from '../analysis/templates/template.ts';
import { messageDifference } from './difference.ts';
import { FRAME_CSP, messageDocument } from './html/message-frame.ts';
import { listImages } from './image-list.ts';
import { messageView } from './message-view.ts';
import type { SystemFonts } from './pdf/fonts.ts';
import { messagePreview, type PreviewChoice, previewFrame } from './preview/message-preview.ts';
import { previewJson } from './preview/preview-json.ts';
import { publicTextOf, redactStoredReport } from './redact.ts';
import {
  type AppFrame,
  parseStoredReport,
  type RenderCommand,
  type Rendered,
  type Report,
  type ReportFormat,
  type SharedReport,
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
        { ...parseStoredReport(command.report), ...(await shownMessage(command)) },
        systemFonts,
      );
    case 'preview':
      return renderPreview(command);
    case 'shared':
      return renderSharedReport(command.format, command.shared, systemFonts);
    case 'summary': {
      const { summaryPdf } = await import('./pdf/pdf.ts');
      return { bytes: await summaryPdf(command.report, systemFonts), policy: null };
    }
    case 'images':
      return asJson(await listImages(command.raw, command.checks));
    case 'difference':
      return asJson(await messageDifference(command.before, command.after));
  }
}

const asJson = (value: unknown): Rendered => ({
  bytes: new TextEncoder().encode(JSON.stringify(value)),
  policy: null,
});

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

/** The message and its preview. A PDF has no frames, and a page of the application loads them when they are shown. */
async function shownMessage({
  format,
  frame,
  report,
  message,
}: Extract<RenderCommand, { kind: 'test' }>): Promise<Pick<Report, 'message' | 'preview'>> {
  if (message === null) return { message: null, preview: null };
  const parsed = await parseMessage(message.raw);
  const shown = report.is_template ? shownTemplate(parsed) : parsed;
  const { preview, embedded } = messagePreview(shown, {
    images: message.images,
    frames: format === 'pdf' ? null : frame ? { url: frameUrl(report.id!) } : FRAMES_INSIDE,
  });
  return { message: messageView(message.raw, parsed, embedded), preview };
}

/** More than this makes a page slow to open and a saved report too large to send. */
const FRAMES_INSIDE = { maxCharacters: 6_000_000 };

const frameUrl =
  (testId: string) =>
  ({ client, theme, images }: PreviewChoice): string =>
    `/v1/tests/${testId}/preview.html?client=${client}&theme=${theme}&images=${images}`;

/** One frame as a document, or all else of the preview as JSON. */
async function renderPreview({
  message: { raw, images },
  choice,
}: Extract<RenderCommand, { kind: 'preview' }>): Promise<Rendered> {
  const parsed = await parseMessage(raw);
  const text =
    choice === null
      ? JSON.stringify(
          previewJson(messagePreview(parsed, { images, frames: { url: () => '' } }).preview),
        )
      : messageDocument(previewFrame(parsed, choice, images) ?? '');
  return { bytes: new TextEncoder().encode(text), policy: choice && FRAME_CSP };
}

async function renderSharedReport(
  format: ReportFormat,
  stored: StoredShare,
  systemFonts: SystemFonts | undefined,
): Promise<Rendered> {
  const isSingle = stored.reports.length === 1;
  const reports = await Promise.all(
    stored.reports.map((report) => publicReport(report, isSingle && format === 'html')),
  );
  const share = { ...stored, reports };
  if (format === 'pdf') {
    const { sharedPdf } = await import('./pdf/pdf.ts');
    return { bytes: await sharedPdf(share, systemFonts), policy: null };
  }
  const { REPORT_CSP, sharedPage } = await import('./html/report-page.tsx');
  return { bytes: new TextEncoder().encode(sharedPage(share)), policy: REPORT_CSP };
}

/** A page with many reports has no previews: it would be too long. */
async function publicReport(stored: SharedReport, showsPreview: boolean): Promise<Report> {
  const report = redactStoredReport(stored);
  if (!showsPreview || stored.message === null) return report;
  const { raw, images } = stored.message;
  const { preview } = messagePreview(await parseMessage(raw), {
    images,
    frames: FRAMES_INSIDE,
    publicText: publicTextOf(stored),
  });
  return { ...report, preview };
}
