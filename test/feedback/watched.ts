/** A domain with days of reports from a few addresses, an alert rule about them, and the watch. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { AlertIncident } from '../../src/alerts/schema.ts';
import { assignSource } from '../../src/feedback/sources/assign.ts';
import { watchFeedback } from '../../src/feedback/watch/watch-job.ts';
import { BEGIN, dmarc, record } from './reading/builders.ts';
import { named, startFeedback } from './start.ts';

export const DAY_S = 86_400;
export const FIRST = '203.0.114.9';
export const SECOND = '203.0.114.10';
export const SHOP = { key: 'host shop.example', name: 'shop.example', evidence: 'The host name.' };

/** Messages of an address on a day: all pass, or all fail. */
export type Sent = [address: string, count: number, passes: boolean];

export async function startWatching(t: TestContext, condition: 'source_failing' | 'new_source') {
  const feedback = await startFeedback(t, {}, (BEGIN - 30 * DAY_S) * 1000);
  const { clock, domain, service, upload } = feedback;
  const json = { name: 'Watch', condition, channels: ['webhook'] };
  const { body: rule } = await service.call<{ id: string }>('POST', '/v1/alerts', { json });
  let day = -30;
  return {
    ...feedback,
    rule,
    /** Reports of some days, each with the base of what a server of the domain sends. */
    async report(days: number, ...sent: Sent[]) {
      for (let i = 0; i < days; i++, day++) {
        const begin = BEGIN + day * DAY_S;
        // All reports about the day have arrived.
        clock.set((begin + 3 * DAY_S) * 1000);
        const records = [['192.0.2.10', 10, true] as Sent, ...sent].map(
          ([source, count, passes]) => {
            const result = passes ? 'pass' : 'fail';
            return record({ source, count: String(count), dkim: result, spf: result });
          },
        );
        const [report] = await upload(
          dmarc({
            id: `d${day}`,
            begin: String(begin),
            end: String(begin + DAY_S - 1),
            records: records.join(''),
          }),
        );
        assert.equal(report!.status, 'counted');
      }
      await named(feedback);
    },
    watch: () => Promise.all([watchFeedback(service.app), watchFeedback(service.app)]),
    move: (address: string, name = SHOP) =>
      assignSource(
        service.app,
        { id: `${domain.id} ${address}`, domain_id: domain.id },
        { host: null, name },
      ),
    async markNetwork(label: string | null = null) {
      await service.app.db
        .updateTable('feedback_sources')
        .set({ mark: 'own', label })
        .where('key', 'like', 'network 203%')
        .execute();
    },
    async incidents() {
      const { body } = await service.call<{ data: AlertIncident[] }>('GET', '/v1/alert_incidents');
      return body.data.map(({ status, resolution, value, notifications, subject, id }) => ({
        id,
        subject,
        status,
        resolution,
        value,
        notified: notifications.length,
      }));
    },
    async events() {
      const { body } = await service.call<{ data: { type: string; data: { name: string } }[] }>(
        'GET',
        '/v1/events?limit=100',
      );
      return body.data
        .filter(({ type }) => type.startsWith('feedback.'))
        .map(({ type, data }) => `${type} ${data.name}`)
        .toReversed();
    },
  };
}

/** What the addresses are called until they have another name. */
export const NETWORK = '203.0.114.0/24';
