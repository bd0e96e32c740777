/** The newest tests, as a short list. */

import type { ListedTest } from '../../mailtests/schema.ts';
import { Card } from '../frame/card.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { AuthMarks, TestName, TestResult } from '../tests/test-cells.tsx';

/** Each test looks as in the list of all tests. */
export function LatestTests({
  tests,
  changes,
}: {
  tests: ListedTest[];
  /** Changes of the score by ID. */
  changes: Map<string, number>;
}) {
  return (
    <Card
      title="Latest tests"
      id="latest-tests"
      actions={
        <a class="small" href="/tests">
          All tests
        </a>
      }
    >
      {tests.length === 0 ? (
        <p class="muted">No tests of this domain yet.</p>
      ) : (
        <DataTable
          label="Latest tests"
          rows={tests}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `/tests/${id}`}
          columns={[
            { title: 'Test', cell: (test) => <TestName test={test} /> },
            {
              title: 'Result',
              cell: (test) => <TestResult test={test} change={changes.get(test.id)} />,
            },
            {
              title: 'Authentication',
              cell: ({ auth_results }) => <AuthMarks results={auth_results} />,
              wide: true,
            },
            {
              title: 'Received',
              cell: ({ received_at, created_at }) =>
                received_at ? (
                  <Ago at={received_at} />
                ) : (
                  <span class="muted">
                    created <Ago at={created_at} />
                  </span>
                ),
            },
          ]}
        />
      )}
    </Card>
  );
}
