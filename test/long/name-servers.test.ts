/** Real name servers, and a real program, do what every kind of name server does. */

import { describe } from 'node:test';
import type { NameServer } from '../../src/dns-changes/server.ts';
import { powerdns } from '../../src/dns-changes/servers/powerdns.ts';
import { rfc2136 } from '../../src/dns-changes/servers/rfc2136.ts';
import { type RecordType, recordsOf } from '../../src/net/dns/resolver.ts';
import { conformanceTests, seededRecords, ZONES } from '../dns-changes/conformance.ts';
import {
  loopbackContext,
  startBind,
  startKnot,
  startPowerDns,
  type TestNameServer,
  type Zones,
} from '../helpers/bind.ts';
import { startCommand } from '../helpers/dns-apis/command.ts';
import type { Harness } from '../helpers/dns-apis/harness.ts';
import { plainValue } from '../helpers/dns-apis/records.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';

function seededZones(): Zones {
  const records = seededRecords();
  const zones: Zones = Object.fromEntries(ZONES.map((zone) => [zone, {}]));
  for (const { name, type, data } of records.sets) {
    const names = zones[records.zoneOf(name)]!;
    names[name] = { ...names[name], [type]: data.map((one) => plainValue(type, one)) };
  }
  return zones;
}

/** Changes past the service are dynamic updates too. */
function harnessOf(running: TestNameServer, open: () => NameServer): Harness {
  const updates = () => rfc2136.open(running.settings, loopbackContext());
  return {
    open,
    openWrong: null,
    fault: null,
    async put(name, type, values, ttl = 3600) {
      const server = updates();
      const zone = (await server.zoneOf(name))!;
      const before = await server.read(zone, name, type);
      await server.replace(zone, before, { name, type, values, ttl });
    },
    async values(name, type) {
      const server = updates();
      const zone = seededRecords().zoneOf(name);
      // What resolvers get, except below a wildcard.
      const found = recordsOf(await running.resolver(name, type as RecordType)) ?? [];
      return found.length > 0 ? (await server.read(zone, name, type)).values : [];
    },
  };
}

const openUpdates = ({ settings }: TestNameServer) =>
  rfc2136.open({ ...settings, zones: ZONES.join(', ') }, loopbackContext());

for (const { name, command, start } of [
  { name: 'BIND by RFC 2136', command: 'named', start: startBind },
  { name: 'Knot DNS by RFC 2136', command: 'knotd', start: startKnot },
  { name: 'PowerDNS by RFC 2136', command: 'pdns_server', start: startPowerDns },
])
  describe(`Records at ${name}`, { skip: skipUnlessInstalled(command) }, () =>
    conformanceTests(
      async (t) => {
        const running = await start(t, { zones: seededZones() });
        return harnessOf(running, () => openUpdates(running));
      },
      { isReal: true },
    ),
  );

describe('Records at PowerDNS by its HTTP API', { skip: skipUnlessInstalled('pdns_server') }, () =>
  conformanceTests(
    async (t) => {
      const running = await startPowerDns(t, { zones: seededZones() });
      return harnessOf(running, () => powerdns.open(running.api, loopbackContext()));
    },
    { isReal: true },
  ),
);

describe('Records at a program', () =>
  conformanceTests((t) => startCommand(t, seededRecords()), { neverBusy: true }));
