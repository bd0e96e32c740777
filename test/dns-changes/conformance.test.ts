/** Each kind of name server with an API does the same, at a server that is as strict as the real one. */

import { describe } from 'node:test';
import { startCloudflareApi } from '../helpers/dns-apis/cloudflare.ts';
import { startDesecApi } from '../helpers/dns-apis/desec.ts';
import { startHetznerApi } from '../helpers/dns-apis/hetzner.ts';
import { startPowerDnsApi } from '../helpers/dns-apis/powerdns.ts';
import { startRoute53Api } from '../helpers/dns-apis/route53.ts';
import { startWebhook } from '../helpers/dns-apis/webhook.ts';
import { conformanceTests, seededRecords } from './conformance.ts';

describe('Records at Cloudflare', () =>
  conformanceTests((t) => startCloudflareApi(t, seededRecords())));
describe('Records at Route 53', () =>
  conformanceTests((t) => startRoute53Api(t, seededRecords(8))));
describe('Records at Hetzner', () => conformanceTests((t) => startHetznerApi(t, seededRecords())));
describe('Records at deSEC', () => conformanceTests((t) => startDesecApi(t, seededRecords())));
describe('Records at PowerDNS', () =>
  conformanceTests((t) => startPowerDnsApi(t, seededRecords())));

// The webhook lists no CAA and TLSA records, so it may not manage them.
const without = ['CAA', 'TLSA'];
describe('Records at an ExternalDNS webhook', () =>
  conformanceTests((t) => startWebhook(t, seededRecords()), { without }));
describe('Records at an ExternalDNS webhook without quotation marks', () =>
  conformanceTests((t) => startWebhook(t, seededRecords(), { isPlain: true }), { without }));
