/** Forms with files, as browsers send them and as attackers might. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFormPartList, readFormParts, textField } from '../../src/http/multipart.ts';
import { AppError } from '../../src/lib/errors.ts';
import { cpuTime } from '../helpers/cpu-time.ts';

/** The body and content type that a client sends for this form. */
async function encoded(form: FormData): Promise<[Uint8Array, string]> {
  const response = new Response(form);
  const type = response.headers.get('content-type')!;
  return [new Uint8Array(await response.arrayBuffer()), type];
}

test('Fields and files of a form are read as they were sent', async () => {
  const form = new FormData();
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
  form.set('name', 'Grüße\r\nzwei');
  form.set('a "quoted" name', 'x');
  form.set('empty', '');
  form.set('message', new File([bytes], 'a "b".eml', { type: 'message/rfc822' }));
  form.append('name', 'ignored');
  const parts = readFormParts(...(await encoded(form)));
  assert.equal(textField(parts, 'name'), 'Grüße\r\nzwei');
  assert.equal(textField(parts, 'a "quoted" name'), 'x');
  assert.equal(textField(parts, 'empty'), '');
  assert.equal(textField(parts, 'missing'), '');
  assert.equal(textField(parts, 'message'), '', 'a file is no text');
  assert.equal(parts.get('message')?.filename, 'a "b".eml');
  assert.deepEqual(Uint8Array.from(parts.get('message')!.bytes), bytes);
});

test('All files of one field are read, in their order', async () => {
  const form = new FormData();
  for (const name of ['b.xml', 'a.xml', 'b.xml'])
    form.append('file', new File([`in ${name}`], name));
  const parts = readFormPartList(...(await encoded(form)));
  assert.deepEqual(
    parts.map(([field, { filename, bytes }]) => [field, filename, new TextDecoder().decode(bytes)]),
    ['b.xml', 'a.xml', 'b.xml'].map((name) => ['file', name, `in ${name}`]),
  );
});

test('A form that a browser sends without a file has an empty file name and no bytes', () => {
  const type = 'multipart/form-data; boundary=----WebKitFormBoundaryA1';
  const head = 'Content-Disposition: form-data; name="message"; filename=""';
  const body = `------WebKitFormBoundaryA1\r\n${head}\r\nContent-Type: application/octet-stream\r\n\r\n\r\n------WebKitFormBoundaryA1--\r\n`;
  const part = readFormParts(Buffer.from(body), type).get('message')!;
  assert.deepEqual([part.filename, part.bytes.length], ['', 0]);
});

test('A part is a view of the body, not a copy', async () => {
  const form = new FormData();
  form.set('message', new File(['From: a@example.com\r\n\r\n'], 'a.eml'));
  const [body, type] = await encoded(form);
  assert.equal(readFormParts(body, type).get('message')!.bytes.buffer, body.buffer);
});

test('Malformed forms are rejected', () => {
  const type = 'multipart/form-data; boundary=b';
  const field = 'Content-Disposition: form-data; name="a"';
  const cases: [string, string | null][] = [
    [`--b\r\n${field}\r\n\r\nx\r\n--b--\r\n`, null],
    [`--b\r\n${field}\r\n\r\nx\r\n--b--\r\n`, 'multipart/form-data'],
    [`--b\r\n${field}\r\n\r\nx\r\n--b--\r\n`, `multipart/form-data; boundary=${'b'.repeat(71)}`],
    ['', type],
    ['--b', type],
    ['--b\r\n', type],
    [`--b\r\n${field}\r\n\r\nx`, type],
    [`--b\r\n${field}\r\n\r\nx\r\n--b`, type],
    [`--b\r\n${field}\r\nx\r\n--b--\r\n`, type],
    ['--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n', type],
    ['--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--b--\r\n', type],
    [`--b\r\nX: ${'x'.repeat(9000)}\r\n${field}\r\n\r\nx\r\n--b--\r\n`, type],
    [`${`--b\r\n${field}\r\n\r\nx\r\n`.repeat(51)}--b--\r\n`, type],
  ];
  for (const [body, contentType] of cases)
    assert.throws(
      () => readFormParts(Buffer.from(body), contentType),
      (error) => error instanceof AppError && error.code === 'malformed_request',
      body.slice(0, 80),
    );
});

test('Hostile bodies of 25 MB are read in linear time', () => {
  const type = 'multipart/form-data; boundary=b';
  const head = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n';
  for (const filler of ['\r\n--', '\r\n--b', '\r', '\0']) {
    const body = Buffer.concat([Buffer.from(head), Buffer.alloc(25 * 1024 * 1024, filler)]);
    const started = cpuTime();
    assert.throws(() => readFormParts(body, type));
    assert.ok(cpuTime() - started < 2000, JSON.stringify(filler));
  }
});
