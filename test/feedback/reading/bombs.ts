/** Hostile files, made when they are needed. */

import type { RefusalReason } from '../../../src/feedback/reading/report.ts';
import { dmarc, gzip, mail, record, zip } from './builders.ts';

const MIB = 1024 * 1024;

export const BOMBS: [name: string, make: () => Uint8Array, RefusalReason][] = [
  ['gzip, 1:1000', () => gzip(Buffer.alloc(200 * MIB, 0x20)), 'too_large'],
  ['gzip in gzip', () => gzip(gzip(Buffer.alloc(200 * MIB, 0x20))), 'too_large'],
  [
    'zip whose member inflates to 200 MiB',
    () => zip([{ name: 'r.xml', data: Buffer.alloc(200 * MIB, 0x20) }]),
    'too_large',
  ],
  [
    'zip that declares a small member',
    () => zip([{ name: 'r.xml', data: Buffer.alloc(50 * MIB, 0x20), declaredSize: 1000 }]),
    'unreadable',
  ],
  [
    'ten members of 3 MiB each',
    () =>
      zip(
        Array.from({ length: 10 }, (_, index) => ({
          name: `${index}.xml`,
          data: Buffer.alloc(3 * MIB, 0x20),
        })),
      ),
    'too_large',
  ],
  [
    'zip with 100,000 members',
    () => zip(Array.from({ length: 65_534 }, (_, index) => ({ name: `${index}`, data: '' }))),
    'too_many',
  ],
  [
    'zip with overlapping members',
    () =>
      zip(
        Array.from({ length: 10 }, (_, index) => ({
          name: `${index}.xml`,
          data: dmarc(),
          offset: 0,
        })),
      ),
    'unreadable',
  ],
  [
    'XML with a million attributes',
    () =>
      Buffer.from(
        dmarc({
          records: `<record ${Array.from({ length: 1_000_000 }, (_, i) => `a${i}="1"`).join(' ')}/>`,
        }),
      ),
    'too_many',
  ],
  [
    'XML with 100,000 levels',
    () => Buffer.from(dmarc({ records: `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}` })),
    'too_many',
  ],
  [
    'XML with nested entities',
    () =>
      Buffer.from(
        dmarc({
          declaration: `<!DOCTYPE feedback [<!ENTITY a0 "x">${Array.from({ length: 50 }, (_, i) => `<!ENTITY a${i + 1} "&a${i};&a${i};">`).join('')}]>`,
          orgName: '&a50;',
        }),
      ),
    'forbidden_xml',
  ],
  [
    'an element with 10 MB of text',
    () => Buffer.from(dmarc({ orgName: 'x'.repeat(10_000_000) })),
    'too_large',
  ],
  [
    'a number of 10 MB',
    () => Buffer.from(dmarc({ records: record({ count: '9'.repeat(10_000_000) }) })),
    'too_large',
  ],
  [
    '30 MB without packing',
    () => Buffer.from(dmarc({ records: record().repeat(80_000) })),
    'too_large',
  ],
  [
    '100,001 records',
    () =>
      gzip(
        dmarc({
          records:
            '<record><row><source_ip>192.0.2.1</source_ip><count>1</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated></row></record>'.repeat(
              100_001,
            ),
        }),
      ),
    'too_many',
  ],
  [
    'counts whose sum is not exact',
    () => Buffer.from(dmarc({ records: record({ count: '999999999999' }).repeat(3) })),
    'invalid',
  ],
  [
    'JSON with a million levels',
    () => Buffer.from(`{"policies":${'['.repeat(1_000_000)}`),
    'unreadable',
  ],
  [
    'a thousand gzip attachments',
    () =>
      mail(
        Array.from({ length: 900 }, () => ({
          type: 'application/gzip',
          content: gzip(' '.repeat(100_000)),
        })),
      ),
    'too_large',
  ],
];
