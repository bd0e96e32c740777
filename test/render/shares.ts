/** Shared reports for tests and pictures. */

import { forStrangers } from '../../src/render/for-strangers.ts';
import type { Report } from '../../src/render/report.ts';
import type { Share } from '../../src/render/share.ts';
import { badReport, goodReport, newsletterReport, unscoredReport } from './reports.ts';

const CREATED = { created_at: '2026-11-21T10:05:00.000Z', expires_at: '2026-11-28T10:05:00.000Z' };

export const shareOf = (reports: Report[], changes: Partial<Share> = {}): Share => ({
  ...CREATED,
  title: null,
  missing: 0,
  reports: reports.map((report) => forStrangers(report, [])),
  ...changes,
});

/** Good, bad, a newsletter, and one without a score; one was deleted since. */
export async function campaignShare(): Promise<Share> {
  const reports = await Promise.all([
    goodReport(),
    badReport(),
    newsletterReport(),
    unscoredReport(),
  ]);
  return shareOf(reports, { title: 'Autumn campaign: before and after', missing: 1 });
}

/** As many as a link may hold. */
export async function largeShare(count = 100): Promise<Share> {
  const { reports } = await campaignShare();
  const all = Array.from({ length: count }, (_, index) => ({
    ...reports[index % reports.length]!,
    name: `Test ${index + 1}`,
  }));
  return shareOf(all);
}
