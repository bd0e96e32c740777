/** The overview of a shared report: what it is, until when it can be read, and a row for each test. */

import { chartSvg } from '../chart-svg.ts';
import type { Report } from '../report.ts';
import { verdictOf } from '../report-words.ts';
import {
  fromDomainOf,
  isBrief,
  missingSentence,
  reportName,
  type Share,
  scoresSentence,
  shareTitle,
} from '../share.ts';
import { scoresChart, testNumber } from '../share-chart.ts';
import { oneLine, Time } from './shown-values.tsx';
import { GRADE_TONES, Ring } from './verdict.tsx';

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
