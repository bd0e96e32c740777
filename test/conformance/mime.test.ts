/** Parses a corpus of real, old and broken messages, and compares the result with another parser. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import PostalMime from 'postal-mime';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';

const CORPUS = new URL('../../../shared/vectors/mime/', import.meta.url);
const MESSAGES = 107;

const files = existsSync(CORPUS)
  ? readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.eml'))
      .sort()
  : [];

describe('MIME corpus', {
  skip: files.length === 0 && 'shared/vectors/mime does not exist',
}, () => {
  test('contains all 107 messages', () => assert.equal(files.length, MESSAGES));

  for (const name of files)
    test(`${name}: header fields, subject and attachments match postal-mime`, async () => {
      const raw = readFileSync(new URL(name, CORPUS));
      const message = await parseMessage(raw);
      const other = await PostalMime.parse(raw, { forceRfc822Attachments: true });
      assert.deepEqual(message.exceededLimits, []);
      assert.deepEqual(
        message.headers.map(({ key }) => key),
        other.headers.map(({ key }) => key),
      );
      assert.equal(message.subject ?? undefined, other.subject);
      const attachments = message.parts.filter(
        ({ type, disposition }) =>
          disposition === 'attachment' || !/^(?:text\/(?:plain|html)|multipart\/.*)$/.test(type),
      );
      assert.deepEqual(
        attachments.map(({ type }) => type),
        other.attachments.map(({ mimeType }) => mimeType),
      );
    });
});
