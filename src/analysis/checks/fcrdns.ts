/** The check `fcrdns`: does the reverse DNS name resolve back to the sending IP address? */

import { normalizeAddress, reverseName } from '../../lib/addresses.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type FailedLookup,
  fail,
  lookupFailed,
  offline,
  PUBLIC_FAILED_LOOKUPS,
  pass,
  rfc,
  skipped,
} from '../check.ts';
import { clientPtr, publicClient, usableNames } from '../dns/names.ts';
import { canPublish, proposedName } from '../sending-services/ownership.ts';

const NOT_CHECKED = 'Forward-confirmed reverse DNS was not checked.';
const UNKNOWN =
  'Could not determine whether the reverse DNS name resolves back to the sending IP address.';

/** Forward-confirmed reverse DNS, the `iprev` method; one of several names is enough. */
export const fcrdns: Check = {
  id: 'fcrdns',
  category: 'infrastructure',
  points: 6,
  label: 'Forward-confirmed reverse DNS',
  issueTitle: 'The reverse DNS name does not resolve back',
  reference: rfc(8601, '3'),
  dependsOn: ['ptr'],
  publicEvidence: {
    client_ip: 'shown',
    resolved: { name: 'shown', addresses: 'shown' },
    ...PUBLIC_FAILED_LOOKUPS,
  },
  async run(context) {
    const client = publicClient(context);
    if (client.address === null) return skipped(NOT_CHECKED, client.reason);
    if (context.offline) return offline(NOT_CHECKED);
    const { address } = client;
    const answer = (await context.fact(clientPtr))!;
    if (answer.status === 'error')
      return lookupFailed(UNKNOWN, [
        { name: reverseName(address), type: 'PTR', reason: answer.reason },
      ]);
    const names = usableNames(answer);
    if (names.length === 0)
      return skipped(NOT_CHECKED, 'The sending IP address has no reverse DNS name to resolve.');
    const type = address.includes(':') ? 'AAAA' : 'A';
    const answers = await Promise.all(names.map((name) => context.resolver(name, type)));
    const resolved = names.map((name, index) => ({
      name,
      addresses: (recordsOf(answers[index]!) ?? []).slice(0, 20),
    }));
    const evidence = { client_ip: address, resolved };
    const confirmed = names.find((_, index) =>
      recordsOf(answers[index]!)?.some((text) => normalizeAddress(text) === address),
    );
    if (confirmed !== undefined)
      return pass(
        `${confirmed} resolves back to ${address}.`,
        'The name and the IP address of the sending server point to each other.',
        evidence,
      );
    const failures = answers.flatMap((result, index): FailedLookup[] =>
      result.status === 'error' ? [{ name: names[index]!, type, reason: result.reason }] : [],
    );
    if (failures.length > 0) return lookupFailed(UNKNOWN, failures, evidence);
    return fail({
      title: `${names[0]} does not resolve back to ${address}.`,
      detail:
        'A PTR record can claim any name, so mailbox providers look the name up and compare. Gmail rejects mail if the two do not match (5.7.25).',
      fix: canPublish(context, names[0]!)
        ? {
            text: `Add this record for ${names[0]}. Or ask the provider of ${address} for a PTR record whose name resolves to it.`,
            record: { type, name: names[0]!, value: address },
          }
        : `Ask the provider of ${address} for a PTR record with a name of yours, such as ${proposedName(context)}. Publish an ${type} record for that name with ${address}.`,
      evidence,
    });
  },
};
