/** The render thread: its results, its limits, and recovery after a failed job. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { AppError } from '../../src/lib/errors.ts';
import { silentLog } from '../../src/lib/log.ts';
import { reportPage, sharedPage } from '../../src/report/html/report-page.tsx';
import { reportPdf, sharedPdf, summaryPdf } from '../../src/report/pdf/pdf.ts';
import { redactStoredReport } from '../../src/report/redact.ts';
import {
  createReportRenderer,
  type ReportJob,
  type ReportRendererOptions,
} from '../../src/report/renderer.ts';
import type { StoredReport, StoredShare } from '../../src/report/report.ts';
import { analyzeBy, fakeCheck, INPUT } from '../analysis/fake-checks.ts';
import { WEEK } from './scheduled-reports.ts';

const BAD_WORKER = fileURLToPath(new URL('bad-worker.ts', import.meta.url));

const RESULT = await analyzeBy([fakeCheck('a', 'fail')]);
const STORED: StoredReport = {
  ...RESULT,
  id: 'test_1',
  name: null,
  received_at: '2026-11-21T10:00:00.000Z',
  completed_at: '2026-11-21T10:00:01.000Z',
  envelope: INPUT.envelope,
  placement: [],
  checks: JSON.stringify(RESULT.checks),
  providers: JSON.stringify(RESULT.providers),
};
// `of` is a function, which cannot be posted to a thread.
delete (STORED as { of?: unknown }).of;

type TestJob = Extract<ReportJob, { kind: 'test' }>;

const job = (changes: Partial<TestJob> = {}, name: string | null = null): TestJob => ({
  kind: 'test',
  format: 'pdf',
  report: { ...STORED, name },
  message: async () => null,
  ...changes,
});

function start(t: TestContext, options: Partial<ReportRendererOptions> = {}) {
  const logged: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void logged.push(message) };
  const reporter = createReportRenderer({ log, ...options });
  t.after(() => reporter.close());
  return { ...reporter, logged };
}

const startBad = (t: TestContext, options: Partial<ReportRendererOptions> = {}) =>
  start(t, { workerFile: BAD_WORKER, ...options });

/** Matches an AppError `unavailable` with this detail. */
const unavailable = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof AppError, String(error));
  assert.equal(error.code, 'unavailable');
  assert.match(error.detail, words);
  return true;
};

const NO_MESSAGE = { message: null, preview: null };

test('Renderer thread produces the same PDF and page as direct rendering', async (t) => {
  const { render } = start(t);
  const whole = { ...STORED, checks: RESULT.checks, providers: RESULT.providers, ...NO_MESSAGE };

  const pdf = await render(job());
  assert.ok(Buffer.from(pdf.bytes).equals(await reportPdf(whole)));
  assert.equal(pdf.policy, null);
  const page = await render(job({ format: 'html' }));
  assert.equal(Buffer.from(page.bytes).toString(), reportPage(whole));
  assert.match(page.policy!, /default-src 'none'.*frame-ancestors 'none'/);
});

const SHARED: StoredShare = {
  title: 'Before and after',
  created_at: '2026-11-21T10:05:00.000Z',
  expires_at: '2026-11-28T10:05:00.000Z',
  reports: [
    { ...STORED, name: 'Before', conceal: [], message: null },
    {
      ...STORED,
      name: 'Sent to k3x9w2m7p4q8r5t1@tests.example',
      conceal: ['k3x9w2m7p4q8r5t1'],
      message: null,
    },
  ],
  deletedTests: 0,
};

test('Renderer redacts concealed text in shared reports', async (t) => {
  const { render } = start(t);
  const share = { ...SHARED, reports: SHARED.reports.map(redactStoredReport) };
  const page = await render({ kind: 'shared', format: 'html', shared: async () => SHARED });
  const html = Buffer.from(page.bytes).toString();
  assert.equal(html, sharedPage(share));
  assert.doesNotMatch(html, /k3x9w2m7p4q8r5t1/i);
  assert.match(html, /Sent to …@tests\.example/);
  assert.match(page.policy!, /default-src 'none'.*frame-ancestors 'none'/);
  const pdf = await render({ kind: 'shared', format: 'pdf', shared: async () => SHARED });
  assert.ok(Buffer.from(pdf.bytes).equals(await sharedPdf(share)));
  assert.equal(pdf.policy, null);
});

test('Renderer produces summary PDFs', async (t) => {
  const { render } = start(t);
  const pdf = await render({ kind: 'summary', report: WEEK });
  assert.ok(Buffer.from(pdf.bytes).equals(await summaryPdf(WEEK)));
  assert.equal(pdf.policy, null);
});

test('Renderer skips a shared report whose request was aborted', async (t) => {
  const { render } = start(t);
  const signal = AbortSignal.abort();
  await assert.rejects(
    render({ kind: 'shared', format: 'pdf', shared: async () => SHARED, signal }),
    unavailable(/closed the request/),
  );
});

test('Renderer reads the message when the job starts and includes it', async (t) => {
  const { render } = start(t);
  const order: string[] = [];
  const readMessage = (what: string) => async () => {
    order.push(what);
    return { raw: INPUT.raw, images: null };
  };
  const pages = Promise.all(
    ['first', 'second'].map((what) =>
      render(job({ format: 'html', message: readMessage(what) })).then(({ bytes }) => {
        order.push(`${what} rendered`);
        return Buffer.from(bytes).toString();
      }),
    ),
  );
  for (const page of await pages) assert.match(page, /Hello, your order is on its way\./);
  assert.deepEqual(order, ['first', 'first rendered', 'second', 'second rendered']);
});

