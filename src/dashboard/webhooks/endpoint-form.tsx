/** The form of a webhook endpoint, for a new one and for changes. */

import type { WebhookEndpoint } from '../../webhooks/schema.ts';
import { Choices } from '../frame/choices.tsx';
import {
  type FormProblem,
  ProblemNotice,
  readForm,
  readFormList,
  TextField,
} from '../frame/form.tsx';
import { VersionField } from '../frame/version.tsx';
import { EVENTS } from './parts.tsx';

/** What was typed. */
export interface EndpointValues {
  url: string;
  events: string[];
  description: string;
}

export const NEW_ENDPOINT: EndpointValues = { url: '', events: ['*'], description: '' };

/** Labels of the fields in error messages. */
export const ENDPOINT_LABELS = {
  url: 'URL',
  events: 'list of events',
  description: 'description',
};

export const valuesOf = ({ url, events, description }: WebhookEndpoint): EndpointValues => ({
  url,
  events,
  description: description ?? '',
});

export function readValues(raw: Uint8Array): EndpointValues {
  const field = readForm(raw);
  return {
    url: field('url').trim(),
    events: readFormList(raw)('events'),
    description: field('description').trim(),
  };
}

export const bodyOf = ({
  url,
  events,
  description,
}: EndpointValues): Pick<WebhookEndpoint, 'url' | 'events' | 'description'> => ({
  url,
  // The operation rejects other values.
  events: events as WebhookEndpoint['events'],
  description: description === '' ? null : description,
});

interface EndpointFormProps {
  action: string;
  values: EndpointValues;
  problem: FormProblem | null;
  submit: string;
  /** Of the endpoint to change. */
  version?: string;
}

export function EndpointForm({ action, values, problem, submit, version }: EndpointFormProps) {
  const errors = problem?.fields ?? {};
  return (
    <form method="post" action={action} class="fields endpoint-form">
      <ProblemNotice problem={problem} />
      <VersionField version={version} />
      <TextField
        type="url"
        name="url"
        label="URL"
        hint="A URL with https:// that accepts POST requests and responds with 2xx."
        placeholder="https://example.com/hooks"
        value={values.url}
        error={errors.url}
        required
      />
      <Choices
        type="checkbox"
        name="events"
        label="Events"
        error={errors.events}
        choices={[
          {
            value: '*',
            text: 'All events',
            hint: 'Includes event types that future versions add. Clear this box to select event types.',
          },
          ...EVENTS.map(([type, meaning]) => ({
            value: type,
            text: <code>{type}</code>,
            hint: `${meaning}.`,
          })),
        ]}
        values={values.events}
      />
      <TextField
        name="description"
        label="Description (optional)"
        hint="For your reference, such as the name of the program."
        value={values.description}
        error={errors.description}
      />
      <button type="submit" class="button primary">
        {submit}
      </button>
    </form>
  );
}
