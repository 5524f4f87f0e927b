// The templates of programs in languages/, of which the explorer fills that of curl too.

const CREDENTIALS = {
  partner: { header: 'x-partner-api-key', variable: 'PARTNER_LOYALTY_KEY' },
  member: { header: 'authorization', variable: 'PARTNER_LOYALTY_TOKEN' },
};

/**
 * `{{name}}` stands for a value, `{{member:text}}` for a text only on that surface. The values of
 * the credential are names: a program reads it from its environment.
 */
export function filled(
  template: string,
  surface: keyof typeof CREDENTIALS,
  given: Readonly<Record<string, string>>,
): string {
  const values: Readonly<Record<string, string>> = { ...CREDENTIALS[surface], ...given };
  return template
    .trimEnd()
    .replace(/\{\{(\w+)(?::([^{}]*))?\}\}/g, (_, name: string, text?: string) =>
      text === undefined ? (values[name] ?? '') : name === surface ? text : '',
    );
}
