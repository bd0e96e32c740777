/** Receivers: what Google Postmaster Tools and Microsoft SNDS publish about domains and addresses. */

import type { Feature } from '../feature.ts';

export const receivers: Feature = { name: 'receivers' };
