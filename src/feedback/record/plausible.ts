/** Whether a report counts far more messages than anyone else has counted: a mistake, or a lie. */

import type { Tx } from '../../store/open.ts';
import type { DmarcDay, TlsDay } from '../thread/prepare.ts';

/** Reports with fewer messages are never held back. */
const MIN_MESSAGES = 100_000;
const MAX_TIMES = 20;

interface Counted {
  messages: number;
  domain_id: string;
  dmarcDays: DmarcDay[];
  tlsDays: TlsDay[];
}

/** What is implausible about it, in a sentence; null if nothing is. The days of the domain include those of the reporter. */
export async function implausibleCount(
  tx: Tx,
  { messages, domain_id, dmarcDays, tlsDays }: Counted,
): Promise<string | null> {
  if (messages <= MIN_MESSAGES || (dmarcDays.length === 0 && tlsDays.length === 0)) return null;
  const own = Math.max(
    ...dmarcDays.map((day) => day.messages),
    ...tlsDays.map(({ succeeded, failed }) => succeeded + failed),
  );
  const { largest } =
    dmarcDays.length > 0
      ? await tx
          .selectFrom('dmarc_days')
          .select(({ fn }) => fn.max('messages').as('largest'))
          .where('domain_id', '=', domain_id)
          .executeTakeFirstOrThrow()
      : await tx
          .selectFrom('tls_days')
          .select(({ fn, eb }) => fn.max(eb('succeeded', '+', eb.ref('failed'))).as('largest'))
          .where('domain_id', '=', domain_id)
          .executeTakeFirstOrThrow();
  const known = Number(largest ?? 0);
  return own <= known * MAX_TIMES
    ? null
    : `It counts ${own} in a day. The largest day that counts so far has ${known}.`;
}
