/** Step 21: a reporter is whoever the mail authenticates. `feedback/record/attribute.ts` finds it for reports from before. */

export const REPORTERS = `
ALTER TABLE feedback_reporters ADD COLUMN kind TEXT;
ALTER TABLE feedback_reporters ADD COLUMN title TEXT;
ALTER TABLE feedback_reporters ADD COLUMN label TEXT;
UPDATE feedback_reporters SET trusted = 0;
ALTER TABLE feedback_reports ADD COLUMN label TEXT;
ALTER TABLE feedback_reports ADD COLUMN file_identity TEXT;
ALTER TABLE feedback_reports ADD COLUMN attributed INTEGER NOT NULL DEFAULT 0;
UPDATE feedback_reports SET attributed = CASE WHEN status = 'refused' THEN 1 ELSE 0 END, file_identity = identity;
CREATE INDEX feedback_reports_taken_out ON feedback_reports (id)
  WHERE status <> 'counted' AND counted_rows > 0;
CREATE INDEX feedback_reports_file ON feedback_reports (file_identity) WHERE file_identity IS NOT NULL;
CREATE INDEX feedback_reports_earlier ON feedback_reports (id) WHERE attributed = 0;
ALTER TABLE bounces ADD COLUMN authenticated INTEGER;
`;
