// The form of examples.graphql, which the explorer reads too.

export type Example = {
  surface: 'partner' | 'member';
  /** The root field that it shows, or `error` if it shows one. */
  field: string;
  query: string;
  variables: Readonly<Record<string, unknown>>;
};

/** The examples in order. Each begins with a comment that has its key and its variables. */
export function examplesIn(text: string): Example[] {
  const [, ...parts] = text.split(/^# (?=partner\.|member\.)/m);
  return parts.map((part) => {
    const [head = '', ...query] = part.trim().split('\n');
    const [key = '', ...variables] = head.split(' ');
    const [surface, field = ''] = key.split('.');
    return {
      surface: surface === 'member' ? 'member' : 'partner',
      field,
      query: query.join('\n'),
      variables: JSON.parse(variables.join(' ')),
    };
  });
}
