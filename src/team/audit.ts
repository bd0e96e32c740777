/** Writes down who changed what, in the transaction of the change. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import type { Caller } from '../http/caller.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tx } from '../store/open.ts';

/** Who and from where; a null actor is the service itself, or a command at the machine. */
export interface Author {
  app: Pick<App, 'clock' | 'newId'>;
  actor: Pick<Actor, 'memberId' | 'email' | 'keyId' | 'sessionId'> | null;
  caller: Pick<Caller, 'ip'>;
}

export interface AuditEntry {
  /** `member.removed`: the kind of object and what was done. */
  action: string;
  object: { type: string; id: string };
  /** What changed; never a secret. */
  details?: Record<string, unknown>;
}

export async function audit(
  tx: Tx,
  { app, actor, caller }: Author,
  entry: AuditEntry,
): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      id: app.newId('aud'),
      created_at: isoTime(app.clock.now()),
      member_id: actor?.memberId ?? null,
      member_email: actor?.email ?? null,
      key_id: actor?.keyId ?? null,
      session_id: actor?.sessionId ?? null,
      ip: caller.ip,
      action: entry.action,
      object_type: entry.object.type,
      object_id: entry.object.id,
      details: JSON.stringify(entry.details ?? {}),
    })
    .execute();
}