test('Renderer aborts a job on timeout and continues with a new thread', {
  timeout: 60_000,
}, async (t) => {
  const { render, logged } = startBad(t, { timeoutMs: 3_000 });
  const stuck = render(job({}, 'loop'));
  const next = render(job({ format: 'html' }));
  await assert.rejects(stuck, unavailable(/took too long/));
  assert.ok((await next).bytes.byteLength > 1000);
  assert.deepEqual(logged, ['render thread timed out']);
});

test('Renderer leaves out a message that takes too long', { timeout: 60_000 }, async (t) => {
  const { render, logged } = startBad(t, { timeoutMs: 3_000 });
  const message = async () => ({ raw: INPUT.raw, images: null });
  const { bytes } = await render(job({ format: 'html', message }, 'loop with a message'));
  const page = Buffer.from(bytes).toString();
  assert.match(page, /This report does not include the message/);
  assert.match(page, /How the score is calculated/);
  assert.deepEqual(logged, ['render thread timed out']);
});

test('Renderer leaves out the message of a shared report that takes too long', {
  timeout: 60_000,
}, async (t) => {
  const { render } = startBad(t, { timeoutMs: 3_000 });
  const report = { ...SHARED.reports[0]!, name: 'loop with a message' };
  const shared = {
    ...SHARED,
    reports: [{ ...report, message: { raw: INPUT.raw, images: null } }],
  };
  const { bytes } = await render({ kind: 'shared', format: 'html', shared: async () => shared });
  const page = Buffer.from(bytes).toString();
  assert.match(page, /How the score is calculated/);
  assert.doesNotMatch(page, /As recipients see it/);
});

test('Renderer aborts jobs that exceed memory or end their thread', {
  timeout: 60_000,
}, async (t) => {
  const { render } = startBad(t, { memoryMb: 64 });
  await assert.rejects(render(job({}, 'allocate')), unavailable(/not enough memory/));
  await assert.rejects(render(job({}, 'exit')), unavailable(/the render thread ended/));
  // The cause belongs in the log, not in the response.
  await assert.rejects(render(job({}, 'throw')), unavailable(/^[^/]*the render thread ended\.$/));
  assert.ok((await render(job({ format: 'html' }))).bytes.byteLength > 1000);
});

test('Renderer reports internal faults and keeps its thread', async (t) => {
  const { render, logged } = start(t);
  const broken = { ...STORED, checks: 'no JSON' };
  await assert.rejects(render(job({ report: broken })), (error: Error) => {
    assert.ok(!(error instanceof AppError));
    assert.match(error.message, /JSON/);
    return true;
  });
  const fault = new Error('the message cannot be read');
  await assert.rejects(render(job({ message: () => Promise.reject(fault) })), fault);
  assert.ok((await render(job())).bytes.byteLength > 1000);
  assert.deepEqual(logged, []);
});

test('Renderer limits its queue and skips aborted jobs', async (t) => {
  const { render } = start(t, { maxWaiting: 2 });
  const read = Promise.withResolvers<null>();
  const first = render(job({ message: () => read.promise }));
  const aborted = new AbortController();
  const second = render(job({ signal: aborted.signal, message: () => assert.fail('it was read') }));
  const third = render(job());
  await assert.rejects(render(job()), unavailable(/Too many reports/));
  aborted.abort();
  read.resolve(null);
  await first;
  await assert.rejects(second, unavailable(/closed the request/));
  await third;
});

test('Renderer serves team requests before public links, each with its own queue', async (t) => {
  const { render } = start(t, { maxWaiting: 2 });
  const order: string[] = [];
  const read = Promise.withResolvers<null>();
  const first = render(job({ message: () => read.promise }));
  const byLink = (format: 'html' | 'pdf') =>
    render({
      kind: 'shared',
      format,
      async shared() {
        order.push('link');
        return SHARED;
      },
    });
  const link = byLink('html');
  await assert.rejects(byLink('pdf'), unavailable(/Too many reports/));
  const message = async () => {
    order.push('team');
    return null;
  };
  const team = [render(job({ message })), render(job({ message }))];
  await assert.rejects(render(job({ message })), unavailable(/Too many reports/));
  read.resolve(null);
  await Promise.all([first, link, ...team]);
  assert.deepEqual(order, ['team', 'team', 'link']);
});

test('Renderer thread ends when idle and restarts on demand', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const threads: Worker[] = [];
  const onThread = (thread: Worker) => threads.push(thread);
  process.on('worker', onThread);
  t.after(() => process.off('worker', onThread));
  const { render } = start(t, { idleMs: 60_000 });
  const { length } = (await render(job())).bytes;
  await render(job());
  assert.equal(threads.length, 1);
  // The thread is idle once the result is delivered.
  await new Promise(setImmediate);
  t.mock.timers.tick(59_999);
  assert.equal((await render(job())).bytes.length, length);
  await new Promise(setImmediate);
  const ended = once(threads[0]!, 'exit');
  t.mock.timers.tick(60_000);
  await ended;
  assert.equal((await render(job())).bytes.length, length);
  assert.equal(threads.length, 2);
});

test('Closing the renderer settles running, waiting and later jobs', {
  timeout: 60_000,
}, async (t) => {
  const { render, close } = startBad(t);
  await render(job());
  const jobs = [render(job({}, 'loop')), render(job())];
  const answered = Promise.allSettled(jobs);
  // The first job runs in the thread by then.
  await new Promise(setImmediate);
  await close();
  for (const each of await answered) {
    assert.equal(each.status, 'rejected');
    unavailable(/shutting down/)((each as PromiseRejectedResult).reason);
  }
  await assert.rejects(render(job()), unavailable(/shutting down/));
  await close();
});
