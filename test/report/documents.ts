/** Documents of all kinds, for tests of renderers. */

import type { ReportDocument } from '../../src/report/blocks.ts';
import {
  sharedDocument,
  terminalDocument,
  testDocument,
} from '../../src/report/document/document.ts';
import { summaryDocument } from '../../src/report/document/summary.ts';
import {
  badReport,
  campaignShare,
  goodReport,
  largeShare,
  newsletterReport,
  shareOf,
  unscoredReport,
} from './reports.ts';
import { DAY, HOSTILE, MONTH, NOTHING, UNSCORED, WEEK } from './scheduled-reports.ts';

/** Every variant of every report, each with a name. */
export async function allDocuments(): Promise<[name: string, document: ReportDocument][]> {
  const bad = await badReport();
  const reports = {
    good: await goodReport(),
    bad,
    unscored: await unscoredReport(),
    newsletter: await newsletterReport(),
  };
  const media = ['page', 'pdf'] as const;
  const shares = {
    none: shareOf([], { deletedTests: 2 }),
    one: shareOf([bad], { deletedTests: 1 }),
    campaign: await campaignShare(),
    six: await largeShare(6),
  };
  const summaries = { WEEK, MONTH, DAY, UNSCORED, NOTHING, HOSTILE };
  return [
    ...Object.entries(reports).flatMap(([name, report]) => [
      ...media.map((medium) => [`${name} as ${medium}`, testDocument(report, medium)] as const),
      [`${name} in a terminal`, terminalDocument(report, `${name}.eml`)] as const,
    ]),
    ...Object.entries(shares).flatMap(([name, share]) =>
      media.map(
        (medium) => [`${name} shared as ${medium}`, sharedDocument(share, medium)] as const,
      ),
    ),
    ...Object.entries(summaries).map(
      ([name, report]) => [`summary ${name}`, summaryDocument(report)] as const,
    ),
  ] as [string, ReportDocument][];
}
