/** The rows of what receivers report: each number with its basis, and nothing about what is not known. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_MAIL } from '../../src/figures/mail-shares.ts';
import {
  figureDays,
  figureRows,
  reportedSourceSentence,
} from '../../src/report/feedback-figures.ts';
import type { FeedbackFigures } from '../../src/report/summary.ts';
import { FIGURES } from './scheduled-reports.ts';

const NONE = { total: 0, sources: [] };

const linesOf = (changes: Partial<FeedbackFigures>) =>
  figureRows({ ...FIGURES, ...changes }).map(
    ({ name, value, basis, state }) => `${name}: ${value} (${basis})${state ? ` ${state}` : ''}`,
  );

test('figureRows names up to three sources, with their domain if there are several', () => {
  assert.deepEqual(linesOf({}), [
    'Messages: 12,480 (Reported by 5 reporters)',
    'Your own mail: 99.7% (12,385 of 12,420 messages passed DMARC; 0.4% of all mail with your name is forged)',
    'Failing sources: 1 (SendGrid: 30 of 84 messages failed) warn',
    'New sources: 5 (Mailchimp (shop.example): 1,400 messages, 100% passed; crm.example.net (example.com): 1,100 messages, 99.9% passed; 203.0.114.0/24 (shop.example): 800 messages, 99.7% passed; 2 more)',
    'Not yours: 60 (Messages, of which 45 were quarantined or rejected)',
    'TLS failures: 3 (Of 1,240 sessions, reported by 2 reporters)',
    'Spam complaints: 4 (From 1 provider)',
  ]);
});

test('figureRows leaves out what no report is about', () => {
  const quiet = { spoofed: { messages: 0, stopped: 0 }, tls: null, complaints: null };
  assert.deepEqual(
    linesOf({
      ...quiet,
      failing_sources: NONE,
      new_sources: NONE,
      messages: 1,
      passed: 1,
      shares: { ...NO_MAIL, unjudged: 1 },
    }).slice(1),
    [
      'Passed DMARC: 100% (100% of all mail with your name is from sources you have not judged yet)',
      'Failing sources: None (Among your servers and services with at least 10 messages)',
    ],
  );
  assert.deepEqual(
    linesOf({
      messages: 0,
      passed: 0,
      pass_rate: null,
      reporters: 0,
      complaints: null,
      tls: { reporters: 1, sessions: 1, failed: 0 },
    }),
    ['TLS failures: None (Of 1 session, reported by 1 reporter)'],
  );
});

test('The sentence about a source truncates its name and says on what it is based', () => {
  const source = {
    id: 'src_1',
    domain_id: 'dom_1',
    domain: 'example.com',
    reporters: 1,
    from: '2026-11-21',
    to: '2026-11-21',
    url: 'https://app.example.com',
    name: 'm'.repeat(100),
    messages: 1,
    passed: 0,
  };
  assert.equal(
    reportedSourceSentence(source),
    `Receivers reported 1 message from ${'m'.repeat(59)}… in the last 30 days; 0% passed DMARC.`,
  );
  assert.equal(figureDays(source), 'Sat 21 Nov 2026 (UTC)');
});
