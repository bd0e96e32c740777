/** The pages that create a webhook endpoint and show its secret once. */

import { endpointOperations } from '../../webhooks/routes.ts';
import { ActionButton } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, Notice } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import {
  bodyOf,
  ENDPOINT_LABELS,
  EndpointForm,
  type EndpointValues,
  NEW_ENDPOINT,
  readValues,
} from './endpoint-form.tsx';
import { PARENTS, PATH, SecretCard } from './parts.tsx';

function renderNew(call: PageCall, values: EndpointValues, problem: FormProblem | null = null) {
  const { livemode } = call.actor;
  return appPage(call, {
    title: 'New webhook endpoint',
    section: 'webhooks',
    path: `${PATH}/new`,
    parents: PARENTS,
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: endpointOperations.create, body: EXAMPLE }],
    children: (
      <Card>
        <p class="muted">
          {livemode
            ? 'This endpoint gets live events only. For the events of test-mode keys, switch to test mode first.'
            : 'This endpoint gets the events of test-mode keys only. For live events, switch to live mode first.'}
        </p>
        <EndpointForm action={PATH} values={values} problem={problem} submit="Add endpoint" />
      </Card>
    ),
  });
}

const EXAMPLE = { url: 'https://hooks.example.com/deliverability', events: ['*'] };

const showNew = page({
  path: `${PATH}/new`,
  operation: 'showNewWebhook',
  role: 'admin',
  summary: 'Show the form for a new webhook endpoint',
  handle: (call) => renderNew(call, NEW_ENDPOINT),
});

const create = operationForm({
  path: PATH,
  operation: 'submitWebhook',
  summary: 'Create a webhook endpoint with the form',
  route: endpointOperations.create,
  read: readValues,
  body: (values) => ({ ...bodyOf(values), enabled: true }),
  labels: ENDPOINT_LABELS,
  onProblem: (call, problem, values) => renderNew(call, values, problem),
  next({ id, url, secret }, call) {
    // The secret is in this response only, so there is no redirect.
    return appPage(call, {
      title: 'Endpoint added',
      section: 'webhooks',
      path: `${PATH}/${id}`,
      parents: PARENTS,
      headers: { 'cache-control': 'no-store' },
      children: (
        <>
          <Notice tone="pass">
            Events are now sent to <bdi>{url}</bdi>.
          </Notice>
          <SecretCard secret={secret} />
          <div class="actions">
            <ActionButton action={`${PATH}/${id}/test`} primary>
              Send a test event
            </ActionButton>
            <a class="button" href={`${PATH}/${id}`}>
              Open the endpoint
            </a>
          </div>
        </>
      ),
    });
  },
});

/** Before the pages of an endpoint, because the path of the form matches theirs too. */
export const newEndpointPages = [showNew, create];
