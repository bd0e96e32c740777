/** Spares the wait for mail servers where port 25 is shut on the way out, as many clouds have it. */

import type { Clock } from '../lib/clock.ts';
import type { MailTls, ProbeMailTls } from './smtp-probe.ts';

/** Silence of so many different servers, with none that was heard between, is no longer theirs. */
const PROOF = 5;
/** After so long one is tried again. */
const LASTS_MS = 10 * 60_000;

const SHUT: MailTls = {
  status: 'unreachable',
  silent: true,
  detail: 'port 25 seems to be shut on the way out of this network',
};

/** The same probe, which answers at once while the port seems shut. */
export function sparingShutPort(probe: ProbeMailTls, clock: Clock): ProbeMailTls {
  const silentHosts = new Set<string>();
  let shutAt = 0;
  const isShut = () => {
    const age = clock.now() - shutAt;
    // A clock that was set back does not make it last.
    return silentHosts.size >= PROOF && age >= 0 && age < LASTS_MS;
  };
  return async (host) => {
    if (isShut()) return SHUT;
    const found = await probe(host);
    if (found.status === 'unreachable' && found.silent) {
      if (silentHosts.size < PROOF) silentHosts.add(host);
      shutAt = clock.now();
    } else if (wasHeard(found)) silentHosts.clear();
    return found;
  };
}

/** Something came back from port 25, if only a refusal. */
function wasHeard({ status }: MailTls): boolean {
  return status !== 'forbidden' && status !== 'unknown';
}
