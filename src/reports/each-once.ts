/** Lists that name nothing twice. */

import * as v from 'valibot';

/** Names each that was there before. */
export const eachOnce = (message: string) =>
  v.rawCheck<string[]>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value: input } = dataset;
    input.forEach((value, key) => {
      if (input.indexOf(value) < key)
        addIssue({ message, path: [{ type: 'array', origin: 'value', input, key, value }] });
    });
  });
