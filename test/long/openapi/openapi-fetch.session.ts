/** The session with openapi-typescript and openapi-fetch. */

import createClient from 'openapi-fetch';
import type { Setting, Transcript } from './session';
import type { paths } from './types';

export async function run({ baseUrl, apiKey, message, hookUrl }: Setting): Promise<Transcript> {
  const client = createClient<paths>({
    baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const created = given(await client.POST('/v1/tests', { body: { name: 'Waiting' } }));
  if (created.object !== 'test') throw new Error(`unexpected object: ${created.object}`);
  const submitted = given(
    await client.POST('/v1/tests/raw', {
      params: { query: { client_ip: '192.0.2.1', name: 'Raw' } },
      body: message,
      bodySerializer: (text) => text,
      headers: { 'content-type': 'message/rfc822' },
    }),
  );
  const path = { id: submitted.id };
  const test = given(await client.GET('/v1/tests/{id}', { params: { path, query: { wait: 30 } } }));
  const first = given(await client.GET('/v1/tests', { params: { query: { limit: 1 } } }));
  const second = given(
    await client.GET('/v1/tests', {
      params: { query: { limit: 1, starting_after: first.data[0]!.id } },
    }),
  );
  const events = given(
    await client.GET('/v1/events', { params: { query: { type: 'test.completed' } } }),
  );
  const event = events.data[0]!;
  if (event.type !== 'test.completed') throw new Error(`unexpected event: ${event.type}`);
  const endpoint = given(
    await client.POST('/v1/webhooks/endpoints', {
      body: { url: hookUrl, events: ['test.completed'] },
    }),
  );
  const share = given(await client.POST('/v1/reports/share', { body: { test_ids: [test.id] } }));

  const unknown = await client.GET('/v1/tests/{id}', { params: { path: { id: 'test_unknown' } } });
  const limit = await client.GET('/v1/tests', { params: { query: { limit: 1000 } } });
  const body = await client.POST('/v1/tests', { body: { expires_in: 1 } });
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

function given<T>({ data, error }: { data?: T; error?: { detail: string } }): T {
  if (data === undefined) throw new Error(error?.detail ?? 'no data');
  return data;
}
