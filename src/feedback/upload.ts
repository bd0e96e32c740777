/** Files that members upload: one as the body, or several small ones as a form, which takes much less time for each. */

import { readFormPartList } from '../http/multipart.ts';
import { contentType } from '../http/parse.ts';
import type { Call } from '../http/route.ts';
import { AppError } from '../lib/errors.ts';
import type { FeedbackMailRow } from '../store/tables.generated.ts';
import { type FeedbackOrigin, type NewFeedback, storeAll } from './intake.ts';
import { presentListedReport } from './present.ts';
import { reportsOfMails } from './queries.ts';
import { readMails } from './read-mail.ts';
import type { UploadedReports, UploadQuery } from './schemas/report.ts';
import { releaseStorage, requireStorage } from './storage/require.ts';

export const FORM_TYPE = 'multipart/form-data';

/** Of a form with several files, so that storing them takes a few milliseconds. */
const MAX_FORM_BYTES = 2 * 1024 * 1024;

/** If the process ends before it has read an upload, the job reads the upload after this time. */
const OWN_MS = 120_000;

interface UploadedFile {
  /** Null for a body that is the file. */
  name: string | null;
  raw: Uint8Array;
}

type UploadCall = Call<'member', typeof UploadQuery, undefined, typeof UploadedReports>;

export async function receiveUpload(call: UploadCall): Promise<UploadedReports> {
  const { app, query } = call;
  const files = filesOf(call);
  const arrivals = files.map(
    ({ raw }): NewFeedback => ({
      raw,
      source: query.source as FeedbackOrigin,
      domainId: null,
      suffix: null,
      envelope: null,
      ownMs: OWN_MS,
    }),
  );
  for (const [index, arrival] of arrivals.entries())
    await requireStorage(app, arrival).catch((error) => {
      for (const reserved of arrivals.slice(0, index)) releaseStorage(app, reserved);
      throw error;
    });
  const mails = await storeAll(
    app,
    arrivals,
    (work) =>
      call.transact(
        async (tx) => work(tx),
        () => undefined,
      ) as Promise<FeedbackMailRow[]>,
  );
  await readMails(app, mails);
  const names = new Map(mails.map(({ id }, index) => [id, files[index]!.name]));
  const reports = await reportsOfMails(app.db, [...names.keys()]);
  const data = reports.map((report) => {
    const file = names.get(report.mail_id) ?? null;
    return { ...presentListedReport(report), ...(file === null ? {} : { file }) };
  });
  return { object: 'list', data };
}

/** Throws `malformed_request` and `body_too_large`. */
function filesOf({ raw, headers }: Pick<UploadCall, 'raw' | 'headers'>): UploadedFile[] {
  const type = headers.get('content-type');
  const files: UploadedFile[] =
    contentType({ headers }) === FORM_TYPE
      ? readFormPartList(raw, type).flatMap(([name, { filename, bytes }]) =>
          name === 'file' && filename ? [{ name: filename, raw: bytes }] : [],
        )
      : [{ name: null, raw }];
  if (files.length === 0)
    throw new AppError(
      'malformed_request',
      'The form has no files. Send each file as a field named file.',
    );
  const empty = files.find((file) => file.raw.byteLength === 0);
  if (empty)
    throw new AppError(
      'malformed_request',
      `${empty.name === null ? 'The request body' : empty.name} is empty. Send a file with a report.`,
    );
  if (files.length > 1 && raw.byteLength > MAX_FORM_BYTES)
    throw new AppError(
      'body_too_large',
      `A form with several files can have at most ${MAX_FORM_BYTES} bytes. Send fewer files in one request.`,
    );
  return files;
}
