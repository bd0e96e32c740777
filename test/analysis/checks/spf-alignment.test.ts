/** `spf_alignment`: relaxed and strict mode, with and without a DMARC record. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus, Envelope } from '../../../src/analysis/check.ts';
import { spfAlignment } from '../../../src/analysis/checks/spf-alignment.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';

const relaxed = { TXT: ['v=DMARC1; p=reject'] };
const strict = { TXT: ['v=DMARC1; p=reject; aspf=s; adkim=r'] };

interface Row {
  name: string;
  from?: string;
  sender?: string;
  envelope?: Partial<Envelope>;
  zone?: Zone;
  offline?: boolean;
  status: CheckStatus;
  mode?: 'relaxed' | 'strict';
}

const rows: Row[] = [
  { name: 'same domain, no record', sender: 'example.com', status: 'pass', mode: 'relaxed' },
  { name: 'subdomain, no record', sender: 'b.example.com', status: 'pass', mode: 'relaxed' },
  { name: 'sibling, no record', from: 'a.example.com', sender: 'b.example.com', status: 'pass' },
  { name: 'another domain, no record', sender: 'example.net', status: 'fail', mode: 'relaxed' },
  { name: 'siblings under a public suffix', from: 'a.co.uk', sender: 'b.co.uk', status: 'fail' },
  {
    name: 'subdomain, relaxed',
    sender: 'b.example.com',
    zone: { '_dmarc.example.com': relaxed },
    status: 'pass',
    mode: 'relaxed',
  },
  {
    name: 'sibling, relaxed, record of the organization',
    from: 'a.example.com',
    sender: 'b.example.com',
    zone: { '_dmarc.example.com': relaxed },
    status: 'pass',
    mode: 'relaxed',
  },
  {
    name: 'subdomain, strict',
    sender: 'b.example.com',
    zone: { '_dmarc.example.com': strict },
    status: 'fail',
    mode: 'strict',
  },
  {
    name: 'same domain in other case, strict',
    sender: 'EXAMPLE.com',
    zone: { '_dmarc.example.com': strict },
    status: 'pass',
    mode: 'strict',
  },
  {
    name: 'a subdomain that is its own organization (psd=n)',
    sender: 'b.example.com',
    zone: {
      '_dmarc.example.com': relaxed,
      '_dmarc.b.example.com': { TXT: ['v=DMARC1; p=none; psd=n'] },
    },
    status: 'fail',
    mode: 'relaxed',
  },
  {
    name: 'another domain, relaxed',
    sender: 'example.net',
    zone: { '_dmarc.example.com': relaxed },
    status: 'fail',
  },
  {
    name: 'null sender, aligned HELO name',
    envelope: { mail_from: '', helo: 'mail.example.com' },
    status: 'pass',
  },
  {
    name: 'null sender, HELO name elsewhere',
    envelope: { mail_from: '', helo: 'mail.example.net' },
    status: 'fail',
  },
  {
    name: 'null sender, no HELO name',
    envelope: { mail_from: '', helo: 'pc' },
    status: 'skipped',
  },
  { name: 'unknown sender', envelope: { mail_from: null }, status: 'skipped' },
  { name: 'unknown client address', envelope: { client_ip: null }, status: 'skipped' },
  { name: 'offline', offline: true, status: 'skipped' },
  { name: 'two author domains', from: 'example.com>, <x@example.net', status: 'skipped' },
  {
    name: 'DNS failure at the DMARC record',
    sender: 'b.example.com',
    zone: { '_dmarc.example.com': { fails: 'timeout' } },
    status: 'error',
  },
  {
    name: 'DNS failure at the DMARC record, identical domains',
    sender: 'example.com',
    zone: { '_dmarc.example.com': { fails: 'timeout' } },
    status: 'pass',
  },
  {
    name: 'DNS failure during the tree walk from the envelope domain',
    sender: 'b.example.com',
    zone: { '_dmarc.example.com': relaxed, '_dmarc.b.example.com': { fails: 'servfail' } },
    status: 'error',
  },
];

for (const row of rows) {
  test(`spf_alignment check reports ${row.status}: ${row.name}`, async () => {
    const found = await runCheck(spfAlignment, {
      ...row,
      message: `From: Ann <ann@${row.from ?? 'example.com'}>\n\nHello\n`,
      envelope: { mail_from: `bounce@${row.sender ?? 'example.com'}`, ...row.envelope },
    });
    assert.equal(found.status, row.status, `${found.title} ${found.detail}`);
    if (row.mode) assert.equal(found.evidence?.mode, row.mode);
    if (row.status === 'fail') assert.ok(found.fix?.text);
  });
}
