/** The part of the HTTP API of PowerDNS 4.9 that reads and changes zones, as its documentation describes it. */

import type { TestContext } from 'node:test';
import * as v from 'valibot';
import { powerdns } from '../../../src/dns-changes/servers/powerdns.ts';
import { type Answer, startHarness } from './harness.ts';
import { type Records, RefusedData, requireZoneFileData } from './records.ts';

const KEY = 'pdns-secret-0123456789';
const ZONES = '/api/v1/servers/localhost/zones';

const Patch = v.strictObject({
  rrsets: v.array(
    v.variant('changetype', [
      v.strictObject({ name: v.string(), type: v.string(), changetype: v.literal('DELETE') }),
      v.strictObject({
        name: v.string(),
        type: v.string(),
        changetype: v.literal('REPLACE'),
        ttl: v.pipe(v.number(), v.integer()),
        records: v.array(v.strictObject({ content: v.string(), disabled: v.boolean() })),
      }),
    ]),
  ),
});

export const startPowerDnsApi = (t: TestContext, records: Records) =>
  startHarness(t, {
    records,
    isWrite: ({ method }) => method === 'PATCH',
    open: (context, url, isWrong) =>
      powerdns.open({ url, api_key: isWrong ? 'wrong-key' : KEY }, context),
    answer({ method, path, query, headers, body }): Answer {
      if (headers['x-api-key'] !== KEY) return { status: 401, body: 'Unauthorized' };
      const error = (status: number, text: string) => ({ status, body: { error: text } });
      const present = (zone: string) => ({ id: `${zone}.`, name: `${zone}.`, kind: 'Native' });
      if (path === ZONES && method === 'GET') {
        const asked = query.get('zone');
        if (asked !== null && !asked.endsWith('.')) return error(422, 'zone is not canonical');
        const found = records.zones.filter((zone) => asked === null || asked === `${zone}.`);
        const copy = { id: 'copy.example.', name: 'copy.example.', kind: 'Slave' };
        const isCopy = asked === null || asked === copy.name;
        return { status: 200, body: [...found.map(present), ...(isCopy ? [copy] : [])] };
      }
      const zone = records.zones.find((one) => path === `${ZONES}/${one}.`);
      if (!zone) return error(404, 'Not Found');
      if (method === 'GET') {
        const name = query.get('rrset_name');
        const rrsets = records
          .in(zone)
          .filter((set) => name === null || name === `${set.name}.`)
          .map((set) => ({
            name: `${set.name}.`,
            type: set.type,
            ttl: set.ttl,
            comments: [],
            records: set.data.map((content) => ({ content, disabled: false })),
          }));
        return { status: 200, body: { ...present(zone), rrsets } };
      }
      if (headers['content-type'] !== 'application/json') return error(415, 'not JSON');
      const patch = v.safeParse(Patch, JSON.parse(body));
      if (!patch.success) return error(422, patch.issues[0].message);
      try {
        for (const change of patch.output.rrsets) {
          const { name, type } = change;
          if (!name.endsWith(`.${zone}.`) && name !== `${zone}.`)
            return error(422, `RRset ${name} IN ${type}: Name is out of zone`);
          const data =
            change.changetype === 'DELETE' ? [] : change.records.map(({ content }) => content);
          for (const one of data) requireZoneFileData(type, one);
          const ttl = change.changetype === 'DELETE' ? 0 : change.ttl;
          records.put({ name: name.slice(0, -1), type, ttl, data });
        }
      } catch (refused) {
        if (refused instanceof RefusedData) return error(422, refused.message);
        throw refused;
      }
      return { status: 204, body: '' };
    },
  });
