/** Which evidence shows a sending service, and which only hints at one. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Envelope } from '../../../src/analysis/check.ts';
import {
  deliveringService,
  sendingServices,
  signingService,
} from '../../../src/analysis/sending-services/identify.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { contextFor } from '../../helpers/analysis.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';

const KEY = makeKey();
const CLIENT = '54.240.48.101';
const REVERSE = '101.48.240.54.in-addr.arpa';
const MAIL = 'From: Ann <ann@example.com>\nTo: bob@example.net\nSubject: Hi\n\nHello\n';

interface Row {
  name: string;
  zone?: Zone;
  envelope?: Partial<Envelope>;
  fields?: string;
  signers?: string[];
  offline?: boolean;
  /** IDs, the certain ones with an exclamation mark. */
  found: string[];
  delivers?: string;
  signs?: string;
}

const rows: Row[] = [
  {
    name: 'a reverse name that resolves back',
    zone: {
      [REVERSE]: { PTR: ['a48-101.smtp-out.amazonses.com'] },
      'a48-101.smtp-out.amazonses.com': { A: [CLIENT] },
    },
    found: ['amazon_ses!'],
  },
  {
    name: 'a reverse name that does not resolve back',
    zone: {
      [REVERSE]: { PTR: ['a48-101.smtp-out.amazonses.com'] },
      'a48-101.smtp-out.amazonses.com': { A: ['192.0.2.77'] },
    },
    found: ['amazon_ses'],
  },
  {
    name: 'a HELO name alone',
    envelope: { helo: 'mail-ed1-f54.google.com' },
    found: ['google_workspace'],
  },
  {
    name: "a HELO name from within the service's network",
    envelope: { helo: 'mail-ed1-f54.google.com' },
    zone: {
      '_spf.google.com': { TXT: ['v=spf1 include:_netblocks.google.com ~all'] },
      '_netblocks.google.com': { TXT: ['v=spf1 ip4:54.240.48.0/24 ~all'] },
    },
    found: ['google_workspace!'],
  },
  {
    name: 'a header field alone',
    fields: 'X-SG-EID: u001.abc\n',
    found: ['sendgrid'],
  },
  {
    name: 'a header field, offline',
    fields: 'X-SG-EID: u001.abc\n',
    offline: true,
    found: ['sendgrid'],
  },
  {
    name: "a valid signature from the customer's own IP address",
    signers: ['example.com', 'sendgrid.net'],
    zone: { [REVERSE]: { PTR: ['o1.mail.example.com'] }, 'o1.mail.example.com': { A: [CLIENT] } },
    found: ['sendgrid!'],
  },
  {
    name: 'a signature without a published key',
    signers: ['sendgrid.net'],
    zone: { 's1._domainkey.sendgrid.net': {} },
    found: ['sendgrid'],
  },
  {
    name: 'an envelope sender for which SPF passes',
    envelope: { mail_from: '0100@us-west-2.amazonses.com' },
    zone: { 'us-west-2.amazonses.com': { TXT: ['v=spf1 ip4:54.240.0.0/18 -all'] } },
    found: ['amazon_ses!'],
  },
  {
    name: 'a forged envelope sender',
    envelope: { mail_from: '0100@us-west-2.amazonses.com' },
    zone: { 'us-west-2.amazonses.com': { TXT: ['v=spf1 ip4:192.0.2.9 -all'] } },
    found: ['amazon_ses'],
  },
  {
    name: 'an application that sends through another service',
    signers: ['intercom-mail.com', 'amazonses.com'],
    zone: {
      [REVERSE]: { PTR: ['a48-101.smtp-out.amazonses.com'] },
      'a48-101.smtp-out.amazonses.com': { A: [CLIENT] },
    },
    found: ['amazon_ses!', 'intercom!'],
    delivers: 'amazon_ses',
    signs: 'intercom',
  },
  {
    name: 'Microsoft 365 behind a gateway',
    signers: ['acme.onmicrosoft.com'],
    zone: {
      [REVERSE]: { PTR: ['eu-smtp-delivery-1.mimecast.com'] },
      'eu-smtp-delivery-1.mimecast.com': { A: [CLIENT] },
    },
    found: ['mimecast!', 'microsoft_365!'],
    delivers: 'mimecast',
    signs: 'microsoft_365',
  },
  { name: 'a server of nobody in the table', found: [] },
];

describe('sendingServices', () => {
  for (const { name, zone, envelope, fields = '', signers = [], offline, found, ...row } of rows)
    it(name, async () => {
      let raw: Buffer = Buffer.from(`${fields}${MAIL}`.replaceAll('\n', '\r\n'));
      const keys: Zone = {};
      for (const domain of signers) {
        raw = await signMessage(raw, { domain, selector: 's1', key: KEY });
        keys[`s1._domainkey.${domain}`] = { TXT: [KEY.record] };
      }
      const context = await contextFor({
        message: raw,
        zone: { ...keys, ...zone },
        envelope: { client_ip: CLIENT, helo: 'mail.example.com', ...envelope },
        offline,
      });
      const services = await context.fact(sendingServices);
      assert.deepEqual(
        services.map(({ service, isCertain }) => `${service.id}${isCertain ? '!' : ''}`),
        found,
      );
      for (const { evidence } of services) assert.match(evidence, /^[A-Z].*\.$/);
      const first = found[0]?.replace('!', '');
      assert.equal((await context.fact(deliveringService))?.service.id, row.delivers ?? first);
      assert.equal((await context.fact(signingService))?.service.id, row.signs ?? first);
    });
});
