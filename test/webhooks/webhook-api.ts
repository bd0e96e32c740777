/** What the tests of the operations on webhooks ask, and the answers' types. */

import assert from 'node:assert/strict';
import type { Answer, CallOptions } from '../helpers/app.ts';
import type { Delivering } from './endpoints.ts';

export const ENDPOINTS = '/v1/webhooks/endpoints';
export const DELIVERIES = '/v1/webhooks/deliveries';

export interface Endpoint {
  id: string;
  object: 'webhook_endpoint';
  url: string;
  events: string[];
  description: string | null;
  enabled: boolean;
  status: string;
  created_at: string;
  secret: string;
}

export interface Attempt {
  number: number;
  trigger: string;
  started_at: string;
  duration_ms: number | null;
  url: string;
  request_headers: Record<string, string>;
  response_status: number | null;
  response_headers: Record<string, string> | null;
  response_body: string | null;
  error: string | null;
}

export interface Delivery {
  id: string;
  object: 'webhook_delivery';
  endpoint_id: string;
  event_id: string;
  event_type: string;
  livemode: boolean | null;
  status: string;
  next_attempt_at: string | null;
  created_at: string;
  payload: string | null;
  attempts: Attempt[];
}

type Asking = Pick<Delivering, 'service' | 'receiver'>;

/** An endpoint at the receiver, for all events. */
export async function createEndpoint(
  { service, receiver }: Asking,
  json: object = {},
  options: CallOptions = {},
): Promise<Endpoint> {
  const body = { url: receiver.url, events: ['*'], ...json };
  const made = await service.call<Endpoint>('POST', ENDPOINTS, { ...options, json: body });
  assert.equal(made.status, 201, made.text);
  return made.body;
}

/** As soon as no attempt of it is due or under way. */
export async function settled({ service }: Pick<Delivering, 'service'>, id: string) {
  return (await service.call<Delivery>('GET', `${DELIVERIES}/${id}?wait=20`)).body;
}

/** The deliveries to an endpoint, newest first. */
export async function listed({ service }: Pick<Delivering, 'service'>, id: string, query = '') {
  const path = `${ENDPOINTS}/${id}/deliveries${query}`;
  const { status, body, text } = await service.call<{ data: Delivery[]; has_more: boolean }>(
    'GET',
    path,
  );
  assert.equal(status, 200, text);
  return body.data;
}

/** The answer's errors as `param message`. */
export function faultsOf({ body }: Answer<unknown>): string[] {
  const { errors = [] } = body as { errors?: { param: string; message: string }[] };
  return errors.map(({ param, message }) => `${param} ${message}`);
}

export const codeOf = ({ status, body }: Answer<unknown>) => [
  status,
  (body as { code?: string }).code,
];
