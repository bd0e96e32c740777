/**
 * Uploads of files with reports. Where scripts run, files can be dropped on the page and are sent one by one, each with
 * its progress (`browser/upload-files`). Without scripts, the form sends them together. Either way, each gets a line.
 */

import type { ListedReport } from '../../feedback/schemas/report.ts';
import { STATUSES } from '../../feedback/status.ts';
import type { FormPart } from '../../http/multipart.ts';
import { formatSize } from '../../lib/durations.ts';
import { Card } from '../frame/card.tsx';
import { type FormProblem, ProblemNotice, Submit } from '../frame/form.tsx';
import { REPORTS } from './list.tsx';

/** What became of a file of the form. */
export interface UploadedFile {
  name: string;
  reports: ListedReport[];
  /** Why it could not be read at all. */
  error: string | null;
}

/** For the script that shows the outcome of each file. */
const STATUS_WORDS = Object.fromEntries(
  Object.entries(STATUSES).map(([status, { word }]) => [status, word]),
);

/** Far more than the reports of a day. Each part of the form has a header. */
const MAX_FILES = 40;

/** The files of the form; one without a name means that none was chosen. */
export const filesOf = (parts: [name: string, part: FormPart][]): FormPart[] =>
  parts.flatMap(([name, part]) => (name === 'file' && part.filename ? [part] : []));

export function Upload({ problem, maxSize }: { problem: FormProblem | null; maxSize: number }) {
  const wrong = problem?.fields.file;
  const size = formatSize(maxSize);
  return (
    <Card title="Upload reports" id="upload">
      <form
        method="post"
        action={REPORTS}
        enctype="multipart/form-data"
        class="fields"
        data-upload
        data-max-bytes={maxSize}
        data-too-large={`Larger than ${size}`}
        data-words={JSON.stringify(STATUS_WORDS)}
      >
        <ProblemNotice problem={problem} />
        <div class="field drop-zone">
          <label for="file">Files</label>
          <p id="file-hint" class="hint">
            {`XML, JSON, gzip, zip, or the messages that carried the reports, up to ${size} each. `}
            <span class="needs-script">You can also drop files anywhere on this page.</span>
            <noscript>{`At most ${MAX_FILES} files at once, and ${size} together.`}</noscript>
          </p>
          {wrong && (
            <p id="file-wrong" class="wrong">
              <span class="visually-hidden">Error: </span>
              {wrong}
            </p>
          )}
          <input
            id="file"
            name="file"
            type="file"
            multiple
            required
            aria-invalid={wrong ? 'true' : undefined}
            aria-describedby={wrong ? 'file-wrong file-hint' : 'file-hint'}
          />
        </div>
        <Submit secondary>Upload</Submit>
      </form>
    </Card>
  );
}

/** As the script of the page shows them. */
export const UploadedFiles = ({ files }: { files: UploadedFile[] }) => (
  <Card title="Uploaded files" id="uploaded">
    <ul class="upload-lines">
      {files.map(({ name, reports, error }, index) => (
        <li key={index}>
          <bdi class="upload-name">{name}</bdi>
          <span>
            {error ??
              reports.map((report, position) => (
                <span key={report.id}>
                  {position > 0 && ', '}
                  <a href={`${REPORTS}/${report.id}`}>{STATUSES[report.status].word}</a>
                  {report.status === 'refused' && report.detail && `: ${report.detail}`}
                </span>
              ))}
          </span>
        </li>
      ))}
    </ul>
  </Card>
);
