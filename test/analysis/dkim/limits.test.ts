/** More signatures than are verified, and more key records than are allowed. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { dkim } from '../../../src/analysis/checks/dkim.ts';
import { dkimAlignment } from '../../../src/analysis/checks/dkim-alignment.ts';
import { dmarc } from '../../../src/analysis/checks/dmarc.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { alter, KEY_NAME, KEYS, sign, zoneWith } from './signed-mail.ts';

const RECORD = KEYS.rsa.record;
const OTHER = KEYS.other.record;
const DMARC: Zone = { '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] } };
const RELAYS = Array.from({ length: 12 }, (_, index) => `relay${index}.example.net`);

const relayZone: Zone = Object.assign(
  {},
  ...RELAYS.map((domain) => zoneWith(OTHER, `r._domainkey.${domain}`)),
);

/** Each relay signs above the signatures before it. */
async function relayed(count: number, message: Buffer): Promise<Buffer> {
  let signed = message;
  for (const domain of RELAYS.slice(0, count))
    signed = await sign({ domain, selector: 'r', key: KEYS.other }, signed);
  return signed;
}

/** Signatures by the From domain with a key that does not match. */
async function brokenOwn(count: number, message?: Buffer): Promise<Buffer> {
  let signed = message ?? (await sign({ key: KEYS.other }));
  for (let index = message ? 0 : 1; index < count; index++)
    signed = await sign({ key: KEYS.other }, signed);
  return signed;
}

const changed = async (message: Promise<Buffer>): Promise<Buffer> =>
  alter(await message, 'Hello Bob', 'Hello Rob');

interface Row {
  name: string;
  message: Promise<Buffer>;
  zone?: Zone;
  dkim: CheckStatus;
  alignment?: CheckStatus;
  dmarc?: CheckStatus;
  title?: RegExp;
  fix?: RegExp;
  result?: string;
}

const severalKeys = { title: /There are 2 DKIM keys/, fix: /^Delete all records at s1/ } as const;

const ROWS: Row[] = [
  {
    name: 'eleven relays above the own signature',
    message: sign().then((message) => relayed(11, message)),
    dkim: 'pass',
    alignment: 'pass',
    dmarc: 'pass',
    title: /by example\.com/,
  },
  {
    name: 'the own signature above eleven relays',
    message: sign()
      .then((message) => relayed(11, message))
      .then((message) => sign({}, message)),
    dkim: 'pass',
    alignment: 'pass',
    dmarc: 'pass',
  },
  {
    name: 'nine relays and the own signature, which is the limit',
    message: sign().then((message) => relayed(9, message)),
    dkim: 'pass',
    dmarc: 'pass',
  },
  {
    name: 'a signature of a subdomain below eleven relays',
    message: sign({ domain: 'mail.example.com' }).then((message) => relayed(11, message)),
    zone: zoneWith(RECORD, 's1._domainkey.mail.example.com'),
    dkim: 'pass',
    alignment: 'pass',
    dmarc: 'pass',
  },
  {
    name: 'eleven relays above a broken own signature',
    message: sign({ key: KEYS.other }).then((message) => relayed(11, message)),
    dkim: 'pass',
    alignment: 'fail',
    dmarc: 'fail',
    title: /by relay/,
  },
  {
    name: 'twelve relays, all broken',
    message: changed(sign().then((message) => relayed(12, message))),
    dkim: 'error',
    title: /Only 10 of 13 DKIM signatures were checked/,
  },
  {
    name: 'ten broken own signatures above a valid one',
    message: sign().then((message) => brokenOwn(10, message)),
    dkim: 'error',
    dmarc: 'error',
  },
  {
    name: 'ten broken own signatures',
    message: brokenOwn(10),
    dkim: 'fail',
    dmarc: 'fail',
    title: /different key/,
  },
  {
    name: 'two keys, the right one first',
    message: sign(),
    zone: { [KEY_NAME]: { TXT: [RECORD, OTHER] } },
    dkim: 'fail',
    dmarc: 'fail',
    result: 'permerror',
    ...severalKeys,
  },
  {
    name: 'two keys, the right one last',
    message: sign(),
    zone: { [KEY_NAME]: { TXT: [OTHER, RECORD] } },
    dkim: 'fail',
    result: 'permerror',
    ...severalKeys,
  },
  {
    name: 'a key and a text of another kind',
    message: sign(),
    zone: { [KEY_NAME]: { TXT: ['google-site-verification=abc', RECORD] } },
    dkim: 'fail',
    result: 'permerror',
    title: /Other TXT records are published beside the DKIM key/,
    fix: /^Delete every TXT record at s1.*google-site/,
  },
  {
    name: 'two keys and a changed body',
    message: changed(sign()),
    zone: { [KEY_NAME]: { TXT: [RECORD, OTHER] } },
    dkim: 'fail',
    result: 'permerror',
    ...severalKeys,
  },
  {
    name: 'two keys at one selector, and a second signature with a selector of its own',
    message: sign().then((message) => sign({ selector: 's2' }, message)),
    zone: {
      [KEY_NAME]: { TXT: [RECORD, OTHER] },
      ...zoneWith(RECORD, 's2._domainkey.example.com'),
    },
    dkim: 'pass',
    dmarc: 'pass',
  },
  { name: 'one key', message: sign(), dkim: 'pass', alignment: 'pass', dmarc: 'pass' },
];

describe('Limits of DKIM', () => {
  for (const { name, message, zone, title, fix, result, ...expected } of ROWS)
    it(`dkim check reports ${expected.dkim} for ${name}`, async () => {
      const scene = {
        message: await message,
        zone: { ...DMARC, ...zoneWith(RECORD), ...relayZone, ...zone },
        envelope: { client_ip: null },
      };
      const finding = await runCheck(dkim, scene);
      assert.equal(finding.status, expected.dkim, JSON.stringify(finding));
      if (title) assert.match(finding.title, title);
      if (fix) assert.match(finding.fix?.text ?? '', fix);
      const [first] = (finding.evidence?.signatures ?? []) as { result: string }[];
      if (result) assert.equal(first?.result, result);
      if (expected.alignment)
        assert.equal((await runCheck(dkimAlignment, scene)).status, expected.alignment);
      if (expected.dmarc) {
        const spfFails = { ...scene, envelope: { mail_from: 'x@other.example' } };
        assert.equal((await runCheck(dmarc, spfFails)).status, expected.dmarc);
      }
    });
});
