// Generates the client's list of error codes from the service's table.
import { ERRORS, type ErrorRow } from '@partner-loyalty/runtime/errors.ts';

/** The text of the generated file. */
export function clientErrors(): string {
  const rows: [string, ErrorRow][] = Object.entries(ERRORS);
  const codes = rows.map(
    ([code, { status, when, reasons }]) => `  /**
   * ${plain(when)}
   * HTTP status ${status}.
   */
  ${code}: { status: ${status}, reasons: ${JSON.stringify(reasons ?? [])} },
`,
  );
  return `// The service's error codes, generated from its table by \`npm run generate\`.

/** Each code with the HTTP status of a request that fails with it, and its reasons. */
export const SERVICE_CODES = {
${codes.join('')}} as const;
`;
}

/** Without links, which lead to files that the package does not have. */
function plain(text: string): string {
  return text.replace(/\[([^[\]]*)\]\([^()[\]]*\)/g, '$1').replaceAll('*/', '*\\/');
}
