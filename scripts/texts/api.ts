/** Summaries, descriptions and answers of the API, from its OpenAPI document. */

import { readConfig } from '../../src/config/config.ts';
import { DOCUMENTED_API } from '../../src/features.ts';
import { describeApi } from '../../src/health/describe-api.ts';

export function apiTexts(): [name: string, text: string][] {
  const { config } = readConfig({ DELIVERABILITY_INBOX_DOMAIN: 'inbox.example.com' });
  const { paths, ...rest } = describeApi(DOCUMENTED_API, config, '0.0.0') as unknown as {
    paths: Record<string, object>;
  };
  return [
    ...Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]): [string, string] => [
        `${method.toUpperCase()} ${path}`,
        described(operation).join('\n'),
      ]),
    ),
    ['everything else', described(rest).join('\n')],
  ];
}

/** Every summary and description in the document, once, with the field that it describes. */
function described(value: unknown, name = '', seen = new Set<string>()): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if ((key === 'summary' || key === 'description') && typeof inner === 'string') {
      const line = `${name}${name && ': '}${inner}`;
      if (seen.has(line)) return [];
      seen.add(line);
      return [line];
    }
    const isStructure =
      /^(?:properties|schema|content|items|anyOf|allOf|oneOf|\d+|responses|parameters)$/;
    return described(inner, isStructure.test(key) ? (/^\d{3}$/.test(key) ? key : name) : key, seen);
  });
}
