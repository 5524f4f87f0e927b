// The two environments, and the rule that a store belongs to one of them (docs/api.md, Keys).

export type Environment = 'sandbox' | 'production';

/** Throws if a store belongs to the other environment. `store` is the name that operators know. */
export function refuseForeignStore(store: string, owner: string, environment: Environment): void {
  if (owner !== environment) {
    throw new Error(
      `the ${store} store belongs to the ${owner} environment; it cannot be opened as ${environment}`,
    );
  }
}
