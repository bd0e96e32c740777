/** The OpenAPI document of the program explains everything: names, descriptions, examples, tags, events. */

// @one-database: about the OpenAPI document.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { EVENT_TYPES } from '../../src/events/events.ts';
import { DOCUMENTED_API } from '../../src/features.ts';
import { describeApi } from '../../src/health/describe-api.ts';
import { FORMATS } from './document-validator.ts';

type Json = Record<string, unknown>;

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  description?: string;
  schema: Json;
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags?: string[];
  security?: object[];
  parameters: Parameter[];
}

interface Document {
  info: Json;
  tags: { name: string; description: string }[];
  externalDocs?: { url: string };
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: {
    securitySchemes?: object;
    parameters: Record<string, Parameter>;
    schemas: Record<string, Json>;
  };
}

const URLS = { BASE_URL: 'https://api.example', APP_URL: 'https://app.example' };
const documentOf = (surface: 'full' | 'preview') =>
  describeApi(DOCUMENTED_API, { ...URLS, SURFACE: surface }, '1.0.0') as unknown as Document;
const DOCUMENT = documentOf('full');
const OPERATIONS = Object.values(DOCUMENT.paths).flatMap((methods) => Object.values(methods));

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every object schema with fields, with its place in the document. */
function* objectSchemas(value: unknown, place: string): Generator<[place: string, schema: Json]> {
  if (Array.isArray(value))
    for (const [i, part] of value.entries()) yield* objectSchemas(part, `${place}/${i}`);
  if (!isObject(value)) return;
  if (isObject(value.properties)) yield [place, value];
  for (const [key, part] of Object.entries(value))
    if (!['examples', 'example'].includes(key)) yield* objectSchemas(part, `${place}/${key}`);
}

const fields = [...objectSchemas(DOCUMENT, '')].flatMap(([place, { properties }]) =>
  Object.entries(properties as Record<string, Json>).map(
    ([name, schema]) => [`${place}/${name}`, schema] as const,
  ),
);

/** Values that a reader can guess, or that have an example elsewhere. */
function isSelfEvident(schema: Json): boolean {
  const { type, items, anyOf, oneOf } = schema;
  const types = [type].flat();
  if ('$ref' in schema || 'const' in schema || 'enum' in schema || anyOf || oneOf) return true;
  if (types.includes('boolean')) return true;
  return isObject(items) && isSelfEvident(items);
}

