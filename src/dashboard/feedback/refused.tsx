/** Reports of known and confirmed reporters that were refused: their messages are missing in all figures. */

import type { RefusedReport } from '../../feedback/refused.ts';
import { Notice } from '../frame/form.tsx';
import { REPORTS } from './list.tsx';

export function RefusedNotice({ refused }: { refused: RefusedReport[] }) {
  if (refused.length === 0) return null;
  return (
    <Notice tone="warn">
      <p>Reports are missing in the figures on this page:</p>
      <ul>
        {refused.map(({ id, text }) => (
          <li key={id}>
            {text} <a href={`${REPORTS}/${id}`}>Show</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
