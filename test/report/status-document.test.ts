/** The status page of a client: what is not known is neither a problem nor fine. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusDocument } from '../../src/report/document/status.ts';
import type { DomainStatus } from '../../src/report/status.ts';
import { renderText } from '../../src/report/text.ts';

const of = (name: string, state: DomainStatus['state']): DomainStatus => ({
  name,
  state,
  headline: `The headline of ${name}.`,
  since: null,
  policy: 'reject',
  messages: 0,
  passed: 0,
  problems: state === 'fail' ? [{ title: 'No SPF record.', step: 'Publish one.' }] : [],
});

const textOf = (domains: DomainStatus[]): string => {
  const named = { title: 'Acme', time: '2026-11-21T10:00:00.000Z', notes: [] };
  const document = statusDocument({ domains, omitted: 0 }, 'page', named);
  return renderText(document, { width: 100, color: false });
};

test('Domains whose state is unknown have a section of their own, and count as neither', () => {
  const all = textOf([
    of('bad.example', 'fail'),
    of('new.example', 'unknown'),
    of('ok.example', 'pass'),
  ]);
  assert.match(all, /1 of 3 domains needs attention\. The state of 1 domain is not known yet\./);
  assert.match(all, /Not known yet.*new\.example.*No known problems.*ok\.example/is);
  const unknown = textOf([of('new.example', 'unknown')]);
  assert.match(unknown, /The state of 1 domain is not known yet\./);
  assert.doesNotMatch(unknown, /no known problems/i);
  assert.match(textOf([of('ok.example', 'pass')]), /No known problems with 1 domain\./);
});
