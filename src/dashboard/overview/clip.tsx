/** Text from outside in one line: names, subjects, addresses. */

import { truncate } from '../../lib/format/plain-text.ts';

/** No column shows more. */
const MAX_LENGTH = 200;

/** Ends with an ellipsis where the column ends. Its direction cannot disturb the text around it. */
export const Clip = ({ text, class: className = '' }: { text: string; class?: string }) => (
  <bdi class={`one-line clip ${className}`.trim()}>{truncate(text, MAX_LENGTH)}</bdi>
);
