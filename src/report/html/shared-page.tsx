/** The page behind a shared link: one report, or an overview of many and then each of them, folded. */

import { chartSvg } from '../charts.ts';
import { verdictOf } from '../content.ts';
import type { Report } from '../report.ts';
import {
  fromDomainOf,
  isBrief,
  missingSentence,
  reportName,
  type Share,
  scoresChart,
  scoresSentence,
  shareTitle,
  testNumber,
} from '../share.ts';
import { At, Chevron, oneLine, Time } from './components.tsx';
import { renderPage } from './frame.tsx';
import { Contents, REPORT_CSP, ReportBody, ReportFoot, titleOf } from './report-page.tsx';
import { REPORT_STYLE, SECTIONS_STYLE, SHARED_STYLE } from './styles.ts';
import { GRADE_TONES, Ring } from './verdict.tsx';

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

// The overview of a shared report: what it is, until when it can be read, and a row for each test.

/** Of the report at this place of the list. */
export const anchorOf = (index: number): string => `test-${index + 1}`;

const BRIEFNESS =
  'With so many tests, the evidence of what passed and the points of each check are left out here.';

export function Overview({ share }: { share: Share }) {
  const scores = scoresSentence(share);
  return (
    <section id="overview" aria-labelledby="overview-title">
      <div class="share-head">
        <h1 id="overview-title">{oneLine(shareTitle(share), 200)}</h1>
        <ShareNotes share={share} />
        {scores && <p>{scores}</p>}
        {isBrief(share) && <p class="small muted">{BRIEFNESS}</p>}
      </div>
      <ScoresChart share={share} />
      {share.reports.length > 0 && (
        <div class="card">
          <table class="tests">
            <thead>
              <tr>
                <th scope="col">Score</th>
                <th scope="col">Test</th>
                <th scope="col">Verdict</th>
                <th scope="col">Completed</th>
              </tr>
            </thead>
            <tbody>
              {share.reports.map((report, index) => (
                <Row key={`${index + 1}`} report={report} index={index} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** Whose values the table below it has, too. */
function ScoresChart({ share }: { share: Share }) {
  const chart = scoresChart(share);
  if (!chart) return null;
  return (
    <figure class="card scores">
      <figcaption>{chart.title}</figcaption>
      {/* Made of numbers, and of names that are escaped there. */}
      <div dangerouslySetInnerHTML={{ __html: chartSvg(chart, 'scores') }} />
    </figure>
  );
}

function Row({ report, index }: { report: Report; index: number }) {
  const domain = fromDomainOf(report);
  return (
    <tr>
      <td class="scored">
        <span class="mini">
          <Ring report={report} />
        </span>
        <GradeBadge report={report} />
      </td>
      <th scope="row">
        <a href={`#${anchorOf(index)}`}>
          <bdi>{oneLine(reportName(report), 200)}</bdi>
        </a>
        <span class="muted">
          {testNumber(index)} · {domain === null ? 'From names no domain' : oneLine(domain, 255)}
        </span>
      </th>
      <td>{oneLine(verdictOf(report.summary), 300)}</td>
      <td class="when muted">{report.completed_at && <Time iso={report.completed_at} />}</td>
    </tr>
  );
}

/** Beside a ring, which says the same to those who cannot see it. */
export function GradeBadge({ report: { grade } }: { report: Report }) {
  return (
    <span
      class={`state badge grade-badge ${grade === null ? 'unknown' : GRADE_TONES[grade]}`}
      aria-hidden="true"
    >
      {grade ?? '–'}
    </span>
  );
}

/** When it was made, until when it can be read, what is missing; and its PDF, by an address without the token. */
export function ShareNotes({ share }: { share: Share }) {
  const missing = missingSentence(share);
  return (
    <>
      <p class="small muted">
        Shared <Time iso={share.created_at} />. It can be read until <Time iso={share.expires_at} />
        .
      </p>
      {missing && <p class="small">{missing}</p>}
      <p class="small screen-only">
        <a href="?format=pdf">Open it as a PDF</a>
      </p>
    </>
  );
}
