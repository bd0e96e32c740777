/** The option `--dns`, which every command takes that asks the DNS. */

import { servers } from '../config-readers.ts';
import type { DnsServer } from '../lib/dns-servers.ts';
import { UsageError } from './io.ts';

/** The servers it names, or null where it is not given. Throws a UsageError for what are none. */
export function readDnsOption(text: string | undefined): DnsServer[] | null {
  try {
    return servers(text ?? '');
  } catch (error) {
    throw new UsageError(`--dns ${(error as Error).message}`);
  }
}
