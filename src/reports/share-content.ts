/** What a link shows: its tests as strangers may see them, for the page and the PDF, and as JSON. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../app.ts';
import { responseFilter } from '../http/response-filter.ts';
import { presentListed } from '../mailtests/present.ts';
import { findTest } from '../mailtests/queries.ts';
import { sealedReport } from '../mailtests/sealed-report.ts';
import { reportForStrangers } from '../render/for-strangers.ts';
import type { SealedShare, SharedReport } from '../render/thread/job.ts';
import type { SharedReportRow } from '../store/report-tables.ts';
import type { TestRow } from '../store/tables.ts';
import { sharedTestIds } from './share-queries.ts';
import { PublicTest } from './share-schema.ts';

type Reading = Pick<App, 'db' | 'config'>;

/** For the render thread. */
export async function sealedShare(app: Reading, row: SharedReportRow): Promise<SealedShare> {
  const { title, created_at, expires_at } = row;
  const reports: SharedReport[] = [];
  let missing = 0;
  for await (const test of testsOf(app, row))
    if (test) reports.push(sharedReport(test, app));
    else missing += 1;
  return { title, created_at, expires_at, reports, missing };
}

/** A `PublicReport`. Between two tests other requests have their turn: each may be large. */
export async function publicJson(app: Reading, row: SharedReportRow): Promise<Uint8Array> {
  const { title, created_at, expires_at } = row;
  const tests: Buffer[] = [];
  let deleted_tests = 0;
  for await (const test of testsOf(app, row)) {
    if (test) {
      const text = JSON.stringify(publicTest(test, app));
      tests.push(Buffer.from(tests.length === 0 ? text : `,${text}`));
    } else deleted_tests += 1;
    await nextTurn();
  }
  const object = 'public_report';
  const head = JSON.stringify({ object, title, created_at, expires_at, deleted_tests });
  return Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"tests":[`),
    ...tests,
    Buffer.from(']}'),
  ]);
}

/** One after the other in the order of the link; null for each that has been deleted. */
async function* testsOf({ db }: Reading, { id, livemode }: SharedReportRow) {
  const ids = (await sharedTestIds(db, [id])).get(id)!;
  for (const testId of ids) {
    const test = await findTest(db, testId, livemode === 1);
    yield test?.checks == null ? null : test;
  }
}

function sharedReport(row: TestRow, { config }: Reading): SharedReport {
  const { address, token, seed_addresses } = presentListed(row, config);
  const seeds = seed_addresses.map((seed) => seed.address);
  return { ...sealedReport(row, { config }), conceal: [address, token, ...seeds] };
}

const declared = responseFilter(PublicTest);

/** What the list form and the report have beyond that is not declared, and stays behind. */
function publicTest(row: TestRow, app: Reading): unknown {
  const report = reportForStrangers(sharedReport(row, app));
  return declared({ ...presentListed(row, app.config), ...report });
}
