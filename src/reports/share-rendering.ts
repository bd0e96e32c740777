/** Shared reports as pages and PDFs: however many read one at the same moment, it is made once for all of them. */

import type { App } from '../app.ts';
import type { Rendered, ReportFormat } from '../render/thread/job.ts';
import type { SharedReportRow } from '../store/report-tables.ts';
import { sealedShare } from './share-content.ts';

/** So that a link, in the hands of a crowd, leaves room for the reports of others. */
const underWay = new WeakMap<App, Map<string, Promise<Rendered>>>();

/** Rejects as the reporter does. */
export function renderShare(
  app: App,
  row: SharedReportRow,
  format: ReportFormat,
): Promise<Rendered> {
  const present = underWay.get(app) ?? new Map<string, Promise<Rendered>>();
  underWay.set(app, present);
  const key = `${row.id} ${format}`;
  const making = present.get(key) ?? make(app, row, format).finally(() => present.delete(key));
  present.set(key, making);
  return making;
}

async function make(app: App, row: SharedReportRow, format: ReportFormat): Promise<Rendered> {
  const shared = await sealedShare(app, row);
  // Without the signal of one reader: others may wait for it too.
  return app.reporter.render({ kind: 'shared', format, shared });
}
