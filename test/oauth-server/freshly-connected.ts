/** Assistants that are connected without their clients, for tests of lists, pages and permissions. */

import { isoTime } from '../../src/lib/clock.ts';
import { DAY_MS } from '../../src/lib/durations.ts';
import type { ConnectedAssistantRow } from '../../src/store/tables.generated.ts';
import type { TestService } from '../helpers/app.ts';

/** The row of a connected assistant. */
export async function insertAssistant(
  { app }: Pick<TestService, 'app'>,
  member_id: string,
  more: Partial<ConnectedAssistantRow> = {},
): Promise<ConnectedAssistantRow> {
  const id = app.newId('con');
  const now = isoTime(app.clock.now());
  const row: ConnectedAssistantRow = {
    id,
    member_id,
    client_id: 'https://claude.ai/client.json',
    name: 'Claude',
    host: 'claude.ai',
    role: 'member',
    livemode: 1,
    writes: 0,
    resource: 'https://mail.example.com/mcp',
    code_hash: id,
    code_challenge: 'x',
    redirect_uri: 'https://claude.ai/callback',
    code_used_at: now,
    created_at: now,
    expires_at: isoTime(app.clock.now() + DAY_MS),
    last_used_at: null,
    tags: null,
    ...more,
  };
  await app.db.insertInto('connected_assistants').values(row).execute();
  return row;
}
