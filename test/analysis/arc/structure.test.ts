/** ARC chains that are cryptographically valid but malformed, as in public ARC test suites. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arc } from '../../../src/analysis/checks/arc.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { type ArcSet, addArcSets } from '../../helpers/arc-signer.ts';
import { alter, KEYS, sign, zoneWith } from '../dkim/signed-mail.ts';

const zone = {
  ...zoneWith(KEYS.rsa.record),
  ...zoneWith(KEYS.other.record, 'arc._domainkey.list.example'),
  ...zoneWith(KEYS.ed25519.record, 'ed._domainkey.second.example'),
  ...zoneWith(KEYS.rsa768.record, 'weak._domainkey.list.example'),
};

const SIGNED = await sign();
const key = KEYS.other;
const FIRST: ArcSet = { key };
const SECOND: ArcSet = { key: KEYS.ed25519, domain: 'second.example', selector: 'ed' };

const replacing = (from: string, to: string) => (tags: string) => {
  assert.ok(tags.includes(from), `${tags} has no ${from}`);
  return tags.replace(from, to);
};
const appending = (tag: string) => (tags: string) => `${tags}; ${tag}`;

interface Row {
  name: string;
  sets: ArcSet[];
  change?(message: Buffer): Buffer;
  /** null for a valid chain. */
  reason: RegExp | null;
}

