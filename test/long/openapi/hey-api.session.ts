/** The session with @hey-api/openapi-ts. */

import * as api from './hey-api';
import { client } from './hey-api/client.gen';
import type { Setting, Transcript } from './session';

export async function run({ baseUrl, apiKey, message, hookUrl }: Setting): Promise<Transcript> {
  client.setConfig({ baseUrl, auth: apiKey });
  const created = given(await api.createTest({ body: { name: 'Waiting' } }));
  if (created.object !== 'test') throw new Error(`unexpected object: ${created.object}`);
  const submitted = given(
    await api.submitTest({
      query: { client_ip: '192.0.2.1', name: 'Raw' },
      body: new Blob([message]),
    }),
  );
  const path = { id: submitted.id };
  const test = given(await api.getTest({ path, query: { wait: 30 } }));
  const first = given(await api.listTests({ query: { limit: 1 } }));
  const second = given(
    await api.listTests({ query: { limit: 1, starting_after: first.data[0]!.id } }),
  );
  const event = given(await api.listEvents({ query: { type: 'test.completed' } })).data[0]!;
  if (event.type !== 'test.completed') throw new Error(`unexpected event: ${event.type}`);
  const endpoint = given(
    await api.createWebhookEndpoint({ body: { url: hookUrl, events: ['test.completed'] } }),
  );
  const share = given(await api.shareReport({ body: { test_ids: [test.id] } }));

  const unknown = await api.getTest({ path: { id: 'test_unknown' } });
  const limit = await api.listTests({ query: { limit: 1000 } });
  const body = await api.createTest({ body: { expires_in: 1 } });
  return {
    created: created.status,
    address: created.address,
    submitted: submitted.id,
    status: test.status,
    score: test.score,
    dkim: test.auth_results.dkim,
    firstCheck: test.checks[0]!.id,
    firstReference: test.checks[0]!.reference.url,
    listed: [first, second].map(({ data }) => data[0]!.id),
    hasMore: first.has_more,
    eventTest: event.data.id,
    eventScore: event.data.score,
    secret: endpoint.secret,
    shareUrl: share.url,
    sharedTests: share.test_ids,
    notFound: unknown.error?.code ?? '',
    invalidLimit: limit.error?.code ?? '',
    invalidParam: body.error?.errors?.[0]?.param ?? '',
  };
}

function given<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}
