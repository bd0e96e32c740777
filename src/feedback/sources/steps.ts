/** How the owner of a domain sets up DKIM and the return path at the sending service of a source. */

import { SENDING_SERVICES } from '../../analysis/sending-services/services.ts';
import {
  dkimGuide,
  signingSteps,
  spfGuide,
} from '../../analysis/sending-services/signing-steps.ts';
import { returnPathStep } from '../../analysis/sending-services/spf-steps.ts';
import type { FeedbackSourceRow } from '../../store/tables.generated.ts';
import { basisOf, type SourceKind, subjectOf } from './kind.ts';

export interface SetupStep {
  method: 'dkim' | 'return_path';
  text: string;
  guide: string;
}

/** As the checks write them. Empty if the source is no known service of the domain, or none of its messages fail. */
export function setupSteps(
  { key }: Pick<FeedbackSourceRow, 'key'>,
  { kind, messages, passed }: { kind: SourceKind; messages: number; passed: number },
  domain: string,
): SetupStep[] {
  const isFailing = kind === 'misconfigured' || (kind === 'service' && passed < messages);
  const service =
    isFailing && basisOf(key) === 'service'
      ? SENDING_SERVICES.find(({ id }) => id === subjectOf(key))
      : undefined;
  if (!service) return [];
  const returnPath = returnPathStep(service, domain);
  return [
    {
      method: 'dkim',
      text: signingSteps(service, domain).text,
      guide: dkimGuide(service)!.url,
    },
    ...(returnPath === null
      ? []
      : [{ method: 'return_path' as const, text: returnPath, guide: spfGuide(service)!.url }]),
  ];
}
