/** The session with orval. Its functions take the options of `fetch`. */

import * as api from './orval/api';
import type { Setting, Transcript } from './session';

export async function run({ apiKey, message, hookUrl }: Setting): Promise<Transcript> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const created = await api.createTest({ name: 'Waiting' }, { headers });
  const submitted = await api.submitTest(
    new Blob([message]),
    { client_ip: '192.0.2.1', name: 'Raw' },
    { headers },
  );
  if (created.status !== 201 || submitted.status !== 201)
    throw new Error(JSON.stringify([created.data, submitted.data]));
  const waiting = created.data;
  if (waiting.object !== 'test') throw new Error(`unexpected object: ${waiting.object}`);
  const test = await api.getTest(submitted.data.id, { wait: 30 }, { headers });
  const first = await api.listTests({ limit: 1 }, { headers });
  if (test.status !== 200 || first.status !== 200)
    throw new Error(JSON.stringify([test.data, first.data]));
  const after = { limit: 1, starting_after: first.data.data[0]!.id };
  const second = await api.listTests(after, { headers });
  const events = await api.listEvents({ type: 'test.completed' }, { headers });
  if (second.status !== 200 || events.status !== 200)
    throw new Error(JSON.stringify([second.data, events.data]));
  const event = events.data.data[0]!;
  if (event.type !== 'test.completed') throw new Error(`unexpected event: ${event.type}`);
  const endpoint = await api.createWebhookEndpoint(
    { url: hookUrl, events: ['test.completed'] },
    { headers },
  );
  const share = await api.shareReport({ test_ids: [test.data.id] }, { headers });
  if (endpoint.status !== 201 || share.status !== 201)
    throw new Error(JSON.stringify([endpoint.data, share.data]));

  const unknown = await api.getTest('test_unknown', {}, { headers });
  const limit = await api.listTests({ limit: 1000 }, { headers });
  const body = await api.createTest({ expires_in: 1 }, { headers });
  return {
    created: waiting.status,
    address: waiting.address,
    submitted: submitted.data.id,
    status: test.data.status,
    score: test.data.score,
    dkim: test.data.auth_results.dkim,
    firstCheck: test.data.checks[0]!.id,
    firstReference: test.data.checks[0]!.reference.url,
    listed: [first.data, second.data].map(({ data }) => data[0]!.id),
    hasMore: first.data.has_more,
    eventTest: event.data.id,
    eventScore: event.data.score,
    secret: endpoint.data.secret,
    shareUrl: share.data.url,
    sharedTests: share.data.test_ids,
    notFound: unknown.status === 404 ? unknown.data.code : '',
    invalidLimit: limit.status === 422 ? limit.data.code : '',
    invalidParam: body.status === 422 ? (body.data.errors?.[0]?.param ?? '') : '',
  };
}
