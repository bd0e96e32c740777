/** Converts valibot schemas to JSON Schema 2020-12, and collects the named ones as components. */

import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import type { SchemaName } from '../schemas.ts';
import { commonMeaning } from './common-properties.ts';

export type Json = Record<string, unknown>;

/** The components of a document, filled while its operations are described. */
export interface Components {
  schemas: Record<string, Json>;
  responses: Record<string, Json>;
}

export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** The marker that `named` leaves in the converted schema. */
const MARKER = '$component';

/**
 * The JSON Schema of a valibot schema. Named schemas become components, and `$ref` refers to them.
 * Throws if two different schemas have the same name.
 */
export function schemaOf(
  schema: v.GenericSchema,
  typeMode: 'input' | 'output',
  { schemas }: Pick<Components, 'schemas'>,
): Json {
  const { $schema: _, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    errorMode: 'ignore',
    overrideAction: ({ valibotAction, jsonSchema }) => withReplacement(valibotAction, jsonSchema),
  }) as Json;
  return extract(simplify(converted), schemas);
}

/**
 * The same without references and formats of OpenAPI, for readers that get the schema alone. Of output, which they need
 * not write, they get the types only.
 */
export function inlineSchemaOf(schema: v.GenericSchema, typeMode: 'input' | 'output'): Json {
  const schemas: Components['schemas'] = {};
  const inline = (value: Json): Json => {
    const { $ref, ...own } = value;
    const target = typeof $ref === 'string' ? schemas[$ref.split('/').at(-1)!] : {};
    const { format, ...rest }: Json = { ...target, ...own };
    if (typeMode === 'output') {
      delete rest.description;
      delete rest.examples;
    }
    const isStandard = format !== undefined && format !== 'int32';
    return mapNested(isStandard ? { format, ...rest } : rest, inline);
  };
  return inline(schemaOf(schema, typeMode, { schemas }));
}

/** `jsonSchema` metadata takes precedence: a query string may be documented as a number. */
function withReplacement(action: unknown, converted: object): never {
  const { jsonSchema } = (action as { metadata?: { jsonSchema?: Json } }).metadata ?? {};
  if (!jsonSchema) return undefined as never;
  const { description, examples } = converted as Json;
  return {
    ...jsonSchema,
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples }),
  } as never;
}

/** Adds a component. Throws if a different schema has its name. */
export function addSchema(schemas: Record<string, Json>, name: string, schema: Json): void {
  const existing = schemas[name];
  if (existing && JSON.stringify(existing) !== JSON.stringify(schema))
    throw new Error(`Two different schemas are named ${name}`);
  schemas[name] = schema;
}

/** A copy in which `change` has replaced the schemas directly inside this one. */
function mapNested(schema: Json, change: (nested: Json) => Json): Json {
  const copy = { ...schema };
  for (const key of ['items', 'additionalProperties', 'propertyNames'])
    if (isObject(schema[key])) copy[key] = change(schema[key]);
  for (const key of ['anyOf', 'oneOf'])
    if (Array.isArray(schema[key])) copy[key] = schema[key].map(change);
  if (isObject(schema.properties))
    copy.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, change(field as Json)]),
    );
  return copy;
}

/** Moves named schemas to the components, from the innermost to the outermost. */
function extract(value: Json, schemas: Record<string, Json>): Json {
  const { [MARKER]: marker, ...schema } = mapNested(value, (nested) => extract(nested, schemas));
  if (marker === undefined) return schema;
  const { name, description, example } = marker as SchemaName;
  const { description: ownText, default: ownDefault, ...component } = schema;
  if (isObject(component.properties))
    component.properties = withExamples(component.properties, isObject(example) ? example : {});
  addSchema(schemas, name, {
    description,
    ...component,
    ...(example === undefined ? {} : { examples: [completed(example, component, schemas)] }),
  });
  return {
    ...schemaRef(name),
    ...(ownText === undefined ? {} : { description: ownText }),
    ...(ownDefault === undefined ? {} : { default: ownDefault }),
  };
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Fields without an example get theirs from the example of the object, unless it says nothing, or
 * from their name.
 */
function withExamples(properties: Json, example: Json): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([key, field]) => {
      const schema = field as Json;
      const value = example[key] ?? commonMeaning(key, schema).example;
      const isSelfEvident = value === undefined || hasExample(schema);
      return [key, isSelfEvident ? schema : { ...schema, examples: [value] }];
    }),
  );
}

