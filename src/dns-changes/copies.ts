/** A set of records as text to copy: for a zone file, for Terraform, and for octoDNS. */

import type { RecordSet } from './server.ts';

export interface Copies {
  zone_file: string;
  /** Blocks of the type `cloudflare_dns_record`. */
  terraform: string;
  /** An entry of the zone’s YAML file. */
  octodns: string;
}

/** `zone`: the zone that has the name, for names relative to it. */
export function copiesOf(set: RecordSet, zone: string): Copies {
  void set;
  void zone;
  throw new Error('in progress');
}
