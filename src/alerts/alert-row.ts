/** The columns of an alert rule that hold JSON or a boolean. */

import { rowCodec } from '../store/row-codec.ts';
import type { AlertRow } from '../store/tables.generated.ts';

export const ALERT_ROW = rowCodec<
  AlertRow,
  // A later version may know more channels.
  { channels: string[]; enabled: boolean; recipients: string[] | null; tags: string[] | null }
>({ channels: 'json', enabled: 'boolean', recipients: 'json', tags: 'json' });