/** An example with the values that it leaves to the required fields. */
function completed(example: unknown, component: Json, schemas: Json): unknown {
  if (!isObject(example) || !isObject(component.properties)) return example;
  const required = component.required as string[];
  return Object.fromEntries(
    Object.entries(component.properties).flatMap(([key, field]) => {
      const given = example[key];
      if (given === undefined && !required.includes(key)) return [];
      return [[key, given === undefined ? exampleOf(field as Json, schemas) : given]];
    }),
  );
}

/** The example of a field, of the component that it refers to, or of its items. */
function exampleOf(field: Json, schemas: Json): unknown {
  const { examples, const: constant, $ref, items, anyOf } = field;
  if (Array.isArray(examples)) return examples[0];
  if (typeof $ref === 'string') return exampleOf(schemas[$ref.split('/').at(-1)!] as Json, schemas);
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0], schemas);
  return isObject(items) ? [exampleOf(items, schemas)] : constant;
}

/** Whether a schema has an example, or needs none. */
export const hasExample = (schema: Json): boolean =>
  ['examples', 'const', '$ref'].some((key) => key in schema) ||
  (Array.isArray(schema.anyOf) && schema.anyOf.some((option) => '$ref' in option)) ||
  (isObject(schema.items) && '$ref' in schema.items);

// Simplifications: what the converter writes is correct but hard to read for people and generators.

const simplify = (schema: Json): Json =>
  withDescriptions(
    withIntegerFormat(withTypedConstant(withoutNullOption(mapNested(schema, simplify)))),
  );

/** `{anyOf: [{type: "string"}, {type: "null"}]}` → `{type: ["string", "null"]}` */
function withoutNullOption(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1].type !== 'null') return schema;
  const inner = anyOf[0] as Json;
  if (typeof inner.type !== 'string' || MARKER in inner || 'const' in inner) return schema;
  return {
    ...inner,
    type: [inner.type, 'null'],
    ...(Array.isArray(inner.enum) ? { enum: [...inner.enum, null] } : {}),
    ...rest,
  };
}

/** Some generators ignore a value without a type. */
function withTypedConstant(schema: Json): Json {
  if ('const' in schema && !('type' in schema)) return { type: typeof schema.const, ...schema };
  const { enum: values, type } = schema;
  const areIntegers = type === 'number' && Array.isArray(values) && values.every(Number.isInteger);
  return areIntegers ? { ...schema, type: 'integer' } : schema;
}

/**
 * Fields without a description get the one that their name says. Defaults are described in words: from
 * the keyword, generators such as openapi-typescript conclude that a request must contain the field.
 */
function withDescriptions(schema: Json): Json {
  if (!isObject(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).map(([name, field]) => {
    const { default: value, ...rest } = field as Json;
    const text = rest.description ?? commonMeaning(name, rest).description;
    const sentences = [
      ...(text === undefined ? [] : [text]),
      ...(value === undefined || isEmpty(value) ? [] : [`The default is \`${inWords(value)}\`.`]),
    ];
    return [name, sentences.length === 0 ? rest : { ...rest, description: sentences.join(' ') }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

const inWords = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** No integer of the API exceeds 32 bits. */
function withIntegerFormat(schema: Json): Json {
  const { type, format, default: initial, enum: values } = schema;
  const isInteger = type === 'integer' || (Array.isArray(type) && type[0] === 'integer');
  if (!isInteger || format !== undefined || values !== undefined) return schema;
  return {
    ...schema,
    format: 'int32',
    // The default of a query parameter is the text in the query.
    ...(typeof initial === 'string' ? { default: Number(initial) } : {}),
  };
}
