/** Refused reports of known and confirmed reporters: their messages are missing from all figures. */

import type { RefusedReport } from '../../feedback/refused.ts';
import { Notice } from '../frame/form.tsx';
import { REPORTS } from './list.tsx';

export function RefusedNotice({ refused }: { refused: RefusedReport[] }) {
  if (refused.length === 0) return null;
  return (
    <Notice tone="warn">
      <p>The figures on this page are incomplete, because reports were refused:</p>
      <ul>
        {refused.map(({ id, text }) => (
          <li key={id}>
            {text} <a href={`${REPORTS}/${id}`}>Open report</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