const ROWS: Row[] = [
  // Valid.
  { name: 'one set', sets: [FIRST], reason: null },
  { name: 'two sets, the second with Ed25519', sets: [FIRST, SECOND], reason: null },
  { name: 'three sets', sets: [FIRST, SECOND, FIRST], reason: null },
  { name: 'cv=None in other case', sets: [{ key, cv: 'None' }], reason: null },
  {
    name: 'an unknown tag',
    sets: [{ key, seal: appending('zz=1') }],
    reason: null,
  },
  {
    name: 'comments in ARC-Authentication-Results',
    sets: [{ key, results: (value) => `(first) ${value.replace(';', ' (instance) ;')}` }],
    reason: null,
  },
  // Instances.
  {
    name: 'a seal without i=',
    sets: [{ key, seal: replacing('i=1; ', '') }],
    reason: /no instance/,
  },
  { name: 'a seal with i=0', sets: [{ key, instance: 0, cv: 'none' }], reason: /i=0, not 1 to 50/ },
  {
    name: 'a seal with i=01',
    sets: [{ key, seal: replacing('i=1', 'i=01') }],
    reason: /i=01, not/,
  },
  {
    name: 'a set with i=51',
    sets: [FIRST, { key, instance: 51, cv: 'pass' }],
    reason: /i=51, not 1 to 50/,
  },
  { name: 'a chain that begins with i=2', sets: [{ key, instance: 2 }], reason: /i=1 of 2 has no/ },
  {
    name: 'a gap between sets',
    sets: [FIRST, { ...SECOND, instance: 3 }],
    reason: /i=2 of 3 has no ARC-Seal/,
  },
  {
    name: 'two sets with the same instance',
    sets: [FIRST, { ...SECOND, instance: 1, cv: 'none' }],
    reason: /two ARC-Seal fields have i=1/,
  },
  {
    name: 'a set without a signature',
    sets: [{ key, without: ['ARC-Message-Signature'] }],
    reason: /no ARC-Message-Signature/,
  },
  {
    name: 'a set without results',
    sets: [{ key, without: ['ARC-Authentication-Results'] }],
    reason: /no ARC-Authentication-Results/,
  },
  {
    name: 'a set without a seal',
    sets: [{ key, without: ['ARC-Seal'] }],
    reason: /no ARC chain|no ARC-Seal/,
  },
  {
    name: 'results whose instance does not come first',
    sets: [{ key, results: (value) => value.replace('i=1; ', '').concat('; i=1') }],
    reason: /Results field has no instance/,
  },
  // Tags.
  {
    name: 'cv= twice',
    sets: [{ key, seal: appending('cv=none') }],
    reason: /tag cv= twice/,
  },
  {
    name: 'd= twice in the signature',
    sets: [{ key, signature: appending('d=list.example') }],
    reason: /tag d= twice/,
  },
  {
    name: 'CV= in upper case',
    sets: [{ key, seal: replacing('cv=', 'CV=') }],
    reason: /has no cv=/,
  },
  {
    name: 'S= in upper case',
    sets: [{ key, seal: replacing('s=arc', 'S=arc') }],
    reason: /has no s=/,
  },
  {
    name: 'I= in upper case in the signature',
    sets: [{ key, signature: replacing('i=1', 'I=1') }],
    reason: /no instance/,
  },
  {
    name: 'an empty cv=',
    sets: [{ key, seal: replacing('cv=none', 'cv=') }],
    reason: /has no cv=/,
  },
  {
    name: 'a text that is no tag',
    sets: [{ key, seal: appending('what is this') }],
    reason: /not a list of tags/,
  },
  {
    name: 'two semicolons',
    sets: [{ key, seal: replacing('; cv', ';; cv') }],
    reason: /not a list of tags/,
  },
  {
    name: 'an unknown algorithm',
    sets: [{ key, seal: replacing('rsa-sha256', 'rsa-sha999') }],
    reason: /algorithm/,
  },
  {
    name: 'SHA-1 in the signature',
    sets: [{ key, signature: replacing('rsa-sha256', 'rsa-sha1') }],
    reason: /algorithm/,
  },
  {
    name: 'a time that is not a number',
    sets: [{ key, seal: replacing('t=1795255170', 't=yesterday') }],
    reason: /invalid time/,
  },
  {
    name: 'h= in the seal',
    sets: [{ key, seal: appending('h=from') }],
    reason: /has h=/,
  },
  {
    name: 'ARC-Seal among the signed fields',
    sets: [{ key, signature: replacing('h=from', 'h=arc-seal:from') }],
    reason: /signs ARC-Seal/,
  },
  {
    name: 'a signature that does not cover From',
    sets: [{ key, signature: replacing('h=from:', 'h=') }],
    reason: /does not sign From/,
  },
  {
    name: 'an unknown canonicalization',
    sets: [{ key, signature: replacing('c=relaxed/relaxed', 'c=relaxed/tight') }],
    reason: /canonicalization/,
  },
  {
    name: 'a signature that only verifies with a canonicalization that it does not name',
    sets: [{ key, signature: replacing('c=relaxed/relaxed; ', '') }],
    reason: /lenient verifiers|no valid signature/,
  },
  // Chain status.
  { name: 'cv=pass at i=1', sets: [{ key, cv: 'pass' }], reason: /cv=pass instead of cv=none/ },
  {
    name: 'cv=none at i=2',
    sets: [FIRST, { ...SECOND, cv: 'none' }],
    reason: /cv=none instead of cv=pass/,
  },
  { name: 'cv=fail at i=2', sets: [FIRST, { ...SECOND, cv: 'fail' }], reason: /failed before/ },
  { name: 'cv=maybe', sets: [{ key, cv: 'maybe' }], reason: /cv=maybe/ },
  // Cryptography.
  {
    name: 'a changed body',
    sets: [FIRST],
    change: (message) => alter(message, 'the body', 'a body'),
    reason: /no valid signature/,
  },
  {
    name: 'changed results',
    sets: [FIRST],
    change: (message) => alter(message, 'spf=pass', 'spf=fail'),
    reason: /seal signature/,
  },
  {
    name: 'changed results of an earlier set',
    sets: [FIRST, SECOND],
    change: (message) => alter(message, 'mx.list.example; spf=pass', 'mx.list.example; spf=fail'),
    reason: /seal signature/,
  },
  {
    name: 'a key that is not published',
    sets: [{ key, selector: 'gone' }],
    reason: /no key|gone/,
  },
  {
    name: 'a key with 768 bits',
    sets: [{ key: KEYS.rsa768, selector: 'weak' }],
    reason: /weak key/,
  },
];

describe('ARC chains', () => {
  for (const { name, sets, change, reason } of ROWS)
    it(`${reason === null ? 'accepts' : 'rejects'} ${name}`, async () => {
      const sealed = addArcSets(SIGNED, sets);
      const message = change ? change(sealed) : sealed;
      const finding = await runCheck(arc, { message, zone });
      const shown = JSON.stringify(finding);
      assert.equal(finding.status, 'info', shown);
      assert.equal(finding.evidence?.result, reason === null ? 'pass' : 'fail', shown);
      if (reason) assert.match(String(finding.evidence?.reason), reason, shown);
    });

  it('rejects more than 50 seals', async () => {
    const message = Buffer.concat([Buffer.from('ARC-Seal: i=1; cv=none\r\n'.repeat(51)), SIGNED]);
    const finding = await runCheck(arc, { message, zone });
    assert.equal(finding.evidence?.result, 'fail');
    assert.match(String(finding.evidence?.reason), /more than 50/);
  });
});
