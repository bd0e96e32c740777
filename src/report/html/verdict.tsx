/** The verdict: score and letter as a ring, one sentence, what to do first, and what was tested. */

import type { Grade } from '../../analysis/result.ts';
import { toFix } from '../../analysis/summary.ts';
import { formatSize } from '../../lib/durations.ts';
import { formatPoints, ledgerOf, missedSentence, verdictOf } from '../content.ts';
import type { Report } from '../report.ts';
import {
  AuthState,
  Code,
  Heading,
  oneLine,
  State,
  Time,
  type Tone,
  useAnchor,
  useLandmark,
} from './components.tsx';

export const GRADE_TONES: Record<Grade, Tone> = {
  A: 'pass',
  B: 'pass',
  C: 'warn',
  D: 'warn',
  F: 'fail',
};

export function Verdict({ report }: { report: Report }) {
  const anchor = useAnchor();
  const landmark = useLandmark();
  const missed = missedSentence(report);
  return (
    <section class="card verdict" aria-labelledby={landmark(anchor('verdict-title'))}>
      <Ring report={report} />
      <div class="said">
        <Heading rank={1} id={anchor('verdict-title')}>
          {oneLine(verdictOf(report.summary), 500)}
        </Heading>
        <First report={report} />
        {missed && (
          <p class="small muted">
            <State tone="unknown" word="Not everything is known." /> {missed}
          </p>
        )}
      </div>
      <ul class="auth" aria-label="Authentication">
        {Object.entries(report.auth_results).map(([name, result]) => (
          <li key={name}>
            <a href={`#${anchor('authentication')}`}>{name.toUpperCase()}</a>{' '}
            <AuthState result={result} />
          </li>
        ))}
      </ul>
      <Tested report={report} />
    </section>
  );
}

function First({ report: { checks, score } }: { report: Report }) {
  const anchor = useAnchor();
  const findings = toFix(checks);
  const first = findings[0];
  if (!first)
    return (
      <p>
        {score === null
          ? 'In what could be checked there is nothing to fix.'
          : 'There is nothing to fix.'}
      </p>
    );
  return (
    <p>
      Do this first:{' '}
      <a href={`#${anchor(`check-${first.id}`)}`}>{oneLine(first.title, 300).replace(/\.$/, '')}</a>
      {first.gain > 0 && <strong class="number"> (+{formatPoints(first.gain)})</strong>}.
      {findings.length === 2 && ' One more thing is below it.'}
      {findings.length > 2 && ` ${findings.length - 1} more things are below it.`}
    </p>
  );
}

const SIZE = 128;
const RADIUS = 56;
const ROUND = 2 * Math.PI * RADIUS;

/** The full arc is the score; the pale one goes on to what it would be without the cap. */
export function Ring({ report }: { report: Report }) {
  const { score, grade, cap } = report;
  const tone = grade === null ? 'unknown' : GRADE_TONES[grade];
  const uncapped = cap && score !== null ? (ledgerOf(report).sum ?? score) : score;
  const label =
    score === null
      ? 'No score'
      : `Score ${score} of 100, grade ${grade}${cap ? `, held down by a cap of ${cap.limit}` : ''}`;
  return (
    <svg class={`ring ${tone}`} viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={label}>
      <circle class={score === null ? 'track empty' : 'track'} cx="64" cy="64" r={RADIUS} />
      {uncapped !== null && <Arc name="held" share={uncapped / 100} />}
      {score !== null && <Arc name="arc" share={score / 100} />}
      <text class="score" x="64" y={score === null ? 70 : 67}>
        {score === null ? 'No score' : score}
      </text>
      {grade && (
        <text class="grade" x="64" y="88">
          Grade {grade}
        </text>
      )}
    </svg>
  );
}

function Arc({ name, share }: { name: string; share: number }) {
  if (share <= 0) return null;
  const length = Math.min(1, share) * ROUND;
  return (
    <circle
      class={name}
      cx="64"
      cy="64"
      r={RADIUS}
      stroke-dasharray={`${length.toFixed(1)} ${ROUND.toFixed(1)}`}
      transform="rotate(-90 64 64)"
    />
  );
}

const KINDS = { marketing: 'Marketing mail', transactional: 'Transactional mail' };

function Tested({ report }: { report: Report }) {
  const { name, subject, from_address, received_at, message_size, judged_kind, id } = report;
  const anchor = useAnchor();
  return (
    <dl class="facts tested">
      {name && (
        <div>
          <dt>Test</dt>
          <dd>{oneLine(name, 200)}</dd>
        </div>
      )}
      <div>
        <dt>Subject</dt>
        <dd>{subject ? <bdi>{oneLine(subject, 300)}</bdi> : <span class="muted">none</span>}</dd>
      </div>
      <div>
        <dt>From</dt>
        <dd>
          {from_address ? (
            <bdi>{oneLine(from_address, 320)}</bdi>
          ) : (
            <span class="muted">no address</span>
          )}
        </dd>
      </div>
      {received_at && (
        <div>
          <dt>Received</dt>
          <dd>
            <Time iso={received_at} />
          </dd>
        </div>
      )}
      <div>
        <dt>Kind</dt>
        <dd>
          <a href={`#${anchor('providers')}`}>{KINDS[judged_kind.kind]}</a>,{' '}
          {formatSize(message_size)}
        </dd>
      </div>
      <div>
        <dt>Rules</dt>
        <dd>
          {report.ruleset}
          {id && (
            <>
              {', '}
              <Code text={id} />
            </>
          )}
        </dd>
      </div>
    </dl>
  );
}
