import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fitToFileLimit, RESERVED_FILES, readFileLimit } from '../../src/lib/file-limit.ts';
import { temporaryFolder } from '../helpers/app.ts';

describe('readFileLimit', () => {
  const limits = (soft: string) =>
    `Limit                     Soft Limit           Hard Limit           Units     \nMax processes             7000                 7000                 processes \nMax open files            ${soft}                 4096                 files     \n`;
  for (const [text, expected] of [
    [limits('1024'), 1024],
    [limits('unlimited'), null],
    ['', null],
  ] as const)
    it(`reads ${expected} from /proc/self/limits`, (t) => {
      const file = join(temporaryFolder(t), 'limits');
      writeFileSync(file, text);
      assert.equal(readFileLimit(file), expected);
    });

  it('returns null on systems without that file', () => {
    assert.equal(readFileLimit('/proc/none'), null);
  });

  it('reads the limit of this process', { skip: !existsSync('/proc/self/limits') }, () => {
    assert.ok((readFileLimit() ?? Number.POSITIVE_INFINITY) > 100);
  });
});

describe('fitToFileLimit', () => {
  const http = { total: 1000, perClient: 100 };
  const smtp = { total: 300, perClient: 30 };

  for (const limit of [null, 1300 + RESERVED_FILES, 1_000_000])
    it(`keeps the limits if ${limit ?? 'unlimited'} files can be open`, () => {
      assert.deepEqual(fitToFileLimit(http, smtp, limit), { http, smtp, needed: null });
    });

  for (const [limit, httpTotal, smtpTotal] of [
    [1300 + RESERVED_FILES - 1, 999, 299],
    [1450, 500, 150],
    [1024, 196, 59],
    [256, 49, 14],
    [10, 1, 1],
  ] as const)
    it(`lowers the limits in proportion if ${limit} files can be open`, () => {
      const fitted = fitToFileLimit(http, smtp, limit);
      assert.deepEqual([fitted.http.total, fitted.smtp.total], [httpTotal, smtpTotal]);
      assert.equal(fitted.needed, 1300 + RESERVED_FILES);
      for (const { total, perClient } of [fitted.http, fitted.smtp])
        assert.ok(perClient <= Math.ceil(total / 4), 'a client never gets everything');
    });
});
