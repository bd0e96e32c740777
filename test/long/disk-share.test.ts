/** A disk of 900 MB, strangers and uploads that would fill it: tests go on, nothing acknowledged is lost, and it shows in time. */

// @one-database: about the file system of an SQLite file.
// @alone: measures what fits on a disk while megabytes arrive.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { execFileSync } from '../../scripts/programs.ts';
import { MIN_FREE_BYTES } from '../../src/lib/disk.ts';
import { memberOf } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { dmarc, gzip, mail } from '../feedback/reading/builders.ts';
import { startFeedback } from '../feedback/start.ts';
import { isFullSize } from '../helpers/full-size.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { sendMail } from '../helpers/send.ts';

/** Sent one after another: each takes seconds to write, send and read. The smaller share is full after 35 of them. */
const STRANGERS = isFullSize ? 200 : 45;
const UPLOADS = isFullSize ? 200 : 15;
const SHARE: Record<string, string> = isFullSize
  ? {}
  : { DELIVERABILITY_FEEDBACK_STORAGE_PER_DOMAIN: '40MiB' };
const MAILS_PER_TEST = 10;

/** Null if this machine allows no mounts. */
function mountSmallDisk(t: TestContext): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=900m', 'tmpfs', folder], {
      stdio: 'pipe',
    });
  } catch {
    rmdirSync(folder);
    return null;
  }
  t.after(() => {
    // Its last file closes with the service.
    execFileSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
  return folder;
}

const ATTACHMENT = { type: 'application/octet-stream', content: randomBytes(10_300_000) };

/** 14.5 MB, of which the report takes 250 KB. */
const large = (id: string): Uint8Array =>
  mail([
    {
      type: 'application/gzip',
      content: gzip(
        dmarc({ id, close: `<!-- ${randomBytes(160 * 1024).toString('hex')} --></feedback>` }),
      ),
    },
    ATTACHMENT,
  ]);

test(`${STRANGERS} messages of strangers and ${UPLOADS} uploads of 14 MB leave space for tests on a disk of 900 MB`, {
  skip:
    (process.getuid?.() !== 0 && 'only root can mount a file system') ||
    skipUnlessInstalled('mount'),
  timeout: 3_600_000,
}, async (t) => {
  const folder = mountSmallDisk(t);
  if (folder === null) return t.skip('this machine allows no mounts');
  const feedback = await startFeedback(t, { folder, env: SHARE });
  const { service, domain, clock, settled } = feedback;
  const { db } = service.app;
  const owner = await memberOf(service, 'owner@example.com');
  const counts = { accepted: 0, refused: 0, delayed: 0, tests: 0, uploads: 0 };
  /** The numbers of the messages after which it was first seen. */
  const seen: { readyzAt?: number; overviewAt?: number; refusedAt?: number } = {};

  const testOnce = async () => {
    const { address, id } = await service.createTest();
    await sendMail({ port: service.smtp.port, to: address, raw: goodMessage() });
    assert.equal((await service.getTest(id, '?wait=50')).status, 'completed');
    counts.tests += 1;
  };
  const isNearlyFull = async () => {
    const { body } = await service.call<{ dependencies: { name: string; status: string }[] }>(
      'GET',
      '/readyz',
      { key: null },
    );
    return body.dependencies.some(
      ({ name, status }) => name === 'feedback_storage' && status === 'degraded',
    );
  };

  /** Whether a message of a stranger is not reduced to its report yet. */
  const hasLarge = async () => {
    const query = db.selectFrom('feedback_mails').select('id').where('source', '=', 'smtp');
    return (await query.where('size', '>', 1_000_000).execute()).length > 0;
  };

  // Without a test, the overview only says how to begin.
  await testOnce();
  for (let index = 0; index < STRANGERS; index++) {
    clock.advance(60_000);
    try {
      await sendMail({
        port: service.smtp.port,
        to: domain.feedback.address,
        raw: large(`s-${index}`),
        mailFrom: 'bounce@broken.example',
        clientIp: `198.51.${index}.7`,
      });
      counts.accepted += 1;
    } catch (error) {
      const { responseCode } = error as { responseCode: number };
      assert.ok([451, 452].includes(responseCode), String(error));
      counts[responseCode === 452 ? 'refused' : 'delayed'] += 1;
      seen.refusedAt ??= index;
    }
    await settled();
    while (await hasLarge()) await pause(10);
    if (seen.overviewAt === undefined && (await isNearlyFull())) {
      seen.readyzAt ??= index;
      const { html } = await owner.get('/');
      if (/Feedback storage: Nearly full/.test(mainOf(html))) seen.overviewAt = index;
    }
    if (index % MAILS_PER_TEST === 0) await testOnce();
  }
  assert.ok(counts.refused > 0, JSON.stringify(counts));
  assert.ok(seen.readyzAt! < seen.refusedAt!, JSON.stringify(seen));
  assert.ok(seen.overviewAt! < seen.refusedAt!, JSON.stringify(seen));

  for (let index = 0; index < UPLOADS; index++) {
    clock.advance(60_000);
    const [report] = await feedback.upload(large(`u-${index}`));
    assert.equal(report!.status, 'counted');
    counts.uploads += 1;
    if (index % MAILS_PER_TEST === 0) await testOnce();
  }

  const stored = await db
    .selectFrom('feedback_reports')
    .select(({ fn }) => ['source', 'status', fn.countAll<number>().as('reports')])
    .groupBy(['source', 'status'])
    .orderBy('source')
    .execute();
  assert.deepEqual(stored, [
    { source: 'smtp', status: 'unverified', reports: counts.accepted },
    { source: 'upload', status: 'counted', reports: counts.uploads },
  ]);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  assert.ok(free > MIN_FREE_BYTES, String(free));
  t.diagnostic(JSON.stringify({ ...counts, ...seen, free_mb: Math.round(free / 1e6) }));
});
