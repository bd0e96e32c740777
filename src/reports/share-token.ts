/** The token of a link: kept as a hash to find its report by, and encrypted to be shown to admins again. */

import type { Config } from '../config.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { SharedReportRow } from '../store/report-tables.ts';

const purposeOf = (id: string): string => `shared_report:${id}`;

export function sealToken(secrets: SecretBox, id: string, token: string): string {
  return secrets.seal(token, purposeOf(id));
}

/** null where it can no longer be decrypted. */
export function openToken(
  secrets: SecretBox,
  { id, token }: Pick<SharedReportRow, 'id' | 'token'>,
): string | null {
  return secrets.open(token, purposeOf(id));
}

export function linkOf({ APP_URL }: Pick<Config, 'APP_URL'>, token: string): string {
  return `${APP_URL}/reports/public/${token}`;
}
