/** Originals of one message, as providers and mail servers save it: what each says was written down first. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseMessage } from '../../../src/analysis/mime/parse-message.ts';
import { type Receipt, readReceipt } from '../../../src/analysis/receipt/receipt.ts';
import { loadOriginal, ORIGINALS, type ReceiptAnswer } from '../../helpers/originals.ts';

const tlsOf = ({ tls }: Receipt) => (tls?.used ? (tls.version ?? 'used') : null);

/** What was read, in the form of the answer. `any` in the answer accepts each value. */
function summarize(receipt: Receipt, answer: ReceiptAnswer): Omit<ReceiptAnswer, 'added'> {
  const [from, to] = answer.at;
  const at = receipt.at === null ? '' : new Date(receipt.at).toISOString().replace('.000', '');
  const values = {
    provider: receipt.provider,
    by: answer.by === null ? null : receipt.by,
    at: at >= from && at <= to ? answer.at : ([at, at] as [string, string]),
    client_ip: receipt.client_ip ?? '',
    helo: receipt.helo ?? '',
    tls: tlsOf(receipt),
    mail_from: receipt.mail_from ?? '',
    results: receipt.results,
  };
  const isOpen = (name: string) => answer[name as keyof ReceiptAnswer] === 'any';
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    isOpen(name) ? 'any' : value,
  ]);
  return Object.fromEntries(entries);
}

describe('The receipt of an original', () => {
  for (const name of ORIGINALS) {
    const { note, raw, receipt: answer } = loadOriginal(name);
    test(`${name}: ${note}`, async () => {
      const { headers } = await parseMessage(raw);
      const receipt = readReceipt(headers);
      if (answer === null) {
        assert.equal(receipt?.client_ip ?? null, null, 'no address is taken for that of a client');
        return;
      }
      assert.ok(receipt, 'a receipt is found');
      const { added, ...values } = answer;
      assert.deepEqual(summarize(receipt, answer), values);
      const isAdded = headers.map(
        ({ name }, index) =>
          (index < added.first || index >= headers.length - added.last) &&
          !added.but?.includes(name),
      );
      const named = (indexes: number[]) =>
        indexes.map((index) => `${index} ${headers[index]!.name}`);
      assert.deepEqual(
        named(receipt.addedFields),
        named(headers.flatMap((_, index) => (isAdded[index] ? [index] : []))),
        'the fields that the receiver added',
      );
    });
  }
});
