/** The served document is valid OpenAPI 3.1 in both surfaces, its schemas compile, and its examples of paths are whole. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { startTestService } from '../helpers/app.ts';
import { documentValidator } from './document-validator.ts';

for (const surface of ['full', 'preview'])
  test(`the document of the ${surface} surface is valid`, async (t) => {
    const { call } = await startTestService(t, { env: { DELIVERABILITY_SURFACE: surface } });
    const { status, body } = await call('GET', '/openapi.json', { key: null });
    assert.equal(status, 200);
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(body));
    assert.ok(valid, JSON.stringify(errors, null, 1));
    assert.equal(validator.version, '3.1');
    const { schemas, unresolved } = documentValidator(body);
    assert.deepEqual(unresolved, []);
    assert.ok(schemas > (surface === 'full' ? 200 : 20), `${schemas} schemas compiled`);
  });

test('a document with a fault is not valid', async (t) => {
  const { call } = await startTestService(t);
  const { body } = await call<Record<string, never>>('GET', '/openapi.json', { key: null });
  const faulty = { ...body, paths: { 'no-slash': { get: { responses: {} } } } };
  assert.equal((await new Validator().validate(faulty)).valid, false);
});
