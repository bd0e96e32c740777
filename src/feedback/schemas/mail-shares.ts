/** API schema of the shares of own and forged mail. */

import * as v from 'valibot';
import { valuesOf } from '../../figures/figure.ts';
import { MAIL_SHARES } from '../../figures/mail-shares.ts';
import { Count, described, named } from '../../http/schemas.ts';

export const MailShares = named(
  'MailShares',
  v.object(valuesOf(MAIL_SHARES, 'name', ({ description }) => described(Count, description))),
  'How many of the reported messages are your own, forged or forwarded, as far as that is known.',
  { own: 1100, own_passed: 1100, forged: 8900, suspected: 0, forwarded: 0, unjudged: 300 },
);
