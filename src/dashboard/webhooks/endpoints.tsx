/** The list of webhook endpoints. */

import { recentOutcomes } from '../../webhooks/delivery-figures.ts';
import { endpointOperations } from '../../webhooks/routes.ts';
import { listPage } from '../frame/list-page.tsx';
import { useReader } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { EndpointState, eventsSummary, PATH, SuccessRate } from './parts.tsx';

const show = listPage({
  path: PATH,
  operation: 'showWebhooks',
  summary: 'Show the webhook endpoints',
  title: 'Webhooks',
  section: 'webhooks',
  route: endpointOperations.list,
  done: { deleted: 'Endpoint deleted.' },
  async content(endpoints, { app }) {
    if (endpoints.length === 0) return { list: <NoEndpoints /> };
    const outcomes = await recentOutcomes(
      app.db,
      endpoints.map(({ id }) => id),
    );
    return {
      actions: <AddEndpoint />,
      list: (
        <DataTable
          label="Webhook endpoints"
          rows={endpoints}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `${PATH}/${id}`}
          columns={[
            {
              title: 'Endpoint',
              cell: ({ url, description }) => (
                <>
                  <bdi class="one-line endpoint-name" title={url}>
                    {url.replace('https://', '')}
                  </bdi>
                  {description && (
                    <span class="row-note">
                      <bdi class="one-line endpoint-name">{description}</bdi>
                    </span>
                  )}
                </>
              ),
            },
            { title: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
            {
              title: 'Recent success rate',
              cell: ({ id }) => <SuccessRate outcomes={outcomes.get(id)} />,
              wide: true,
            },
            {
              title: 'Events',
              cell: ({ events }) => eventsSummary(events),
              wide: true,
            },
          ]}
        />
      ),
    };
  },
});

const AddEndpoint = () => (
  <a class="button primary" href={`${PATH}/new`}>
    Add endpoint
  </a>
);

function NoEndpoints() {
  const { testMode } = useReader();
  return (
    <EmptyState
      title={testMode ? 'No test-mode endpoints yet' : 'No webhook endpoints yet'}
      action={<AddEndpoint />}
    >
      The service posts each event, such as a completed test, as signed JSON to your endpoints.
      {testMode && ' Test-mode endpoints get the events of test-mode keys only.'}
    </EmptyState>
  );
}

export const endpointListPages = [show];
