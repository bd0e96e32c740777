/** What happened to a domain: changes of its state, and its latest tests. */

import type { DomainEvent } from '../../domains/queries.ts';
import type { ListedTest } from '../../mailtests/schema.ts';
import { StateMark } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { Waiting } from '../frame/states.tsx';
import { DataTable, pathWith } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { TestResult, titleOf } from '../tests/test-cells.tsx';
import { STATE_WORDS } from './states.tsx';

const MARKS = { healthy: 'pass', warning: 'warn', critical: 'fail', unknown: 'unknown' } as const;

export function History({ events }: { events: DomainEvent[] }) {
  return (
    <Card title="History" id="history">
      {events.length === 0 ? (
        <p class="muted">
          No changes yet. Changes in verification, health and DNS records appear here.
        </p>
      ) : (
        <ol class="timeline">
          {events.map((event) => (
            <li key={event.id}>
              <p>{wordsOf(event)}</p>
              <p class="small muted">
                <Ago at={event.created_at} />
              </p>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function wordsOf({ type, data }: DomainEvent) {
  if (type === 'domain.verified') return <StateMark state="pass" word="Verified" />;
  if (type === 'domain.verification_failed')
    return <StateMark state="fail" word={STATE_WORDS.failed} />;
  if (data.changes) return <>{`Changed records: ${data.changes.map(recordName).join(', ')}`}</>;
  const { status, score } = data.health;
  return (
    <>
      <StateMark state={MARKS[status]} word={STATE_WORDS[status]} />
      <span class="muted">
        {data.previous_health && `, was ${STATE_WORDS[data.previous_health].toLowerCase()}`}
        {score !== null && `, score ${score}`}
      </span>
    </>
  );
}

const recordName = ({ type, name }: { type: string; name: string }): string => `${type} ${name}`;

interface LatestProps {
  domainId: string;
  tests: ListedTest[];
  /** Changes of the score by ID. */
  changes: Map<string, number>;
}

export function LatestTests({ domainId, tests, changes }: LatestProps) {
  const all = tests.length > 0 && (
    <a href={pathWith('/tests', { domain_id: domainId })}>All tests of this domain</a>
  );
  return (
    <Card title="Latest tests" id="tests" actions={all}>
      {tests.length === 0 ? (
        <p class="muted">
          None yet. Send a message from this domain to a test address, and its score appears here.
        </p>
      ) : (
        <DataTable
          label="Latest tests"
          rows={tests}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `/tests/${id}`}
          columns={[
            {
              title: 'Test',
              cell: (test) => <bdi class="one-line latest-test-name">{titleOf(test)}</bdi>,
            },
            {
              title: 'Score',
              number: true,
              cell: (test) => <Outcome test={test} change={changes.get(test.id)} />,
            },
            {
              title: 'Time',
              cell: ({ received_at, created_at }) => <Ago at={received_at ?? created_at} />,
            },
          ]}
        />
      )}
    </Card>
  );
}

function Outcome({ test, change }: { test: ListedTest; change: number | undefined }) {
  const { status } = test;
  if (status === 'completed') return <TestResult test={test} change={change} />;
  if (status === 'failed') return <StateMark state="unknown" word="No result" />;
  return <Waiting>{status === 'processing' ? 'Analyzing' : 'Waiting'}</Waiting>;
}
