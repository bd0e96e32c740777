/** The same report at two nodes at once counts once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DmarcFeedback } from '../../../src/feedback/schemas/dmarc.ts';
import type { ListedReport } from '../../../src/feedback/schemas/report.ts';
import { dmarc, record } from '../../feedback/reading/builders.ts';
import { NOW } from '../../feedback/start.ts';
import { testClock } from '../../helpers/clock.ts';
import { SETUPS } from './nodes.ts';

const COPIES = 10;

for (const { on, skip, start } of SETUPS)
  test(`Copies of a report at the same time count once (${on})`, { skip }, async (t) => {
    const nodes = await start(t, { clock: testClock(NOW) });
    const [first] = nodes;
    const { body: domain } = await first.call<{ id: string }>('POST', '/v1/domains', {
      json: { name: 'example.com' },
    });
    const report = (count: string) => dmarc({ records: record({ count }) });
    const upload = async (index: number): Promise<ListedReport> => {
      // Every fifth copy has other figures.
      const { status, body } = await nodes[index % 2]!.call<{ data: ListedReport[] }>(
        'POST',
        '/v1/feedback/reports',
        {
          key: first.key,
          body: report(index % 5 === 4 ? '9' : '2'),
          headers: { 'content-type': 'application/xml' },
        },
      );
      assert.equal(status, 201);
      return body.data[0]!;
    };
    const reports = await Promise.all(Array.from({ length: 2 * COPIES }, (_, i) => upload(i)));
    const counted = reports.filter(({ status }) => status === 'counted');
    assert.equal(counted.length, 1);
    for (const { status, messages, original_id } of reports) {
      if (status === 'counted') continue;
      assert.equal(status, messages === counted[0]!.messages ? 'duplicate' : 'conflict');
      assert.equal(original_id, counted[0]!.id);
    }
    const { body } = await first.call<DmarcFeedback>(
      'GET',
      `/v1/feedback/dmarc?domain_id=${domain.id}`,
    );
    assert.equal(body.totals.messages, counted[0]!.messages);
  });
