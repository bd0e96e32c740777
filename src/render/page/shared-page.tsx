/** The page behind a shared link: one report, or an overview of many and then each of them, folded. */

import type { Report } from '../report.ts';
import { fromDomainOf, isBrief, reportName, type Share, shareTitle } from '../share.ts';
import { renderPage } from './frame.tsx';
import { Chevron } from './icons.tsx';
import { At } from './place.tsx';
import { Contents, ReportBody, ReportFoot } from './report-body.tsx';
import { REPORT_CSP, titleOf } from './report-page.tsx';
import { REPORT_STYLE } from './report-style.ts';
import { SECTIONS_STYLE } from './sections-style.ts';
import { anchorOf, GradeBadge, Overview, ShareNotes } from './shared-overview.tsx';
import { SHARED_STYLE } from './shared-style.ts';
import { oneLine } from './shown-values.tsx';
import { Ring } from './verdict.tsx';

/** To be sent as Content-Security-Policy with the page. */
export const SHARED_CSP = REPORT_CSP;

const STYLE = REPORT_STYLE + SECTIONS_STYLE + SHARED_STYLE;

/** The reports must have been cut for strangers; what is in them is escaped, bounded, and no link. */
export function sharedPage(share: Share): string {
  const [first, ...more] = share.reports;
  return first && more.length === 0 ? pageOfOne(share, first) : pageOfMany(share);
}

function pageOfOne(share: Share, report: Report): string {
  return renderPage({
    title: share.title === null ? titleOf(report) : oneLine(share.title, 200),
    skip: 'Skip to the report',
    style: STYLE,
    aside: <Contents shared />,
    main: (
      <>
        <div class="share-head">
          <p class="share-title">{oneLine(shareTitle(share), 200)}</p>
          <ShareNotes share={share} />
        </div>
        <ReportBody report={report} shared />
      </>
    ),
    foot: <ReportFoot report={report} />,
  });
}

function pageOfMany(share: Share): string {
  const { reports } = share;
  return renderPage({
    title: oneLine(shareTitle(share), 200),
    skip: 'Skip to the overview',
    style: STYLE,
    aside: reports.length > 0 && <TestList reports={reports} />,
    main: (
      <>
        <Overview share={share} />
        {reports.map((report, index) => (
          <FoldedReport key={`${index + 1}`} report={report} index={index} brief={isBrief(share)} />
        ))}
      </>
    ),
  });
}

/** The tests by name, beside the main part. */
function TestList({ reports }: { reports: Report[] }) {
  return (
    <nav class="contents test-list" aria-label="Tests of this report">
      <ol>
        <li>
          <a href="#overview">Overview</a>
        </li>
        {reports.map((report, index) => (
          <li key={`${index + 1}`}>
            <a href={`#${anchorOf(index)}`}>{oneLine(reportName(report), 60)}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

interface FoldedProps {
  report: Report;
  index: number;
  brief: boolean;
}

/** Headings: the page's, the test's, and those of the report below it. */
const DEPTH = 2;

/** What a link leads to stands inside: browsers unfold that without any script. */
function FoldedReport({ report, index, brief }: FoldedProps) {
  const domain = fromDomainOf(report);
  return (
    <details class="one">
      <summary class="card">
        <Chevron />
        <span class="mini">
          <Ring report={report} />
        </span>
        <h2>
          <bdi>{oneLine(reportName(report), 200)}</bdi>
        </h2>
        {domain && <span class="muted small from-domain">{oneLine(domain, 255)}</span>}
        <GradeBadge report={report} />
      </summary>
      <div id={anchorOf(index)} class="one-report">
        <At prefix={`${anchorOf(index)}-`} depth={DEPTH} brief={brief}>
          <ReportBody report={report} shared />
        </At>
        <p class="small back screen-only">
          <a href="#overview">Back to the overview</a>
        </p>
      </div>
    </details>
  );
}
