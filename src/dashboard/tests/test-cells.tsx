/** What lists and comparisons show about a test. */

import { addressDomain } from '../../lib/domain-names.ts';
import type { ListedTest } from '../../mailtests/schema.ts';
import { titleOfTest } from '../../mailtests/titles.ts';
import { oneLine } from '../../report/blocks.ts';
import { Icon, StateMark } from '../../ui/components.tsx';
import { Score, Waiting } from '../frame/states.tsx';
import { Ago } from '../frame/times.tsx';

type Named = Pick<ListedTest, 'name' | 'subject' | 'status' | 'address' | 'received_at'>;

/** The title of a test; the address of one without a name that has received no message. */
export const titleOf = (test: Named): string =>
  test.name === null && test.received_at === null ? test.address : oneLine(titleOfTest(test), 100);

/** The name with the sender and the subject below. */
export function TestName({ test }: { test: ListedTest }) {
  const { name, subject, from_address } = test;
  return (
    <>
      <bdi class="test-title">{titleOf(test)}</bdi>
      {from_address !== null && (
        <span class="row-note one-line">
          <bdi>{oneLine(from_address, 80)}</bdi>
          {name !== null && subject !== null && (
            <>
              {' · '}
              <bdi>{oneLine(subject, 100)}</bdi>
            </>
          )}
        </span>
      )}
    </>
  );
}

const FAILURES: Record<NonNullable<ListedTest['failure_reason']>, string> = {
  not_received: 'No message arrived',
  unreadable: 'Message unreadable',
  analysis_error: 'Analysis failed',
};

type Result = Pick<ListedTest, 'status' | 'failure_reason' | 'score' | 'grade' | 'expires_at'>;

/** The score with its change, or what the test waits for, or why it has no result. */
export function TestResult({ test, change }: { test: Result; change?: number }) {
  const { status, failure_reason, score, grade, expires_at } = test;
  if (status === 'waiting')
    return (
      <>
        <Waiting>Waiting for mail</Waiting>
        <span class="row-note">
          expires <Ago at={expires_at} />
        </span>
      </>
    );
  if (status === 'processing') return <Waiting>Analyzing the message</Waiting>;
  if (status === 'failed')
    return <StateMark state="fail" word={FAILURES[failure_reason ?? 'analysis_error']} />;
  if (score === null) return <StateMark state="unknown" word="No score" />;
  return (
    <span class="nowrap">
      <Score score={score} grade={grade} /> <ScoreChange change={change} />
    </span>
  );
}

/** "+6", "−12", "=": the difference to the score of the previous test, in points. */
export function ScoreChange({ change }: { change: number | undefined }) {
  if (change === undefined) return null;
  if (change === 0)
    return (
      <span class="delta muted" title="The same score as in the previous test">
        <span aria-hidden="true">=</span>
        <span class="visually-hidden">unchanged</span>
      </span>
    );
  const points = Math.abs(change);
  const words = `${points} ${points === 1 ? 'point' : 'points'} ${change > 0 ? 'more' : 'less'}`;
  return (
    <span
      class={`delta ${change > 0 ? 'pass' : 'fail'}`}
      title={`${words} than in the previous test`}
    >
      <span aria-hidden="true">{`${change > 0 ? '+' : '−'}${points}`}</span>
      <span class="visually-hidden">{words}</span>
    </span>
  );
}

const MECHANISMS = [
  ['SPF', 'spf'],
  ['DKIM', 'dkim'],
  ['DMARC', 'dmarc'],
] as const;

/** SPF, DKIM and DMARC by icon; a result other than "pass" is written out. */
export function AuthMarks({ results }: { results: ListedTest['auth_results'] }) {
  return (
    <span class="auth-marks">
      {MECHANISMS.map(([name, key]) => {
        const result = results[key];
        if (result === null) return null;
        const state =
          result === 'pass' ? 'pass' : result.endsWith('temperror') ? 'unknown' : 'fail';
        return (
          <span key={key} class={`state ${state}`} title={`${name}: ${result}`}>
            <Icon state={state} />
            {name}
            <span class={result === 'pass' ? 'visually-hidden' : undefined}> {result}</span>
          </span>
        );
      })}
    </span>
  );
}

/** The team's domain of the test, else the From domain. */
export function domainOf(
  { domain_id, from_address }: Pick<ListedTest, 'domain_id' | 'from_address'>,
  names: Map<string, string>,
): string | null {
  return names.get(domain_id ?? '') ?? addressDomain(from_address ?? '');
}

const MAX_SHOWN_TAGS = 2;

export function Tags({ tags }: { tags: string[] }) {
  if (tags.length === 0) return null;
  const rest = tags.slice(MAX_SHOWN_TAGS);
  return (
    <span class="tags">
      {tags.slice(0, MAX_SHOWN_TAGS).map((tag) => (
        <span key={tag} class="tag">
          <bdi>{tag}</bdi>
        </span>
      ))}
      {rest.length > 0 && (
        <span class="muted small" title={rest.join(', ')}>
          +{rest.length}
        </span>
      )}
    </span>
  );
}
