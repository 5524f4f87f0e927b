// Records what a new service with the demo answers to the examples of the reference.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SURFACE_NAMES } from '@partner-loyalty/gateway';
import { EXAMPLES, exampleKey } from '@partner-loyalty/site/docs/examples.ts';
import { buildSchema } from 'graphql';
import { startDemo } from '../../test/support/service/demo.ts';

/** Where the responses are, by the keys of their examples. */
const RESPONSES = 'extensions/site/src/docs/responses.generated.json';

/**
 * The responses as JSON, or the committed ones if only times and IDs differ. Rejects if an
 * operation has no example, or an example fails.
 */
export async function recordedResponses(root: string): Promise<string> {
  const demo = await startDemo();
  try {
    const fresh: Record<string, unknown> = {};
    for (const example of EXAMPLES) fresh[exampleKey(example)] = await demo.run(example);
    const failed = EXAMPLES.filter(({ field }) => field !== 'error')
      .map(exampleKey)
      .filter((key) => json(fresh[key]).includes('"errors":'));
    const faulty = [...failed, ...withoutExample(root)];
    if (faulty.length > 0) throw new Error(`no example, or one that fails: ${faulty.join(', ')}`);
    const path = join(root, RESPONSES);
    const former = existsSync(path) ? readFileSync(path, 'utf8') : '{}';
    return masked(JSON.parse(former)) === masked(fresh) ? former : `${json(fresh)}\n`;
  } finally {
    await demo.close();
  }
}

/** The operations of the committed surfaces that no example shows. */
function withoutExample(root: string): string[] {
  const keys = new Set(EXAMPLES.map(exampleKey));
  return SURFACE_NAMES.flatMap((surface) => {
    const text = readFileSync(join(root, `gateway/surface.${surface}.graphql`), 'utf8');
    const schema = buildSchema(text);
    return [schema.getQueryType(), schema.getMutationType()]
      .flatMap((type) => Object.keys(type?.getFields() ?? {}))
      .map((field) => exampleKey({ surface, field }))
      .filter((key) => !keys.has(key));
  });
}

/** An ID token is cut, since it would fill half a screen. */
function json(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/(?<="eyJ[\w.-]{17})[\w.-]+/g, '…');
}

/** Without times, IDs, cursors and tokens. */
function masked(value: unknown): string {
  return json(value).replace(/"(\d{4}-\d\d-\d\dT[^"]*|[\w-]{20,}…?)"/g, '"…"');
}
