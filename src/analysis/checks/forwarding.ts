/** The check `forwarding`: whether a mailing list or a forwarding server passed the message on. */

import { type Check, info, rfc } from '../check.ts';
import { forwardingChanges } from '../forwarding/changes.ts';
import { changesText, forwarderName } from '../forwarding/explain.ts';
import { type ArcSealer, forwarding as forwardingFact } from '../forwarding/forwarding.ts';
import { fields } from '../mime/message.ts';

/** Informational. The other checks use the same fact, so that they do not blame the author. */
export const forwarding: Check = {
  id: 'forwarding',
  category: 'infrastructure',
  points: 0,
  label: 'Forwarding',
  reference: rfc(7960),
  publicEvidence: {
    kind: 'shown',
    by: 'shown',
    list_id: 'shown',
    changed: 'shown',
    signs: 'shown',
    seals: { instance: 'shown', domain: 'shown', results: 'shown' },
  },
  async run(context) {
    const found = context.fact(forwardingFact);
    const changed = await context.fact(forwardingChanges);
    const evidence = {
      kind: found.kind,
      by: found.by,
      list_id: fields(context.message, 'list-id').length > 0,
      changed,
      signs: found.evidence,
      seals: found.seals.map(({ instance, domain, results }) => ({ instance, domain, results })),
    };
    if (found.kind === 'direct')
      return info(
        'Your message shows no sign of forwarding.',
        'It seems to come directly from its sender, not through a mailing list or a forwarding server.',
        evidence,
      );
    const how = found.kind === 'list' ? 'sent to you by' : 'forwarded by';
    const changes = changesText(changed);
    return info(
      `This message was ${how} ${forwarderName(found)}.`,
      [
        'The results are those of the forwarded copy. To test your own setup, send directly to the test address.',
        changes === '' ? '' : `The copy shows ${changes}.`,
        sealText(found.seals),
      ]
        .filter((text) => text !== '')
        .join(' '),
      evidence,
    );
  },
};

function sealText(seals: ArcSealer[]): string {
  const [first] = seals;
  if (!first || first.results.length === 0) return '';
  return `In its ARC set, ${first.domain} recorded the results before that: ${first.results.join(', ')}.`;
}
