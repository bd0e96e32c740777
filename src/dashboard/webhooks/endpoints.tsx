/** The list of webhook endpoints. */

import * as v from 'valibot';
import { recentOutcomes } from '../../webhooks/delivery-figures.ts';
import { endpointOperations } from '../../webhooks/routes.ts';
import { appPage } from '../frame/app-page.tsx';
import { Notice } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, Pager } from '../frame/table.tsx';
import { EndpointState, eventsSummary, PATH, SuccessRate } from './parts.tsx';

const Query = v.strictObject({
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
});

const show = page({
  path: PATH,
  operation: 'showWebhooks',
  role: 'admin',
  summary: 'Show the webhook endpoints',
  query: Query,
  async handle(call) {
    const { starting_after, ending_before, done } = call.query;
    const query = { starting_after, ending_before };
    const endpoints = await call.invoke(endpointOperations.list, { query });
    const outcomes = await recentOutcomes(
      call.app.db,
      endpoints.data.map(({ id }) => id),
    );
    const isEmpty = endpoints.data.length === 0;
    return appPage(call, {
      title: 'Webhooks',
      section: 'webhooks',
      path: PATH,
      actions: !isEmpty && <AddEndpoint />,
      calls: [{ route: endpointOperations.list, query }],
      children: (
        <>
          {done === 'deleted' && <Notice tone="pass">Endpoint deleted.</Notice>}
          {isEmpty ? (
            <NoEndpoints />
          ) : (
            <DataTable
              label="Webhook endpoints"
              rows={endpoints.data}
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
          )}
          <Pager
            path={PATH}
            query={{}}
            cursors={query}
            rows={endpoints.data}
            hasMore={endpoints.has_more}
          />
        </>
      ),
    });
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
