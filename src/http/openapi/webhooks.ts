/** The `webhooks` section of the document, and the schemas of events by type. */

import type * as v from 'valibot';
import { addSchema, type Components, type Json, schemaOf, schemaRef } from './json-schema.ts';

/** An event type, declared by the feature that appends its events. */
export interface EventDeclaration {
  /** Such as `test.completed`. */
  type: string;
  /** A few words. */
  summary: string;
  /** When the event happens. */
  description: string;
  /** The schema of `data`, with a name. */
  data: v.GenericSchema;
  /** What `data` is, for the documents: "the test". */
  object: string;
  /** The parts of the line that `listen` prints about it; null for those that `data` lacks. `data` comes from outside. */
  line(data: Record<string, unknown>): (string | null)[];
}

/** What the requests to webhook endpoints have in common. */
export interface WebhookInfo {
  /** The header fields, with description and example. */
  headers: Record<string, { description: string; example: string; required: boolean }>;
  /** By status. */
  responses: Record<string, string>;
}

const EVENT = 'Event';

/** `test.completed` → `TestCompleted` */
const pascalCase = (type: string): string =>
  type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * Replaces the component `Event`, in which `data` is any object, by a union of one schema for each
 * type. Does nothing in a document without events.
 */
export function addEventSchemas(declarations: EventDeclaration[], components: Components): void {
  const { schemas } = components;
  const general = schemas[EVENT];
  if (!general) return;
  const { examples, ...base } = general as Json & { properties: Json };
  const mapping: Record<string, string> = {};
  for (const { type, description, data } of declarations) {
    const name = `${pascalCase(type)}${EVENT}`;
    addSchema(schemas, name, {
      ...base,
      description,
      properties: {
        ...base.properties,
        type: { type: 'string', const: type, description: `Always \`${type}\`.` },
        data: {
          ...schemaOf(data, 'output', components),
          description: 'The object that the event is about.',
        },
      },
    });
    mapping[type] = `#/components/schemas/${name}`;
  }
  schemas[EVENT] = {
    description: general.description,
    oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping },
  };
}

/** One request for each event type. */
export function webhooksOf(declarations: EventDeclaration[], info: WebhookInfo): Json {
  return Object.fromEntries(
    declarations.map(({ type, summary, description }) => [
      type,
      {
        post: {
          operationId: `on${pascalCase(type)}`,
          tags: ['Webhooks'],
          summary,
          description,
          // Not an API key: the signature in the header fields proves the origin.
          security: [],
          parameters: Object.keys(info.headers).map((name) => ({
            $ref: `#/components/parameters/${name}`,
          })),
          requestBody: {
            required: true,
            description: 'The event.',
            content: { 'application/json': { schema: schemaRef(`${pascalCase(type)}${EVENT}`) } },
          },
          responses: Object.fromEntries(
            Object.entries(info.responses).map(([status, text]) => [status, { description: text }]),
          ),
        },
      },
    ]),
  );
}

/** The header fields of webhook requests, as parameters. */
export const webhookParameters = ({ headers }: WebhookInfo): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, { description, example, required }]) => [
      name,
      {
        name,
        in: 'header',
        required,
        description,
        schema: { type: 'string', examples: [example] },
      },
    ]),
  );
