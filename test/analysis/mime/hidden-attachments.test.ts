/** Files in broken MIME: the findings name the file and how it is hidden, and harmless mail passes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachments } from '../../../src/analysis/checks/attachments.ts';
import { encoding } from '../../../src/analysis/checks/encoding.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { hiddenAttachments } from './hidden-attachments.ts';

const findings = async (message: Uint8Array) => {
  const [files, structure] = [
    await runCheck(attachments, { message }),
    await runCheck(encoding, { message }),
  ];
  return { files, structure, text: JSON.stringify([files, structure]) };
};

test('attachments check reports every file that is hidden by broken MIME', async (t) => {
  const corpus = hiddenAttachments();
  const silent: string[] = [];
  for (const { title, raw } of corpus) {
    const { files } = await findings(raw);
    if (files.status !== 'fail' && files.status !== 'warn') silent.push(`${title}: ${files.title}`);
  }
  t.diagnostic(`${corpus.length} messages`);
  assert.ok(corpus.length >= 200);
  assert.deepEqual(silent, []);
});

test('findings say how a file is hidden', async () => {
  const unnamed: string[] = [];
  for (const { title, raw, says } of hiddenAttachments()) {
    const { files, structure, text } = await findings(raw);
    if (!says.test(text))
      unnamed.push(`${title}: ${files.title} | ${structure.title} ${structure.detail}`);
  }
  assert.deepEqual(unnamed, []);
});