describe('OpenAPI document of the program', () => {
  it('names every object schema', () => {
    const places = [...objectSchemas(DOCUMENT, '')].map(([place]) => place);
    assert.ok(places.length > 100, `${places.length}`);
    const unnamed = places.filter(
      // Error responses narrow the codes of `Problem`.
      (place) => !/^\/components\/schemas\/\w+$|\/schema\/allOf\/1$/.test(place),
    );
    assert.deepEqual(unnamed, []);
  });

  it('describes every field, schema, parameter, operation and tag', () => {
    assert.ok(fields.length > 500, `${fields.length}`);
    const missing = [
      ...fields.filter(([, { description }]) => !description).map(([place]) => place),
      ...Object.entries(DOCUMENT.components.schemas)
        .filter(([, { description }]) => !description)
        .map(([name]) => name),
      ...[
        ...OPERATIONS.flatMap(({ parameters }) => parameters),
        ...Object.values(DOCUMENT.components.parameters),
      ]
        .filter(({ $ref, description }) => !$ref && !description)
        .map(({ name }) => name),
      ...OPERATIONS.filter(({ description }) => !description).map(({ operationId }) => operationId),
    ];
    assert.deepEqual(missing, []);
  });

  it('has an example for every field that is not self-evident', () => {
    const missing = fields.filter(([, schema]) => !isSelfEvident(schema) && !schema.examples);
    assert.deepEqual(
      missing.map(([place]) => place),
      [],
    );
  });

  it('has an example for every path parameter and every request body', () => {
    const parameters = [
      ...OPERATIONS.flatMap(({ parameters }) => parameters),
      ...Object.values(DOCUMENT.components.parameters),
    ];
    const inPath = parameters.filter((parameter) => parameter.in === 'path');
    assert.ok(inPath.length > 10);
    for (const { name, schema } of inPath) assert.ok(schema.examples, name);
    const bodies = [
      ...JSON.stringify(DOCUMENT.paths).matchAll(/"requestBody":\{[^[]*?schemas\/(\w+)/g),
    ];
    assert.ok(bodies.length > 15, `${bodies.length}`);
    for (const [, name] of bodies) assert.ok(DOCUMENT.components.schemas[name!]!.examples, name);
  });

  it('has only examples that are valid', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats: FORMATS });
    ajv.addSchema({ ...DOCUMENT, $id: 'https://document.example/' });
    let checked = 0;
    const check = (place: string, { examples }: Json) => {
      if (!Array.isArray(examples)) return;
      const pointer = place.split('/').map(encodeURIComponent).join('/');
      const validate = ajv.compile({ $ref: `https://document.example/#${pointer}` });
      for (const example of examples) {
        checked += 1;
        assert.ok(validate(example), `${place}: ${JSON.stringify(validate.errors)}`);
      }
    };
    for (const [name, schema] of Object.entries(DOCUMENT.components.schemas)) {
      check(`/components/schemas/${name}`, schema);
      for (const [field, part] of Object.entries((schema.properties ?? {}) as Record<string, Json>))
        check(`/components/schemas/${name}/properties/${field}`, part);
    }
    assert.ok(checked > 400, `${checked}`);
  });

  it('has one tag and a short summary for each operation', () => {
    const tags = DOCUMENT.tags.map(({ name }) => name);
    for (const { operationId, summary, tags: own } of OPERATIONS) {
      assert.match(operationId, /^[a-z][A-Za-z0-9]+$/);
      assert.equal(own?.length, 1, operationId);
      assert.ok(tags.includes(own![0]!), operationId);
      assert.match(summary, /^[A-Z][^.;:`]{4,49}$/, operationId);
    }
    const used = new Set(OPERATIONS.flatMap(({ tags }) => tags ?? []));
    assert.deepEqual(tags.toSorted(), [...used].toSorted());
  });

  it('declares every event type once, with a webhook and a schema for its data', () => {
    assert.deepEqual(
      DOCUMENTED_API.events.map(({ type }) => type),
      [...EVENT_TYPES],
    );
    assert.deepEqual(Object.keys(DOCUMENT.webhooks!), [...EVENT_TYPES]);
    const { schemas } = DOCUMENT.components;
    const { oneOf, discriminator } = schemas.Event as {
      oneOf: { $ref: string }[];
      discriminator: { propertyName: string; mapping: Record<string, string> };
    };
    assert.equal(discriminator.propertyName, 'type');
    assert.deepEqual(Object.keys(discriminator.mapping), [...EVENT_TYPES]);
    assert.deepEqual(
      Object.values(discriminator.mapping),
      oneOf.map(({ $ref }) => $ref),
    );
    for (const [type, reference] of Object.entries(discriminator.mapping)) {
      const { properties } = schemas[reference.split('/').at(-1)!] as {
        properties: { type: Json; data: Json };
      };
      assert.equal(properties.type.const, type);
      assert.match(String(properties.data.$ref), /^#\/components\/schemas\/\w+$/);
    }
  });

  it('links to the API reference and the administrator', () => {
    assert.equal(DOCUMENT.externalDocs!.url, 'https://app.example/docs');
    assert.equal((DOCUMENT.info.contact as Json).url, 'https://app.example');
  });

  it('names no credentials and no events on the preview surface', () => {
    const preview = documentOf('preview');
    assert.equal(preview.components.securitySchemes, undefined);
    assert.equal(preview.webhooks, undefined);
    const operations = Object.values(preview.paths).flatMap((methods) => Object.values(methods));
    assert.equal(operations.length, 5);
    for (const { security } of operations) assert.equal(security, undefined);
    assert.doesNotMatch(JSON.stringify(preview), /bearer|session|Authorization/i);
  });
});
