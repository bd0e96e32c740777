/** How the score comes about: a table whose figures add up, and the points of every check below it. */

import type { CheckResult } from '../../analysis/result.ts';
import {
  BEYOND_THE_SCORE,
  categoryName,
  formatPoints,
  type Ledger,
  type LedgerRow,
  ledgerOf,
} from '../content.ts';
import type { Report } from '../report.ts';
import { CheckState, Fold, Scroll, Section, useBrief } from './components.tsx';

export function LedgerSection({ report }: { report: Report }) {
  const ledger = ledgerOf(report);
  const brief = useBrief();
  const scored = report.score !== null;
  const example = ledger.rows.find(({ adds }) => adds !== null);
  return (
    <Section
      id="score"
      title="How the score comes about"
      note={example && scored ? <Arithmetic row={example} ledger={ledger} /> : undefined}
    >
      <div class="stack">
        <Scroll class="card" label="Points by category">
          <table class="ledger">
            <thead>
              <tr>
                <th scope="col">Category</th>
                <th scope="col" class="number">
                  Points
                </th>
                <th scope="col" class="number">
                  Weight
                </th>
                {scored && (
                  <th scope="col" class="number">
                    Adds
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {ledger.rows.map((row) => (
                <Row key={row.name} row={row} scored={scored} />
              ))}
            </tbody>
            {scored && <Sums report={report} ledger={ledger} />}
          </table>
        </Scroll>
        <p class="small muted">{BEYOND_THE_SCORE}</p>
        {!brief && <EveryCheck checks={report.checks} />}
      </div>
    </Section>
  );
}

/** The rule in words, with the figures of one category put in. */
function Arithmetic({ row, ledger }: { row: LedgerRow; ledger: Ledger }) {
  const { earned, points, weight } = row;
  return (
    <>
      A category adds its share of points times its share of the weights that could be checked. For{' '}
      {categoryName(row.name).toLowerCase()}:{' '}
      <span class="number">
        {formatPoints(earned)}/{formatPoints(points)} × {weight}/{ledger.weight} × 100 ={' '}
        {tenth(row.adds ?? 0)}
      </span>
    </>
  );
}

const tenth = (value: number): string => value.toFixed(1);

function Row({ row, scored }: { row: LedgerRow; scored: boolean }) {
  if (row.share === null || row.adds === null)
    return (
      <tr class="muted">
        <th scope="row">
          <span class="meter">
            <span>{categoryName(row.name)}</span>
            <span>not checked</span>
          </span>
        </th>
        <td class="number">–</td>
        <td class="number">({row.weight})</td>
        {scored && <td class="number">–</td>}
      </tr>
    );
  const percent = Math.floor(row.share * 100 + 1e-9);
  const tone = percent >= 90 ? 'pass' : percent >= 55 ? 'warn' : 'fail';
  return (
    <tr>
      <th scope="row">
        <span class="meter">
          <span>{categoryName(row.name)}</span>
          <svg
            class={`bar-of ${tone}`}
            viewBox="0 0 100 8"
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            <rect class="track" width="100" height="8" />
            <rect class="fill" width={percent} height="8" />
          </svg>
          <span class="number">{percent} %</span>
        </span>
      </th>
      <td class="number">
        {formatPoints(row.earned)} of {formatPoints(row.points)}
      </td>
      <td class="number">{row.weight}</td>
      {scored && <td class="number">{tenth(row.adds)}</td>}
    </tr>
  );
}

function Sums({ report, ledger }: { report: Report; ledger: Ledger }) {
  const { cap, score, grade } = report;
  return (
    <tfoot>
      <tr>
        <th scope="row">Sum</th>
        <td />
        <td class="number">{ledger.weight}</td>
        <td class="number">{tenth(ledger.sum ?? 0)}</td>
      </tr>
      {cap && (
        <tr class="fail">
          <th scope="row" colSpan={3}>
            <span class="tone">Cap: {cap.reason}</span>
          </th>
          <td class="number tone">at most {cap.limit}</td>
        </tr>
      )}
      <tr class="total">
        <th scope="row" colSpan={3}>
          Score, rounded down
        </th>
        <td class="number">
          {score} {grade && `(${grade})`}
        </td>
      </tr>
    </tfoot>
  );
}

/** What the sums of the table are made of. */
function EveryCheck({ checks }: { checks: CheckResult[] }) {
  const counted = checks.filter(({ points }) => points > 0);
  const categories = [...new Set(counted.map(({ category }) => category))];
  return (
    <Fold title="The points of every check" count={`${counted.length} checks`}>
      <Scroll label="Points by check">
        <table class="compact">
          <thead>
            <tr>
              <th scope="col">Check</th>
              <th scope="col">Result</th>
              <th scope="col" class="number">
                Earned
              </th>
              <th scope="col" class="number">
                Possible
              </th>
            </tr>
          </thead>
          {categories.map((category) => (
            <tbody key={category}>
              <tr class="group">
                <th scope="rowgroup" colSpan={4}>
                  {categoryName(category)}
                </th>
              </tr>
              {counted
                .filter((check) => check.category === category)
                .map((check) => (
                  <tr key={check.id}>
                    <th scope="row">{check.label}</th>
                    <td>
                      <CheckState status={check.status} />
                    </td>
                    <td class="number">
                      {check.earned === null ? 'not counted' : formatPoints(check.earned)}
                    </td>
                    <td class="number">{formatPoints(check.points)}</td>
                  </tr>
                ))}
            </tbody>
          ))}
        </table>
      </Scroll>
    </Fold>
  );
}
