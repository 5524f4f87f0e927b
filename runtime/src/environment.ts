// The two environments (docs/callers/keys.md).

export type Environment = 'sandbox' | 'production';
